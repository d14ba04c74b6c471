public import GimbalCore
public import Logging
public import ServiceLifecycle
import Synchronization
import SystemPackage
public import Wire

/// The MAVLink component as a service, over UDP and a serial port, on one ordinary thread,
/// `airframed-mav`.
public final class MAVLinkServer: Service {
    /// Stack size of the thread, bytes; the stack is locked into memory.
    private static let stackSize = 512 * 1024

    private let configuration: MAVLinkConfiguration
    private let port: any GimbalPort
    private let logger: Logger
    private let clock: @Sendable () -> Instant
    private let thread: ServiceThread
    private let sockets: Mutex<MAVLinkSockets?>
    private let latest = Mutex(LinkStatus(name: "mavlink"))

    /// Creates a server with open sockets, which serves no peer yet.
    ///
    /// - Parameters:
    ///   - configuration: Identity of the gimbal, and addresses of the peers.
    ///   - port: Port through which the component accesses the gimbal.
    ///   - logger: Log for changes of control.
    ///   - clock: The loop's clock.
    /// - Throws: `SocketError` with the problem.
    public init(
        configuration: MAVLinkConfiguration, port: any GimbalPort, logger: Logger,
        clock: @escaping @Sendable () -> Instant = LinkClock.now
    ) throws {
        self.configuration = configuration
        self.port = port
        self.logger = logger
        self.clock = clock
        thread = try ServiceThread(name: "airframed-mav", stackSize: Self.stackSize)
        sockets = Mutex(try MAVLinkSockets(configuration))
    }

    deinit { sockets.withLock { $0?.close() } }

    /// Report of the peers and of the counters, at most 0.2 s old. Any thread can read this
    /// property.
    public var status: LinkStatus { latest.withLock(\.self) }

    /// Serves the peers until shutdown.
    ///
    /// - Throws: `SocketError` when the thread cannot be started.
    public func run() async throws {
        try await thread.run { self.serve() }
    }

    private func serve() {
        guard let sockets = sockets.withLock({ $0.take() }) else { return }
        let loop = MAVLinkLoop(
            configuration: configuration, sockets: sockets, port: port, wake: thread.wake,
            logger: logger, clock: clock
        ) { status in self.latest.withLock { $0 = status } }
        loop.run()
    }
}

/// The configured sockets.
struct MAVLinkSockets {
    /// Socket on which open peers reach the gimbal.
    var server: DatagramSocket?
    /// Peers that the gimbal contacts first, with their sockets.
    var client: (socket: DatagramSocket, address: DatagramAddress)?

    init(_ configuration: MAVLinkConfiguration) throws(SocketError) {
        server = try configuration.listen.map { address throws(SocketError) in
            do throws(Errno) {
                return try DatagramSocket(address, binds: true)
            } catch {
                throw SocketError(
                    opening: address, error, purpose: "the MAVLink socket",
                    remedy: "Set mavlink.listen to another address or port.")
            }
        }
        client = try configuration.connect.map { address throws(SocketError) in
            do throws(Errno) {
                return (try DatagramSocket(address, binds: false), address)
            } catch {
                throw SocketError(
                    opening: address, error, purpose: "a socket for mavlink.connect",
                    remedy: "Check this address.")
            }
        }
    }

    func close() {
        server?.close()
        client?.socket.close()
    }
}
