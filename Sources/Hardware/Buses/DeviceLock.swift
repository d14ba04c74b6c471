internal import Glibc

/// Lock of a bus's device file (flock(2)), for this project's own programs: every airframed holds a
/// shared lock while the file is open. A search for chips that does not know the socket of an
/// airframed can therefore find out whether this airframed uses the bus.
enum DeviceLock {
    /// Locks an open device file until it is closed. Several programs can hold the lock. Without
    /// locks in the kernel, the method has no effect.
    static func hold(_ descriptor: Int32) { flock(descriptor, LOCK_SH | LOCK_NB) }

    /// True if a program holds the lock of the device file.
    static func isHeld(_ path: UnsafePointer<CChar>) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }
}
