import Glibc
import Persistence
import Synchronization
import SystemPackage

/// A disk whose fsync blocks while the gate is shut.
final class GatedDisk: Sendable {
    /// Time at which the gate opens automatically; nil if the gate is open.
    private let opening = Mutex<Deadline?>(nil)
    /// Number of calls of fsync.
    let syncs = Mutex(0)

    var calls: FileCalls {
        var calls = FileCalls.system
        let sync = calls.sync
        calls.sync = { (file) throws(Errno) in
            self.syncs.withLock { $0 += 1 }
            while self.isShut { usleep(500) }
            try sync(file)
        }
        return calls
    }

    private var isShut: Bool { opening.withLock { $0?.hasPassed == false } }

    /// Shuts or opens the gate. A shut gate opens automatically after the given time, s, so that a
    /// test also ends if the tested code waits for the disk.
    func shut(_ isOn: Bool, for seconds: Double = 60) {
        opening.withLock { $0 = isOn ? Deadline(seconds: seconds) : nil }
    }

    /// Waits, for at most ten seconds, until the first write has reached fsync.
    func waitForWrite() throws {
        for _ in 0..<20_000 {
            if syncs.withLock({ $0 }) > 0 { return }
            usleep(500)
        }
        throw Trouble("nothing has been written within 10 s")
    }
}
