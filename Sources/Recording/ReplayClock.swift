/// Turns the times of a log into steps, and bridges what is wrong with them.
struct ReplayClock {
    /// From one record to the next.
    enum Step: Equatable {
        /// Later than the one before.
        case next(seconds: Double)
        /// Later by more than the estimator interpolates.
        case gap(seconds: Double)
        /// Much earlier: the clock was set, or started anew. One period is assumed.
        case restart(seconds: Double)
        /// The same time again, a little earlier, or no number: no time has passed, the record is
        /// not used.
        case disordered

        /// What the estimator is told; nil: the record is not used.
        var seconds: Double? {
            switch self {
            case .next(let seconds), .gap(let seconds), .restart(let seconds): seconds
            case .disordered: nil
            }
        }
    }

    private let period: Double
    private let longestGap: Double
    private var last: Double?

    /// A clock that has seen no record.
    ///
    /// - Parameters:
    ///   - period: The nominal one, s: the first record's step.
    ///   - longestGap: What the estimator interpolates, s; backwards by more than this is another
    ///     clock.
    init(period: Double, longestGap: Double) {
        self.period = period
        self.longestGap = longestGap
    }

    /// Moves on to a record's time, s.
    mutating func step(to time: Double) -> Step {
        guard time.isFinite else { return .disordered }
        guard let previous = last else {
            last = time
            return .next(seconds: period)
        }
        let difference = time - previous
        if difference <= 0, difference >= -longestGap { return .disordered }
        last = time
        if difference < 0 { return .restart(seconds: period) }
        return difference > max(longestGap, 1.5 * period)
            ? .gap(seconds: difference) : .next(seconds: difference)
    }
}
