import CLinuxShim
import Configuration
public import GimbalCore
import Glibc
public import Logging
public import ServiceLifecycle
import Synchronization
import SystemPackage
public import Wire

/// Link to the remote controls of the wheels, as a service on one ordinary thread,
/// `airframed-rider`. The link receives datagrams on a UDP port, and sends no answers.
public final class RiderServer: Service {
    /// Stack size of the thread, bytes; the stack is locked into memory.
    private static let stackSize = 256 * 1024
    /// Largest number of datagrams that are read in one iteration of the thread.
    private static let datagramsPerTurn = 64
    /// Interval between two updates of the status, s.
    private static let statusSeconds = 0.2

    private let port: any GimbalPort
    private let speeds: @Sendable () -> [String: Int]
    private let key: SharedKey?
    private let freshness: FreshnessFile?
    private let logger: Logger
    private let clock: @Sendable () -> Instant
    private let thread: ServiceThread
    private let socket: Mutex<DatagramSocket?>
    private let latest = Mutex(LinkStatus(name: "rider"))

    /// Creates a server with an open socket, which does not handle datagrams yet.
    ///
    /// - Parameters:
    ///   - address: Local address at which the datagrams arrive.
    ///   - port: Port through which requests reach the wheels.
    ///   - speeds: Function that returns the wheels' present speeds for the status, %, by name.
    ///   - key: The key that every command except a stop needs; nil if no key is needed.
    ///   - freshness: File with the newest counter that was accepted.
    ///   - logger: Log for refusals.
    ///   - clock: The loop's clock.
    /// - Throws: `SocketError` with the problem.
    public init(
        address: DatagramAddress, port: any GimbalPort,
        speeds: @escaping @Sendable () -> [String: Int] = { [:] }, key: SharedKey? = nil,
        freshness: FreshnessFile? = nil, logger: Logger,
        clock: @escaping @Sendable () -> Instant = LinkClock.now
    ) throws {
        self.port = port
        self.speeds = speeds
        self.key = key
        self.freshness = freshness
        self.logger = logger
        self.clock = clock
        thread = try ServiceThread(name: "airframed-rider", stackSize: Self.stackSize)
        do throws(Errno) {
            socket = Mutex(try DatagramSocket(address, binds: true))
        } catch {
            throw SocketError(
                opening: address, error, purpose: "the socket for remote controls",
                remedy: "Set rider.listen to another address or port.")
        }
    }

    deinit { socket.withLock { $0?.close() } }

    /// Counters of the remote control's datagrams, at most 0.2 s old. Any thread can read this
    /// property.
    public var status: LinkStatus { latest.withLock(\.self) }

    /// Receives and executes datagrams until airframed shuts down.
    ///
    /// - Throws: `SocketError` when the thread cannot be started.
    public func run() async throws {
        try await thread.run { self.serve() }
    }

    private func serve() {
        guard let socket = socket.withLock({ $0.take() }) else { return }
        defer { socket.close() }
        var station = RiderStation(
            port: port, key: key, newest: freshness?.value ?? 0,
            admits: { [freshness] in freshness?.admits($0) ?? true }, logger: logger)
        var statusDue = Instant(nanoseconds: .min)
        PollLoop(wake: thread.wake, clock: clock, logger: logger).run { set in
            let now = clock()
            if now >= statusDue {
                statusDue = now.advanced(bySeconds: Self.statusSeconds)
                publish(station)
            }
            set.add(socket.descriptor)
            set.end(by: now.advanced(bySeconds: Self.statusSeconds))
        } turn: { _ in
            let now = clock()
            for _ in 0..<Self.datagramsPerTurn {
                guard let (bytes, from) = socket.receive() else { break }
                station.receive(bytes, from: from, now: now)
            }
            if key != nil { freshness?.note(station.newest) }
        }
    }

    private func publish(_ station: RiderStation) {
        var status = LinkStatus(name: "rider")
        status.peers = station.peers(now: clock())
        let counters = station.counters
        status.counts = [
            "accepted": Int(counters.accepted), "malformed": Int(counters.malformed),
            "refused": Int(counters.refused), "unsigned": Int(counters.unsigned),
            "waiting_for_zero": Int(counters.waitingForZero),
            "waiting_for_disk": Int(counters.waitingForDisk),
        ].merging(speeds()) { $1 }
        latest.withLock { $0 = status }
    }
}
