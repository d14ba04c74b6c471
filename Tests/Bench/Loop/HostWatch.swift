import GimbalCore
import Glibc
import Realtime
import Synchronization

/// A thread that only waits, with the period and priority of the daemon's bus thread. If the
/// waiting thread misses a period, the cause is the machine, not the daemon.
final class HostWatch: Sendable {
    private struct State {
        var missed = 0.0
        var isEnding = false
    }

    private final class Shared: Sendable {
        let state = Mutex(State())
    }

    private static let period = 1_000_000
    private let shared = Shared()
    private let thread: RealtimeThread

    /// Starts the thread.
    ///
    /// - Throws: `ThreadError`.
    init() throws {
        let shared = shared
        thread = try RealtimeThread(
            ThreadConfiguration(name: "host-watch", priority: ThreadTable.bus0.priority)
        ) {
            var due = MonotonicClock.now.nanoseconds
            while !shared.state.withLock({ $0.isEnding }) {
                due += Int64(Self.period)
                var deadline = timespec(
                    tv_sec: Int(due / 1_000_000_000), tv_nsec: Int(due % 1_000_000_000))
                while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nil) == EINTR {}
                let late = (MonotonicClock.now.nanoseconds - due) / Int64(Self.period)
                guard late > 0 else { continue }
                due += late * Int64(Self.period)
                shared.state.withLock { $0.missed += Double(late) }
            }
        }
    }

    /// Number of periods that the thread has missed since the previous call.
    func takeMissed() -> Double {
        shared.state.withLock { state in
            defer { state.missed = 0 }
            return state.missed
        }
    }

    /// Ends the thread.
    func stop() {
        shared.state.withLock { $0.isEnding = true }
        _ = thread.join(until: MonotonicClock.now.advanced(bySeconds: 1))
    }
}
