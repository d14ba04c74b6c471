public import GimbalCore
import Glibc
public import Logging
public import ServiceLifecycle
import Synchronization
import SystemPackage

/// The diagnostics socket as a service: newline-delimited JSON on a UNIX stream socket, see `Wire`.
///
/// The ordinary thread `airframed-diag` does all work except read-only requests; the thread
/// `airframed-ask` answers read-only requests. `run()` waits for both threads without blocking a
/// thread of Swift's pool. After a graceful shutdown or a cancellation, `run` returns within a few
/// milliseconds. If a read-only request is being answered, `run` first waits for the answer.
public final class DiagnosticsServer: Service {
    /// Stack size of each thread, bytes; the stacks are locked into memory. The tests of a debug
    /// build need 64 KiB to 128 KiB of stack; the rest is a reserve.
    private static let stackSize = 512 * 1024
    /// Nice value of the server's thread: the lowest value that the systemd unit permits
    /// (`LimitNICE`). Other threads of the process have the nice value 0.
    private static let niceness: Int32 = -4

    private let configuration: DiagnosticsConfiguration
    private let port: any GimbalPort
    private let services: SocketServices
    private let logger: Logger
    private let clock: @Sendable () -> Instant
    private let thread: ServiceThread
    private let questions: ServiceThread
    private let later: LateReplies
    private let slowRequests: SlowRequestQueue
    /// The open socket, until it is passed to the thread.
    private let listener = Mutex<SocketListener?>(nil)

    /// Creates a server whose socket is not open yet.
    ///
    /// - Parameters:
    ///   - configuration: Path, group and limits.
    ///   - port: Port through which the methods access the gimbal.
    ///   - services: Methods and variables that the daemon offers over the socket.
    ///   - logger: Log for connections (level debug) and problems (higher levels).
    ///   - clock: Monotonic clock for subscriptions and stalled clients; messages give the loop's
    ///     time (`t`).
    /// - Throws: `Errno` when the process has no descriptors left.
    public init(
        configuration: DiagnosticsConfiguration, port: any GimbalPort, services: SocketServices,
        logger: Logger,
        clock: @escaping @Sendable () -> Instant = LinkClock.now
    ) throws {
        self.configuration = configuration
        self.port = port
        self.services = services
        self.logger = logger
        self.clock = clock
        later = try LateReplies()
        slowRequests = try SlowRequestQueue()
        questions = try ServiceThread(name: "airframed-ask", stackSize: Self.stackSize)
        thread = try ServiceThread(name: "airframed-diag", stackSize: Self.stackSize)
    }

    deinit {
        listener.withLock { $0?.close() }
    }

    /// Creates the socket. If the socket cannot be created, the process can exit with an error
    /// message before any service runs. Call this method before `run()`, at most once; otherwise
    /// `run()` calls it.
    ///
    /// - Throws: `SocketError` with the problem.
    public func open() throws(SocketError) {
        let opened = try SocketListener(configuration.place, logger: logger)
        listener.withLock { $0 = opened }
    }

    /// Serves clients until a graceful shutdown or a cancellation.
    ///
    /// - Throws: `SocketError` when the socket cannot be opened, or the thread cannot be started.
    public func run() async throws {
        if listener.withLock({ $0 == nil }) { try open() }
        guard let listener = listener.withLock({ $0.take() }) else { return }
        let handler = RequestHandler(
            port: port, services: services, policy: listener.policy, later: later,
            slowRequests: slowRequests)
        try await withThrowingTaskGroup { group in
            group.addTask { try await self.thread.run { self.serve(listener, handler) } }
            group.addTask {
                try await self.questions.run {
                    self.slowRequests.serve(
                        until: self.questions.wake, handler: handler, later: self.later)
                }
            }
            // When the server's thread or the thread for read-only requests has ended, the other
            // thread must also end.
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// The body of the server's thread.
    private func serve(_ listener: SocketListener, _ handler: RequestHandler) {
        // The nice value applies only to the server's thread; the kernel can refuse it. The nice
        // value gives the server's thread precedence over the thread for read-only requests on the
        // same processor.
        setpriority(Int32(PRIO_PROCESS.rawValue), 0, Self.niceness)
        var loop = DiagnosticsLoop(
            listener: listener, wake: thread.wake, configuration: configuration,
            handler: handler, later: later, slowRequests: slowRequests, logger: logger, clock: clock
        )
        loop.run()
    }
}
