import Dispatch
import Glibc
import Synchronization
import SystemPackage

/// Thread of this program, and its end. A thread of its own, because the work waits for cameras,
/// clocks or sockets, which a pool of threads must not.
final class Worker: Sendable {
    private let mustStop = Mutex(false)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Whether the work must end soon.
    var mustEnd: Bool { mustStop.withLock { $0 } }

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - name: At most 15 bytes, for `top -H`.
    ///   - body: The work; it returns soon after `mustEnd` becomes true.
    func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
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
        // Without memory for a thread the program cannot do anything.
        guard error == 0 else { fatalError("The thread \(name) cannot be started.") }
        pthread_detach(thread)
    }

    /// Names the calling thread. A kernel without /proc leaves it unnamed, which is harmless.
    private static func nameThread(_ name: String) {
        let file = try? FileDescriptor.open("/proc/thread-self/comm", .writeOnly)
        _ = try? file?.closeAfter { try file?.writeAll(name.utf8) }
    }

    /// Ends the thread, and waits for its end.
    func stop() {
        mustStop.withLock { $0 = true }
        hasEnded.wait()
    }
}

/// Body of a thread as an object, for its pointer.
private final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
