import CLinuxShim
import Dispatch
import Glibc
import Synchronization

/// Thread of a companion program. Any other thread can request its end. Code that waits for
/// cameras, clocks or sockets has its own thread, because it would block a thread pool. The stack
/// has the system's default size. The small locked stacks of the daemon's threads are not
/// sufficient for GStreamer's plugins and drivers.
public final class CompanionThread: Sendable {
    private let mustStop = Mutex(false)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Creates a thread without starting it.
    public init() {}

    /// True if the thread must end soon.
    public var mustEnd: Bool { mustStop.withLock { $0 } }

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - name: Name of the thread in `top -H`, at most 15 bytes.
    ///   - body: Work of the thread; it must return soon after `mustEnd` becomes true.
    public func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let context = Unmanaged.passRetained(
            Work { [self] in
                _ = cl_thread_set_name(name)
                body()
                hasEnded.signal()
            })
        var thread = pthread_t()
        let error = pthread_create(
            &thread, nil,
            { pointer in
                guard let pointer else { return nil }
                Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().body()
                return nil
            }, context.toOpaque())
        // A failure ends the process, because the program cannot work without this thread.
        guard error == 0 else { fatalError("The thread \(name) cannot be started.") }
        pthread_detach(thread)
    }

    /// Asks the thread to end, and waits until it has ended.
    public func stop() {
        mustStop.withLock { $0 = true }
        hasEnded.wait()
    }
}

/// Object that contains a thread's closure, because pthread_create(3) passes only a C pointer.
private final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
