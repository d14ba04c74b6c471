import CLinuxShim
import FakeBlueZ
import GimbalCore
import Glibc
import Realtime

extension FakeBlueZ {
    /// D-Bus paths of all characteristics that the daemon has registered.
    var characteristics: [String] {
        objects.filter { $0.contains("/char") && !$0.hasSuffix("/name") }
    }

    /// Runs the fake bluetoothd until the condition is true. The result is false if the condition
    /// does not become true within `seconds`.
    func serve(seconds: Double = 10, until isDone: () -> Bool) -> Bool {
        let deadline = MonotonicClock.now.advanced(bySeconds: seconds)
        while MonotonicClock.now < deadline {
            process()
            if isDone() { return true }
            var entries = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
            var ready: Int32 = 0
            _ = cl_socket_wait(&entries, entries.count, 10_000_000, &ready)
        }
        return false
    }
}
