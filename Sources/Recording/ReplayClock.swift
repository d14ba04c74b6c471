/// Conversion of the times of a log into steps. Errors in the times are bridged.
struct ReplayClock {
    /// Step from one record to the next.
    enum Step: Equatable {
        /// Later than the previous record.
        case next(seconds: Double)
        /// Later by more than the estimator interpolates.
        case gap(seconds: Double)
        /// Much earlier: the clock was set back or restarted. One period is assumed.
        case restart(seconds: Double)
        /// The same time, slightly earlier, or not a number: time does not advance, and the record
        /// is not used.
        case disordered

        /// Step for the estimator, s; nil if the record is not used.
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

    /// Creates a clock before the first record.
    ///
    /// - Parameters:
    ///   - period: Nominal period, s; also the step of the first record.
    ///   - longestGap: Longest gap that the estimator interpolates, s; a step backwards by more
    ///     than this means a restarted clock.
    init(period: Double, longestGap: Double) {
        self.period = period
        self.longestGap = longestGap
    }

    /// Advances to a record's time, s.
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
