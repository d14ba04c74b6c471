internal import CMathShim

/// Watches whether the vertical part of the specific force is gravity, as it must be over time
/// wherever the sensor goes.
///
/// The filter compares horizontal velocities; an estimate that is upside down has none to correct,
/// and one that tumbles averages them out. Neither walking nor driving takes half of gravity away
/// for two seconds: only a fall of a dozen metres would.
///
/// Gravity that jumps elsewhere while the gyroscope shows no turn is a fault of the accelerometer,
/// as long as the estimate was sure: within two fifths of a second the watch doubts it. An
/// accelerometer in doubt is not used, until it comes back or `gravityDoubtPatience` has passed;
/// then the estimate is refuted after all.
struct GravityWatch: Sendable, BitwiseCopyable {
    /// Vertical specific force, smoothed, over what it is at rest: 1 where all is well, -1 upside
    /// down.
    private(set) var share = 1.0
    /// Whether the accelerometer is in doubt.
    private(set) var isDoubtful = false

    private var time = 0.0
    private var doubtTime = 0.0
    private var sureTime = 0.0
    private var elsewhereTime = 0.0
    /// Specific force over gravity, smoothed over `doubtMemory`, earth frame, z along gravity.
    private var recent = Vector3(0, 0, 1)

    /// Time constant of `recent`, s.
    private static var doubtMemory: Double { @_noLocks @_noAllocation get { 0.2 } }
    /// For how long gravity must be elsewhere, s: a hand that swings fast takes it away for up to
    /// 0.3 s.
    private static var doubtSeconds: Double { @_noLocks @_noAllocation get { 0.4 } }
    /// Doubt begins where the vertical part of the force is below this share of it, though its
    /// length is gravity's.
    private static var doubtShare: Double { @_noLocks @_noAllocation get { 0.6 } }
    /// The estimate is sure where its inclination's standard deviation has been below this, rad,
    /// for so long, s.
    private static var sureSigma: Double { @_noLocks @_noAllocation get { 0.1 } }
    private static var sureSeconds: Double { @_noLocks @_noAllocation get { 2 } }

    /// Nothing has spoken against the estimate.
    @_noLocks @_noAllocation
    init() {}

    /// Takes the mean of one filter period.
    ///
    /// - Parameters:
    ///   - force: Specific force over what it is at rest, earth frame: (0, 0, 1) at rest.
    ///   - inclinationSigma: Standard deviation of the estimate's inclination, rad.
    ///   - duration: Length of the period, s.
    ///   - parameters: Threshold and times.
    /// - Returns: Whether the estimate is refuted.
    @_noLocks @_noAllocation
    mutating func refutes(
        force: Vector3, inclinationSigma: Double, duration: Double,
        parameters: AttitudeEstimator.Parameters
    ) -> Bool {
        recent += (force - recent) * (duration / (Self.doubtMemory + duration))
        let length = recent.norm
        sureTime = inclinationSigma < Self.sureSigma ? sureTime + duration : 0
        if isDoubtful {
            isDoubtful = recent.z < 0.8 * length && length > 0.4
        } else {
            // Without a break: a hand that swings far is elsewhere for moments only.
            let size = force.norm
            let isElsewhere = force.z < Self.doubtShare * size && size > 0.7 && size < 1.3
            elsewhereTime = isElsewhere ? elsewhereTime + duration : 0
            isDoubtful = elsewhereTime > Self.doubtSeconds && sureTime > Self.sureSeconds
            if isDoubtful { elsewhereTime = 0 }
        }
        doubtTime = isDoubtful ? doubtTime + duration : 0
        if isDoubtful {
            share = 1
            time = 0
            return doubtTime > parameters.gravityDoubtPatience
        }
        let gain = duration / (parameters.gravityFilterTime + duration)
        share += (force.z - share) * gain
        time = share < parameters.gravityShareThreshold ? time + duration : 0
        return time > parameters.gravityPatience
    }
}
