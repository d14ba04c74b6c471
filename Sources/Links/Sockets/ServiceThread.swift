import CLinuxShim
import Glibc
import ServiceLifecycle
import SystemPackage
import Threads

/// Thread of a link: an ordinary thread with an explicit stack size. The size is explicit because
/// the stack is locked into memory. A pipe becomes readable when the thread must end.
final class ServiceThread: Sendable {
    typealias Completion = @Sendable (Result<Void, any Error>) -> Void

    /// Descriptor that becomes readable when the thread must end.
    var wake: FileDescriptor { bell.descriptor }
    private let bell: WakeupPipe
    private let name: String
    private let stackSize: Int

    /// - Parameters:
    ///   - name: Name of the thread in `ps -L` and `top -H`, at most 15 bytes.
    ///   - stackSize: Size of the thread's stack, bytes.
    /// - Throws: `Errno` when the process has no descriptors left.
    init(name: String, stackSize: Int) throws {
        self.name = name
        self.stackSize = stackSize
        bell = try WakeupPipe()
    }

    /// Runs `body` on the thread and waits for its end without blocking a thread of Swift's pool. A
    /// graceful shutdown or a cancellation makes `wake` readable.
    ///
    /// - Throws: `SocketError` when the thread cannot be started.
    func run(_ body: @escaping @Sendable () -> Void) async throws {
        try await withTaskCancellationOrGracefulShutdownHandler {
            try await withCheckedThrowingContinuation { continuation in
                start(body) { continuation.resume(with: $0) }
            }
        } onCancelOrGracefulShutdown: {
            // The call has no effect if the thread has ended or was never started.
            self.bell.ring()
        }
    }

    private func start(_ body: @escaping @Sendable () -> Void, whenDone: @escaping Completion) {
        let error = DetachedThread.start(name, stackSize: stackSize) {
            body()
            whenDone(.success(()))
        }
        guard error == 0 else {
            let reason = "The thread \(name) cannot be started: \(Errno(rawValue: error))."
            return whenDone(.failure(SocketError(description: reason)))
        }
    }
}
