public import GimbalCore
import Glibc
public import Logging
public import ServiceLifecycle
import Synchronization
import SystemPackage

/// The diagnostics socket as a service: newline-delimited JSON on a UNIX stream socket, see `Wire`.
///
/// Everything happens on one ordinary thread, `airframed-diag`; `run()` waits for it without blocking a thread of
/// Swift's pool, and returns within a few milliseconds of a graceful shutdown or a cancellation.
public final class DiagnosticsServer: Service {
    /// Stack of the thread, locked with everything else. The tests of a debug build pass with 128 KiB and not with 64;
    /// the rest is for the backend, which may parse a configuration here.
    private static let stackSize = 512 * 1024

    fileprivate typealias Completion = @Sendable (Result<Void, any Error>) -> Void

    private let configuration: DiagnosticsConfiguration
    private let backend: any DiagnosticsBackend
    private let logger: Logger
    private let clock: @Sendable () -> Instant
    private let wakeReader: FileDescriptor
    private let wakeWriter: FileDescriptor
    /// The open socket, until the thread takes it.
    private let listener = Mutex<SocketListener?>(nil)

    /// A server that is not open yet.
    ///
    /// - Parameters:
    ///   - configuration: Path, group and limits.
    ///   - backend: What is served.
    ///   - logger: Connections at debug, trouble above.
    ///   - clock: Monotonic; paces subscriptions and stalls. The `t` in messages is the backend's.
    /// - Throws: `Errno` when the process has no descriptors left.
    public init(
        configuration: DiagnosticsConfiguration, backend: any DiagnosticsBackend, logger: Logger,
        clock: @escaping @Sendable () -> Instant = DiagnosticsServer.monotonicNow
    ) throws {
        self.configuration = configuration
        self.backend = backend
        self.logger = logger
        self.clock = clock
        (wakeReader, wakeWriter) = try FileDescriptor.pipe(options: [.closeOnExec, .nonBlocking])
    }

    deinit {
        listener.withLock { $0?.close() }
        try? wakeReader.close()
        try? wakeWriter.close()
    }

    /// Creates the socket, so that a start-up can fail with a sentence before anything runs. Once; `run()` does it
    /// when it has not been done.
    ///
    /// - Throws: What is in the way.
    public func open() throws(DiagnosticsSocketError) {
        let opened = try SocketListener(configuration, logger: logger)
        listener.withLock { $0 = opened }
    }

    /// Serves until shutdown.
    ///
    /// - Throws: `DiagnosticsSocketError` when the socket was not open and cannot be opened, or the thread not be started.
    public func run() async throws {
        if listener.withLock({ $0 == nil }) { try open() }
        try await withTaskCancellationOrGracefulShutdownHandler {
            try await withCheckedThrowingContinuation { continuation in
                start { continuation.resume(with: $0) }
            }
        } onCancelOrGracefulShutdown: {
            self.stop()
        }
    }

    /// Ends the thread soon; harmless when it has ended or never began.
    private func stop() {
        _ = try? wakeWriter.writeAll([1])
    }

    private func start(whenDone: @escaping Completion) {
        let context = Unmanaged.passRetained(ThreadContext(server: self, whenDone: whenDone))
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setstacksize(&attributes, Self.stackSize)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        var thread = pthread_t()
        let error = pthread_create(
            &thread, &attributes,
            { pointer in
                guard let pointer else { return nil }
                let context = Unmanaged<ThreadContext>.fromOpaque(pointer).takeRetainedValue()
                nameThread()
                context.server.serve()
                context.whenDone(.success(()))
                return nil
            }, context.toOpaque())
        guard error == 0 else {
            context.release()
            let reason = "The diagnostics thread cannot be started: \(Errno(rawValue: error))."
            return whenDone(.failure(DiagnosticsSocketError(description: reason)))
        }
    }

    /// The body of the thread.
    private func serve() {
        guard let listener = listener.withLock({ $0.take() }) else { return }
        var loop = DiagnosticsLoop(
            listener: listener, wake: wakeReader, configuration: configuration, backend: backend,
            logger: logger, clock: clock)
        loop.run()
    }

    /// CLOCK_MONOTONIC.
    @Sendable public static func monotonicNow() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

/// Names the calling thread for `ps -L` and `top -H`; a kernel without /proc leaves it unnamed, which harms nothing.
private func nameThread() {
    let file = try? FileDescriptor.open("/proc/thread-self/comm", .writeOnly)
    _ = try? file?.closeAfter { try file?.writeAll("airframed-diag".utf8) }
}

/// What travels into the thread through C's one pointer.
private final class ThreadContext: Sendable {
    let server: DiagnosticsServer
    let whenDone: DiagnosticsServer.Completion

    init(server: DiagnosticsServer, whenDone: @escaping DiagnosticsServer.Completion) {
        self.server = server
        self.whenDone = whenDone
    }
}
