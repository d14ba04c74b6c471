import GimbalCore

/// Limiter of repeated log lines about one event. The first lines about an event are logged
/// immediately. Further lines are logged at growing intervals, with the number of suppressed lines.
/// After a minute without an occurrence, the limiter returns to its initial state. The type reads
/// no clock; callers pass the time as an argument.
struct Repetition {
    /// Log lines that were suppressed.
    struct SuppressedLines: Equatable {
        /// Number of suppressed lines.
        let count: Int
        /// Time since the last logged line, s.
        let seconds: Double
    }

    /// Interval between the first line and the second line, s.
    private static let shortest = 1.0
    /// Time without an occurrence after which the limiter returns to its initial state, s.
    private static let memory = 60.0

    /// Longest interval between two lines, s.
    private let longest: Double
    /// Number of lines that are logged without a minimum interval.
    private let first: Int
    private var interval = shortest
    private var saidAtOnce = 0
    private var said: Instant?
    private var lastSeen: Instant?
    private var count = 0

    /// Creates a limiter.
    ///
    /// - Parameters:
    ///   - longest: Longest interval between two lines, s, at least 1.
    ///   - first: Number of lines that are logged without a minimum interval.
    init(longest: Double, first: Int = 1) {
        self.longest = longest
        self.first = first
    }

    /// Records that the event is still active, without counting a new occurrence.
    mutating func goesOn(now: Instant) { lastSeen = now }

    /// Records another occurrence of the event.
    ///
    /// - Returns: True if a line must be logged now; otherwise the occurrence is counted as
    ///   withheld.
    mutating func happens(now: Instant) -> Bool {
        if isForgotten(now) {
            interval = Self.shortest
            saidAtOnce = 0
        }
        lastSeen = now
        if saidAtOnce < first {
            saidAtOnce += 1
            said = now
            return true
        }
        guard let said, now.seconds(since: said) < interval else {
            speak(now)
            return true
        }
        count += 1
        return false
    }

    /// Number of suppressed log lines, if it is time to report the number; otherwise nil. Call this
    /// method in every round, before `happens`.
    mutating func withheld(now: Instant) -> SuppressedLines? {
        guard count > 0, let said else { return nil }
        let seconds = now.seconds(since: said)
        guard seconds >= interval || isForgotten(now) else { return nil }
        defer { count = 0 }
        speak(now)
        return SuppressedLines(count: count, seconds: seconds)
    }

    private mutating func speak(_ now: Instant) {
        interval = min(2 * interval, longest)
        said = now
    }

    private func isForgotten(_ now: Instant) -> Bool {
        lastSeen.map { now.seconds(since: $0) >= Self.memory } ?? false
    }
}
