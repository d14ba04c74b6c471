/// Counts of the records that a replay could not use, and of the gaps and clock errors in the log.
public struct ReplayReport: Sendable, Equatable {
    /// Number of records in the log.
    public var records = 0
    /// Number of records that were not used because a value was not a number, or larger than any
    /// sensor can measure.
    public var unusableSamples = 0
    /// Number of records that were skipped because their time was not later than the previous
    /// record's time.
    public var disorderedTimes = 0
    /// Number of backward jumps of the log's clock; the replay assumes a step of one period at each
    /// jump.
    public var clockRestarts = 0
    /// Number of gaps after which the estimator re-initialised the inclination from the
    /// accelerometer.
    public var gaps = 0
    /// Number of restarts because the measured gravity contradicted the estimate, for example after
    /// the sensor was exchanged or turned. The estimator restarted after each contradiction.
    public var gravityMismatches = 0

    /// Creates a report whose counts are zero.
    public init() {}

    mutating func count(_ step: ReplayClock.Step) {
        switch step {
        case .next: break
        case .gap: gaps += 1
        case .restart: clockRestarts += 1
        case .disordered: disorderedTimes += 1
        }
    }

    /// One sentence for each problem; empty for a log without problems.
    public var remarks: [String] {
        var remarks: [String] = []
        func add(_ count: Int, _ what: String) {
            if count > 0 { remarks.append("\(what): \(count)") }
        }
        add(
            unusableSamples,
            "records skipped: a value is not a number, or is beyond the range of every sensor")
        add(
            disorderedTimes,
            "records skipped: the timestamp is not later than the previous record's timestamp")
        add(
            clockRestarts,
            "backward steps of the log's clock, each replaced by a step of one period")
        add(
            gaps,
            "gaps too long for interpolation; after each gap the estimator took the inclination from the accelerometer"
        )
        add(
            gravityMismatches,
            "restarts of the estimator, because gravity contradicted the estimate")
        return remarks
    }
}
