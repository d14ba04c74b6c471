internal import Glibc

/// Lock of a bus's device file (flock(2)), for this project's own programs: every airframed holds a
/// shared lock while the file is open. A search for chips that does not know the socket of an
/// airframed can therefore find out whether this airframed uses the file. A sensor with a driver in
/// the kernel does not lock its bus.
enum DeviceLock {
    /// Locks an open device file until it is closed. Several programs can hold the lock. If another
    /// program prevents the lock, the device is used without it.
    static func hold(_ descriptor: Int32) {
        // `isHeld` prevents the lock for some microseconds.
        for _ in 0..<10 {
            guard flock(descriptor, LOCK_SH | LOCK_NB) != 0 else { return }
            usleep(1000)
        }
    }

    /// True if a program holds the lock of the device file.
    static func isHeld(_ path: UnsafePointer<CChar>) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }
}
