import Glibc
import Persistence
import Synchronization
import SystemPackage

/// A disk whose fsync blocks while the gate is shut.
final class GatedDisk: Sendable {
    private let isShut = Mutex(false)
    /// Number of calls of fsync.
    let syncs = Mutex(0)

    var calls: FileCalls {
        var calls = FileCalls.system
        let sync = calls.sync
        calls.sync = { (file) throws(Errno) in
            self.syncs.withLock { $0 += 1 }
            while self.isShut.withLock({ $0 }) { usleep(500) }
            try sync(file)
        }
        return calls
    }

    func shut(_ isOn: Bool) { isShut.withLock { $0 = isOn } }

    /// Waits, for at most ten seconds, until the first write has reached fsync.
    func waitForWrite() throws {
        for _ in 0..<20_000 {
            if syncs.withLock({ $0 }) > 0 { return }
            usleep(500)
        }
        throw Trouble("nothing has been written within 10 s")
    }
}
