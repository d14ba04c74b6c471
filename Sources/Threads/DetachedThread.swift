import CLinuxShim
import Glibc

/// Ordinary thread that ends when its work returns. Nothing waits for a detached thread.
public enum DetachedThread {
    /// Starts a thread.
    ///
    /// - Parameters:
    ///   - name: Name of the thread in `ps -L` and `top -H`, at most 15 bytes.
    ///   - stackSize: Size of the thread's stack, bytes; nil means the system's default size.
    ///   - body: Work of the thread.
    /// - Returns: 0, or the errno if the thread cannot be created.
    public static func start(
        _ name: String, stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void
    ) -> Int32 {
        let work = Unmanaged.passRetained(Work(name: name, body: body))
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        var thread = pthread_t()
        let error = pthread_create(
            &thread, &attributes,
            { pointer in
                guard let pointer else { return nil }
                let work = Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue()
                _ = cl_thread_set_name(work.name)
                work.body()
                return nil
            }, work.toOpaque())
        if error != 0 { work.release() }
        return error
    }
}

/// Object that contains a thread's closure, because pthread_create(3) passes only a C pointer.
private final class Work: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}
