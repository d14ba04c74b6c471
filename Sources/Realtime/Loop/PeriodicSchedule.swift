import GimbalCore

/// Wake-up times of a thread with a constant period. The type only computes the times; the thread
/// sleeps.
///
/// Each deadline is a whole number of periods after the first deadline, so errors do not
/// accumulate. After an overrun, the missed deadlines are skipped and counted. A late execution of
/// the missed periods would delay the present period further.
struct PeriodicSchedule: Sendable, BitwiseCopyable {
    /// Interval between deadlines, ns.
    let periodNanoseconds: Int64
    /// The next deadline.
    private(set) var next: Instant

    /// Creates a schedule whose first deadline is one period after `start`.
    init(start: Instant, periodNanoseconds: Int64) {
        precondition(periodNanoseconds > 0, "a period must be positive")
        self.periodNanoseconds = periodNanoseconds
        next = Instant(nanoseconds: start.nanoseconds + periodNanoseconds)
    }

    /// Sets the beginning of the present period to `instant`; later deadlines are whole periods
    /// after `instant`.
    mutating func restart(at instant: Instant) { next = instant }

    /// Advances to the first deadline after `now`; call this method after the work of the present
    /// period.
    ///
    /// - Returns: Number of deadlines that passed during the work and are skipped.
    mutating func advance(now: Instant) -> UInt64 {
        var due = next.nanoseconds &+ periodNanoseconds
        var skipped: Int64 = 0
        if now.nanoseconds >= due {
            skipped = (now.nanoseconds &- due) / periodNanoseconds + 1
            due &+= skipped &* periodNanoseconds
        }
        next = Instant(nanoseconds: due)
        return UInt64(skipped)
    }
}
