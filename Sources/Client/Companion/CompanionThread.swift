import Dispatch
import Glibc
import Synchronization
import SystemPackage

/// Thread of a companion program that another thread can end. Work that waits for cameras, clocks
/// or sockets has its own thread, because such waits would block a pool of threads. The stack has
/// the system's usual size, because GStreamer's plugins and drivers need more than the small locked
/// stacks of the daemon's threads.
public final class CompanionThread: Sendable {
    private let mustStop = Mutex(false)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Creates a thread that has not started.
    public init() {}

    /// True if the thread must end its work soon.
    public var mustEnd: Bool { mustStop.withLock { $0 } }

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - name: Name of the thread in `top -H`, at most 15 bytes.
    ///   - body: Work of the thread; it must return soon after `mustEnd` becomes true.
    public func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let context = Unmanaged.passRetained(
            Work { [self] in
                Self.nameThread(name)
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
        // The program cannot work without this thread, so a failure ends the process.
        guard error == 0 else { fatalError("The thread \(name) cannot be started.") }
        pthread_detach(thread)
    }

    /// Names the calling thread. If /proc is missing, the thread keeps the name of the thread that
    /// created it; a missing /proc has no other effect.
    private static func nameThread(_ name: String) {
        let file = try? FileDescriptor.open("/proc/thread-self/comm", .writeOnly)
        _ = try? file?.closeAfter { try file?.writeAll(name.utf8) }
    }

    /// Tells the thread to end, and waits for its end.
    public func stop() {
        mustStop.withLock { $0 = true }
        hasEnded.wait()
    }
}

/// Class that holds the closure of a thread, because pthread_create(3) passes a C pointer to an
/// object.
private final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
