/// Converter from a log's time stamps to time steps for the estimator. The conversion tolerates
/// errors in the time stamps.
struct ReplayClock {
    /// Time step from one record to the next record.
    enum Step: Equatable {
        /// The record is later than the previous record.
        case next(seconds: Double)
        /// The record is later than the previous record by more than the longest gap that the
        /// estimator interpolates.
        case gap(seconds: Double)
        /// The record is much earlier, because the clock was set back or restarted. The replay then
        /// assumes a step of one period.
        case restart(seconds: Double)
        /// The record has the time of the previous record, a slightly earlier time, or a time that
        /// is not a number. The replay does not use the record.
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

    /// Creates a clock that has not received a record yet.
    ///
    /// - Parameters:
    ///   - period: Nominal period, s; also the step of the first record.
    ///   - longestGap: Longest gap that the estimator interpolates, s. A step backwards by more
    ///     than this time means a restarted clock.
    init(period: Double, longestGap: Double) {
        self.period = period
        self.longestGap = longestGap
    }

    /// Advances the clock to a record's time, s.
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
