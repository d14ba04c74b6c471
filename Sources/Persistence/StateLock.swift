import Glibc
public import SystemPackage

/// Lock of the state directory. Only one process can hold the lock. Otherwise two processes would
/// overwrite each other's saved states.
///
/// The lock is flock(2) on a separate file, because every save replaces the state file. When the
/// process ends for any reason, the kernel releases the lock.
public final class StateLock: Sendable {
    private let descriptor: Int32

    /// Takes the lock.
    ///
    /// - Parameter directory: Absolute path, `persistence.directory`.
    /// - Returns: The lock. The result is nil if the file system does not support locks, or if the
    ///   directory is missing or not writable. `load` reports a missing directory.
    /// - Throws: `inUse` if another process holds the lock.
    public static func take(_ directory: FilePath) throws(StateProblem) -> StateLock? {
        let path = directory.appending("airframed.lock")
        let file = path.withPlatformString {
            open($0, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o640)
        }
        guard file >= 0 else { return nil }
        if geteuid() == 0 { giveToOwner(of: directory, file) }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            let error = errno
            Glibc.close(file)
            // If the file system does not support locks, airframed continues without a lock.
            guard error == EWOULDBLOCK else { return nil }
            throw StateProblem(action: "locking", path: path, reason: .inUse)
        }
        return StateLock(descriptor: file)
    }

    /// Makes the directory's owner the owner of the lock's file, so that the service can also take
    /// the lock after root has started airframed by hand. A file with a second name can belong to
    /// another directory, and keeps its owner.
    private static func giveToOwner(of directory: FilePath, _ file: Int32) {
        var (folder, lock) = (Glibc.stat(), Glibc.stat())
        guard directory.withPlatformString({ stat($0, &folder) }) == 0, fstat(file, &lock) == 0,
            lock.st_nlink == 1
        else { return }
        _ = fchown(file, folder.st_uid, folder.st_gid)
    }

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { Glibc.close(descriptor) }
}
