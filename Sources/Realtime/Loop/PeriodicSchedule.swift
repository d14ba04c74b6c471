import GimbalCore

/// When a clock-driven thread wakes. Pure: the thread sleeps, this decides until when.
///
/// Deadlines lie on a grid that starts at the first one, so no error adds up. After an overrun the
/// missed deadlines are skipped and counted; a burst of catch-up periods would only delay the
/// present one further.
struct PeriodicSchedule: Sendable, BitwiseCopyable {
    /// Distance of the deadlines, ns.
    let periodNanoseconds: Int64
    /// The next deadline.
    private(set) var next: Instant

    /// The first deadline is one period after `start`.
    init(start: Instant, periodNanoseconds: Int64) {
        precondition(periodNanoseconds > 0, "a period must be positive")
        self.periodNanoseconds = periodNanoseconds
        next = Instant(nanoseconds: start.nanoseconds + periodNanoseconds)
    }

    /// The present period has begun at another instant: the grid goes on from there.
    mutating func restart(at instant: Instant) { next = instant }

    /// Moves to the first deadline after `now`, once the work of the present one is done.
    ///
    /// - Returns: Deadlines that passed while working and are skipped.
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
