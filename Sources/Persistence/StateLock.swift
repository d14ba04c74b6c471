import Glibc
public import SystemPackage

/// The state directory as one process's own: two that write there would lose each other's saves,
/// each of them acknowledged.
///
/// flock(2) on a file of its own, because the state file is replaced with every save. The kernel
/// takes the lock back when the process ends, however it ends.
public final class StateLock: Sendable {
    private let descriptor: Int32

    /// Takes the lock.
    ///
    /// - Parameter directory: Absolute path, `persistence.directory`.
    /// - Returns: Nil where no lock can be had and nothing can be saved either: no directory, no
    ///   right to write. Reading says so.
    /// - Throws: `inUse`.
    public static func take(_ directory: FilePath) throws(StateProblem) -> StateLock? {
        let path = directory.appending("airframed.lock")
        let file = path.withPlatformString {
            open($0, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o640)
        }
        guard file >= 0 else { return nil }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            let error = errno
            Glibc.close(file)
            // A file system without locks: continue without a lock rather than fail.
            guard error == EWOULDBLOCK else { return nil }
            throw StateProblem(action: "locking", path: path, reason: .inUse)
        }
        return StateLock(descriptor: file)
    }

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { Glibc.close(descriptor) }
}
