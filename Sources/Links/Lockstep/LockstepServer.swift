import CLinuxShim
import GimbalCore
import Glibc
public import Logging
public import ServiceLifecycle
import Synchronization
import SystemPackage
import Threads

/// The lockstep socket as a service. One simulator at a time can connect to this UNIX stream
/// socket. airframed answers each line of text with one line, see `Wire`. The ordinary thread
/// `airframed-sim` does all work.
public final class LockstepServer: Service {
    /// Stack size of the thread, bytes: the same as for the diagnostics socket, because the thread
    /// runs the loop's tick and a parser.
    private static let stackSize = 512 * 1024

    private let configuration: LockstepConfiguration
    private let backend: any LockstepBackend
    private let logger: Logger
    private let thread: ServiceThread
    private let settling: SettlingHandshake
    /// The open socket, until it is passed to the thread.
    private let listener = Mutex<SocketListener?>(nil)

    /// Creates a server whose socket is not open yet.
    ///
    /// - Parameters:
    ///   - configuration: Path and group of the socket, and timeout for the simulator's messages.
    ///   - backend: Backend that answers each message of the simulator.
    ///   - logger: Log for problems with the socket.
    /// - Throws: `Errno` when the process has no descriptors left.
    public init(
        configuration: LockstepConfiguration, backend: any LockstepBackend, logger: Logger
    ) throws {
        self.configuration = configuration
        self.backend = backend
        self.logger = logger
        thread = try ServiceThread(name: "airframed-sim", stackSize: Self.stackSize)
        settling = try SettlingHandshake()
    }

    deinit { listener.withLock { $0?.close() } }

    /// Creates the socket, so that the process can exit with an error message before any service
    /// runs. Call this method before `run()`, at most once; otherwise `run()` calls it.
    ///
    /// - Throws: `SocketError` with the problem.
    public func open() throws(SocketError) {
        let opened = try SocketListener(configuration.place, logger: logger)
        listener.withLock { $0 = opened }
    }

    /// Serves simulators until shutdown.
    ///
    /// - Throws: `SocketError` when the socket cannot be opened, or the thread cannot be started.
    public func run() async throws {
        if listener.withLock({ $0 == nil }) { try open() }
        try await thread.run { self.serve() }
    }

    /// Waits until all earlier events on the socket (messages, connections and disconnections) have
    /// been handled. If the simulator has sent a message before a client sends a request, the
    /// message takes effect first. Any thread can call this method, which waits at most 1 s.
    public func settle() { settling.settle() }

    /// The body of the thread `airframed-sim`.
    private func serve() {
        guard let listener = listener.withLock({ $0.take() }) else { return }
        var loop = LockstepLoop(
            listener: listener, wake: thread.wake, settling: settling,
            configuration: configuration, backend: backend, logger: logger)
        settling.begin()
        loop.run()
        settling.end()
    }
}

/// Handshake between another thread and the server's thread; each side sends one byte. After the
/// handshake, all earlier events have been handled.
final class SettlingHandshake: Sendable {
    /// `WakeupPipe` with which a waiting thread wakes the server's thread.
    let request: WakeupPipe
    private let answer: WakeupPipe
    /// True if the server's thread is running. A waiting thread holds the lock, so only one thread
    /// waits at a time.
    private let isServed = Mutex(false)

    init() throws {
        request = try WakeupPipe()
        answer = try WakeupPipe()
    }

    /// Records that the server's thread has started.
    func begin() { isServed.withLock { $0 = true } }

    /// Wakes a waiting thread, and records that the server's thread has ended.
    func end() {
        acknowledge()
        isServed.withLock { $0 = false }
    }

    /// Waits for the server's thread, at most a second.
    func settle() {
        isServed.withLock { isServed in
            guard isServed else { return }
            // A late answer to the previous request must not be used as the answer to this request.
            answer.silence()
            request.ring()
            var entry = pollfd(fd: answer.descriptor.rawValue, events: Int16(POLLIN), revents: 0)
            var ready: Int32 = 0
            _ = cl_socket_wait(&entry, 1, 1_000_000_000, &ready)
        }
    }

    /// Reports that the server's thread has handled all events.
    func acknowledge() {
        request.silence()
        answer.ring()
    }
}
