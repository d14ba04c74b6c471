import Dispatch
import Glibc
import Synchronization
import Threads

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
        let error = DetachedThread.start(name) { [self] in
            body()
            hasEnded.signal()
        }
        // A failure ends the process, because the program cannot work without this thread.
        guard error == 0 else { fatalError("The thread \(name) cannot be started.") }
    }

    /// Waits on this thread for a number of seconds, or until the thread must end.
    public func pause(_ seconds: Double) {
        for _ in 0..<Int(seconds * 20) where !mustEnd { usleep(50_000) }
    }

    /// Asks the thread to end, and waits until it has ended.
    public func stop() {
        mustStop.withLock { $0 = true }
        hasEnded.wait()
    }
}
