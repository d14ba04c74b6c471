internal import CMathShim

/// Check that the mean vertical specific force equals gravity. The mean specific force over a few
/// seconds equals gravity in any motion.
///
/// The check detects errors that the filter cannot correct, because the filter uses only the
/// horizontal velocity. An estimate that is upside down causes no horizontal velocity, and if the
/// estimated attitude tumbles, the velocity averages out. The mean vertical acceleration of a
/// walking person or a car never cancels half of gravity for two seconds; only a fall of a dozen
/// metres could cancel it.
///
/// If the estimate was certain, and the measured gravity changes its direction while the gyroscope
/// measures no rotation, the accelerometer is probably faulty. The check flags the accelerometer as
/// doubtful within 0.4 s. A doubtful accelerometer is not used until its readings agree with the
/// estimate again. If the readings still disagree after `gravityDoubtPatience`, the estimate counts
/// as wrong, and the estimator starts again.
struct GravityWatch: Sendable, BitwiseCopyable {
    /// Smoothed vertical specific force relative to its value at rest: 1 if the estimate is right,
    /// -1 if the estimate is upside down.
    private(set) var share = 1.0
    /// True if the accelerometer counts as doubtful.
    private(set) var isDoubtful = false

    private var time = 0.0
    private var doubtTime = 0.0
    private var sureTime = 0.0
    private var elsewhereTime = 0.0
    /// Specific force divided by gravity, smoothed with the time constant `doubtMemory`; earth
    /// frame, z along gravity.
    private var recent = Vector3(0, 0, 1)

    /// Time constant of `recent`, s.
    private static var doubtMemory: Double { @_noLocks @_noAllocation get { 0.2 } }
    /// Time for which the direction of the measured force must differ from gravity until the
    /// accelerometer is considered doubtful, s. A fast swing of the hand changes the direction of
    /// the measured force for up to 0.3 s.
    private static var doubtSeconds: Double { @_noLocks @_noAllocation get { 0.4 } }
    /// Ratio of the vertical component to the length of the specific force, below which the
    /// direction differs from gravity. The ratio is used only if the length of the specific force
    /// is 0.7 to 1.3 times gravity.
    private static var doubtShare: Double { @_noLocks @_noAllocation get { 0.6 } }
    /// Largest standard deviation of the inclination at which the estimate is certain, rad.
    private static var sureSigma: Double { @_noLocks @_noAllocation get { 0.1 } }
    /// Time for which the standard deviation must be at most `sureSigma` until the estimate is
    /// certain, s.
    private static var sureSeconds: Double { @_noLocks @_noAllocation get { 2 } }

    /// Creates a check without any evidence against the estimate.
    @_noLocks @_noAllocation
    init() {}

    /// Checks the mean specific force of one filter period.
    ///
    /// - Parameters:
    ///   - force: Specific force relative to its value at rest, earth frame: (0, 0, 1) at rest.
    ///   - inclinationSigma: Standard deviation of the estimate's inclination, rad.
    ///   - duration: Length of the period, s.
    ///   - parameters: Threshold and times.
    /// - Returns: True if the estimate is wrong, so that the estimator must start again.
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
            // The deviation must last without interruption. In a wide swing of the hand the
            // deviation lasts only briefly.
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
