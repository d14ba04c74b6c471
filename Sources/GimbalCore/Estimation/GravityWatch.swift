/// Watches whether the vertical part of the specific force is gravity, as it must be over time wherever the sensor goes.
///
/// The filter compares horizontal velocities; an estimate that is upside down has none to correct, and one that tumbles
/// averages them out. Neither walking nor driving takes half of gravity away for two seconds: only a fall of a dozen
/// metres would.
struct GravityWatch: Sendable, BitwiseCopyable {
    /// Vertical specific force, smoothed, over what it is at rest: 1 where all is well, -1 upside down.
    private(set) var share = 1.0
    private var time = 0.0

    /// Nothing has spoken against the estimate.
    @_noLocks @_noAllocation
    init() {}

    /// Takes the mean of one filter period.
    ///
    /// - Parameters:
    ///   - verticalShare: Vertical specific force over what it is at rest.
    ///   - duration: Length of the period, s.
    ///   - parameters: Threshold and times.
    /// - Returns: Whether the estimate is refuted.
    @_noLocks @_noAllocation
    mutating func refutes(
        verticalShare: Double, duration: Double, parameters: AttitudeEstimator.Parameters
    ) -> Bool {
        let gain = duration / (parameters.gravityFilterTime + duration)
        share += (verticalShare - share) * gain
        time = share < parameters.gravityShareThreshold ? time + duration : 0
        return time > parameters.gravityPatience
    }
}
