import GimbalCore

/// Lets the first lines of a kind into the log at once, and repetitions at intervals that grow,
/// with how many there were. Whatever has not happened for a minute is new again. Pure: time is an
/// argument.
struct Repetition {
    /// Lines that were withheld.
    struct Withheld: Equatable {
        /// How many.
        let count: Int
        /// Since the last line, s.
        let seconds: Double
    }

    /// Between the first line and the second, s.
    private static let shortest = 1.0
    /// After so long the next one is the first again, s.
    private static let memory = 60.0

    /// Longest time between two lines, s.
    private let longest: Double
    /// Lines that are said at once before intervals count.
    private let first: Int
    private var interval = shortest
    private var saidAtOnce = 0
    private var said: Instant?
    private var lastSeen: Instant?
    private var count = 0

    /// - Parameters:
    ///   - longest: Longest time between two lines, s, at least 1.
    ///   - first: Lines that are said at once before intervals count.
    init(longest: Double, first: Int = 1) {
        self.longest = longest
        self.first = first
    }

    /// It goes on, after `happens`.
    mutating func goesOn(now: Instant) { lastSeen = now }

    /// It happens once more.
    ///
    /// - Returns: Whether a line is due; otherwise it is counted.
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

    /// What has been withheld for long enough; call often, before `happens`.
    mutating func withheld(now: Instant) -> Withheld? {
        guard count > 0, let said else { return nil }
        let seconds = now.seconds(since: said)
        guard seconds >= interval || isForgotten(now) else { return nil }
        defer { count = 0 }
        speak(now)
        return Withheld(count: count, seconds: seconds)
    }

    private mutating func speak(_ now: Instant) {
        interval = min(2 * interval, longest)
        said = now
    }

    private func isForgotten(_ now: Instant) -> Bool {
        lastSeen.map { now.seconds(since: $0) >= Self.memory } ?? false
    }
}
