/// Detector of gaps between ticks, and of gaps between the ticks with new samples. The camera's
/// motion during a gap is not a response to the motors' commands. If the loop's thread is late, the
/// motors keep an old output. If only the bus thread is late, the loop computes outputs that no
/// motor receives.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct GapWatch: Sendable, BitwiseCopyable {
    /// True if the last tick ended a gap.
    private(set) var isGap = false

    private var ticks = UsualInterval()
    private var samples = UsualInterval()
    /// Time since the last tick with a new sample, s.
    private var sinceSample = 0.0

    @_noLocks
    init() {}

    /// Compares the intervals that end with this tick with their means.
    ///
    /// - Parameters:
    ///   - hasSample: True if the tick has a new sample.
    ///   - dt: Seconds since the previous tick.
    /// - Returns: True if the tick ends a gap.
    @_noLocks @discardableResult
    mutating func step(hasSample: Bool, dt: Double) -> Bool {
        isGap = ticks.isExceeded(by: dt)
        sinceSample += dt
        if hasSample {
            if samples.isExceeded(by: sinceSample) { isGap = true }
            sinceSample = 0
        }
        return isGap
    }
}

/// Running mean of an interval, with the threshold above which an interval is a gap.
private struct UsualInterval: Sendable, BitwiseCopyable {
    private var mean = 0.0

    /// Weight of a new interval in the running mean, equivalent to a time constant of twenty
    /// intervals.
    private static var newShare: Double { @_noLocks get { 0.05 } }
    /// Threshold of a gap, as a multiple of the mean interval.
    private static var intervals: Double { @_noLocks get { 4 } }
    /// Minimum of the gap's threshold, s: two periods of the slowest loop.
    private static var shortest: Double { @_noLocks get { 0.01 } }
    /// Maximum of the gap's threshold, s: the longest conflict that `GyroWitness` tolerates.
    private static var longest: Double { @_noLocks get { 0.03 } }

    @_noLocks
    init() {}

    /// Includes one interval, s, in the mean. An outage counts as `longest`, so that it hides no
    /// later gap.
    ///
    /// - Returns: True if the interval is a gap.
    @_noLocks
    mutating func isExceeded(by interval: Double) -> Bool {
        let bounded = min(interval, Self.longest)
        mean = mean == 0 ? bounded : mean + (bounded - mean) * Self.newShare
        return interval > min(max(Self.intervals * mean, Self.shortest), Self.longest)
    }
}
