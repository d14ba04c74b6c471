import GimbalCore

/// Lets the first line of a kind into the log at once, and repetitions at intervals that grow, with how many there were.
/// Whatever has not happened for a minute is new again. Pure: time is an argument.
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
    let longest: Double
    private var interval = shortest
    private var said: Instant?
    private var lastSeen: Instant?
    private var count = 0

    /// - Parameter longest: Longest time between two lines, s, at least 1.
    init(longest: Double) { self.longest = longest }

    /// It goes on, after `happens`.
    mutating func goesOn(now: Instant) { lastSeen = now }

    /// It happens once more.
    ///
    /// - Returns: Whether a line is due; otherwise it is counted.
    mutating func happens(now: Instant) -> Bool {
        if isForgotten(now) {
            interval = Self.shortest
            said = nil
        }
        lastSeen = now
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
        if said != nil { interval = min(2 * interval, longest) }
        said = now
    }

    private func isForgotten(_ now: Instant) -> Bool {
        lastSeen.map { now.seconds(since: $0) >= Self.memory } ?? false
    }
}
