internal import GimbalCore
internal import Glibc
internal import Realtime

/// Clock that wakes a thread at equal intervals. The clock skips deadlines that have already
/// passed.
struct GridClock {
    private let periodNanoseconds: Int64
    private var next: Int64

    /// Creates a clock; the first deadline is one period from now.
    init(periodNanoseconds: Int64) {
        self.periodNanoseconds = periodNanoseconds
        next = MonotonicClock.now.nanoseconds + periodNanoseconds
    }

    /// Sleeps until the next deadline, which is the given number of periods after the previous
    /// deadline.
    mutating func wait(periods: Int64 = 1) {
        next += (periods - 1) * periodNanoseconds
        var time = timespec(tv_sec: Int(next / 1_000_000_000), tv_nsec: Int(next % 1_000_000_000))
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
        let late = MonotonicClock.now.nanoseconds - next
        next += periodNanoseconds * (1 + max(late, 0) / periodNanoseconds)
    }
}
