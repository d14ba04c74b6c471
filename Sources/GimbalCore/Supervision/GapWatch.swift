/// Detector of gaps between ticks. The camera's motion during a gap is not a response to the
/// motors.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct GapWatch: Sendable, BitwiseCopyable {
    private var usualPeriod = 0.0

    /// Weight of a new period in the running mean, equivalent to a time constant of twenty periods.
    private static var newShare: Double { @_noLocks get { 0.05 } }
    /// Threshold of a gap, as a multiple of the mean period.
    private static var periods: Double { @_noLocks get { 4 } }
    /// Minimum of the gap's threshold, s: two periods of the slowest loop.
    private static var shortest: Double { @_noLocks get { 0.01 } }
    /// Maximum of the gap's threshold, s: the longest conflict that `GyroWitness` tolerates.
    private static var longest: Double { @_noLocks get { 0.03 } }

    @_noLocks
    init() {}

    /// Compares one period with the mean period.
    ///
    /// - Parameter dt: Seconds since the previous period.
    /// - Returns: True if the period was a gap.
    @_noLocks
    mutating func step(dt: Double) -> Bool {
        usualPeriod = usualPeriod == 0 ? dt : usualPeriod + (dt - usualPeriod) * Self.newShare
        return dt > min(max(Self.periods * usualPeriod, Self.shortest), Self.longest)
    }
}
