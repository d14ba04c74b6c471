/// What a replay could not use, or had to bridge.
public struct ReplayReport: Sendable, Equatable {
    /// Records of the log.
    public var records = 0
    /// Records that were not used because a value was not a number, or beyond any sensor's range.
    public var unusableSamples = 0
    /// Records that were not used because their time was not later than the one before.
    public var disorderedTimes = 0
    /// How often the log's clock was set back; one period is assumed there.
    public var clockRestarts = 0
    /// How often so much time is missing that the inclination started from the accelerometer again.
    public var gaps = 0
    /// How often gravity was somewhere else than the estimate said, which then started again: a
    /// sensor was swapped or turned.
    public var gravityMismatches = 0

    /// Nothing seen.
    public init() {}

    mutating func count(_ step: ReplayClock.Step) {
        switch step {
        case .next: break
        case .gap: gaps += 1
        case .restart: clockRestarts += 1
        case .disordered: disorderedTimes += 1
        }
    }

    /// One sentence for each thing that was not in order; empty for a good log.
    public var remarks: [String] {
        var remarks: [String] = []
        func add(_ count: Int, _ what: String) {
            if count > 0 { remarks.append("\(what): \(count)") }
        }
        add(
            unusableSamples,
            "records not used: a value is not a number or is beyond any sensor's range")
        add(disorderedTimes, "records not used: their time is not later than the one before")
        add(clockRestarts, "the log's clock was set back: one period assumed")
        add(gaps, "gaps too long to bridge: the inclination started from the accelerometer again")
        add(gravityMismatches, "gravity contradicted the estimate, which started again")
        return remarks
    }
}
