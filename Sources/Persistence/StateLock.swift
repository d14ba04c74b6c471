import Glibc
public import SystemPackage

/// Lock of the state directory for one process. If two processes wrote there, each would overwrite
/// states that the other has saved.
///
/// flock(2) on a separate file, because the state file is replaced with every save. The kernel
/// releases the lock when the process ends in any way.
public final class StateLock: Sendable {
    private let descriptor: Int32

    /// Takes the lock.
    ///
    /// - Parameter directory: Absolute path, `persistence.directory`.
    /// - Returns: Nil if neither a lock nor a save is possible, because the directory does not
    ///   exist or cannot be written. `load` reports that problem.
    /// - Throws: `inUse` if another process has the lock.
    public static func take(_ directory: FilePath) throws(StateProblem) -> StateLock? {
        let path = directory.appending("airframed.lock")
        let file = path.withPlatformString {
            open($0, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o640)
        }
        guard file >= 0 else { return nil }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            let error = errno
            Glibc.close(file)
            // The file system has no locks: continue without a lock, rather than fail.
            guard error == EWOULDBLOCK else { return nil }
            throw StateProblem(action: "locking", path: path, reason: .inUse)
        }
        return StateLock(descriptor: file)
    }

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { Glibc.close(descriptor) }
}
