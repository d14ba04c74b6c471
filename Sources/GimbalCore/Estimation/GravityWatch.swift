internal import CMathShim

/// Check of the mean vertical specific force. During any motion, the mean specific force over a few
/// seconds equals gravity.
///
/// The check detects errors that the filter cannot correct, because the filter uses only the
/// horizontal velocity. An upside-down estimate causes no horizontal velocity; if the estimated
/// attitude tumbles, the velocity averages out. In the hand of a walking person or in a car, the
/// mean vertical acceleration never cancels half of gravity for two seconds. Only a fall of a dozen
/// metres could cancel half of gravity for two seconds.
///
/// The accelerometer is probably faulty if measured gravity changes its direction, but the
/// gyroscope measures no rotation and the estimate was certain. The check flags the accelerometer
/// as doubtful after 0.4 s. A doubtful accelerometer is not used until its readings agree with the
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
    /// Duration of a deviating force direction after which the accelerometer counts as doubtful, s.
    /// A fast swing of the hand changes the direction of the measured force for up to 0.3 s.
    private static var doubtSeconds: Double { @_noLocks @_noAllocation get { 0.4 } }
    /// Threshold for a deviating direction: ratio of the specific force's vertical component to its
    /// magnitude. The ratio is used only if the magnitude is 0.7 to 1.3 times gravity.
    private static var doubtShare: Double { @_noLocks @_noAllocation get { 0.6 } }
    /// Largest standard deviation of the inclination at which the estimate is certain, rad.
    private static var sureSigma: Double { @_noLocks @_noAllocation get { 0.1 } }
    /// Time below `sureSigma` after which the estimate is certain, s.
    private static var sureSeconds: Double { @_noLocks @_noAllocation get { 2 } }

    /// Creates a check that has not found a contradiction yet.
    @_noLocks @_noAllocation
    init() {}

    /// Vertical share of the mean specific force above which a doubt ends. It exceeds `doubtShare`,
    /// so the doubt does not alternate.
    private static var endShare: Double { @_noLocks @_noAllocation get { 0.8 } }
    /// Smallest mean specific force with a direction, as a fraction of gravity.
    private static var leastMean: Double { @_noLocks @_noAllocation get { 0.4 } }
    /// Range of the specific force, as a fraction of gravity, in which the force shows the
    /// direction of gravity, and not an acceleration.
    private static var gravities: (least: Double, most: Double) {
        @_noLocks @_noAllocation get { (0.7, 1.3) }
    }

    /// Checks the mean specific force of one filter period.
    ///
    /// - Parameters:
    ///   - force: Specific force relative to its value at rest, earth frame: (0, 0, 1) at rest.
    ///   - inclinationSigma: Standard deviation of the estimate's inclination, rad.
    ///   - duration: Length of the period, s.
    ///   - parameters: Threshold and times.
    /// - Returns: True if the estimate is wrong and the estimator must restart.
    @_noLocks @_noAllocation
    mutating func refutes(
        force: Vector3, inclinationSigma: Double, duration: Double,
        parameters: AttitudeEstimator.Parameters
    ) -> Bool {
        recent += (force - recent) * (duration / (Self.doubtMemory + duration))
        let length = recent.norm
        sureTime = inclinationSigma < Self.sureSigma ? sureTime + duration : 0
        if isDoubtful {
            isDoubtful = recent.z < Self.endShare * length && length > Self.leastMean
        } else {
            // The deviation of the direction must be uninterrupted. A wide swing of the hand causes
            // only short deviations.
            let size = force.norm
            let isElsewhere =
                force.z < Self.doubtShare * size && size > Self.gravities.least
                && size < Self.gravities.most
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
