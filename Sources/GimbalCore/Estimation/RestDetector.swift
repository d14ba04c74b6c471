/// Detector of rest, which also measures the gyroscope bias during rest.
///
/// At rest, rate and specific force stay near their own means. A slow smooth pan also satisfies
/// this, and so does a camera whose motors keep the gyroscope's rate at zero. Therefore more is
/// required: the mean rate must be close to the estimated bias, the specific force must be as quiet
/// as the rate and keep its direction, the joints must be still, and the caller can state that rest
/// is not plausible.
///
/// Joints that move or are commanded to move exclude rest. In this case the detector measures the
/// bias from the carrier's rate, with a weight that decreases with the speed of the joints. In
/// state `held` the joints turn because the carrier turns, or because a wrong bias makes the camera
/// turn slowly. In state `commanded` the gyroscope's scale error adds a fraction of the turn to the
/// measurement.
struct RestDetector: Sendable, BitwiseCopyable {
    /// One bias measurement.
    struct Measurement: Sendable, BitwiseCopyable {
        /// Mean of the raw rate, body frame, rad/s.
        var rate: Vector3
        /// Duration of the mean, s.
        var duration: Double
        /// Variance of the error on each axis that the joints' motion causes, (rad/s)²; zero at
        /// rest.
        var jointVariance: Vector3
    }

    private var slowRate: Vector3 = .zero
    private var slowForce: Vector3 = .zero
    private var rateSquare = 0.0
    private var forceSquare = 0.0
    private(set) var stillTime = 0.0
    private var sum: Vector3 = .zero
    private var sumTime = 0.0
    private var jointTurn: Vector3 = .zero
    private var joints = JointStillness()
    private var isSeeded = false
    private var evidence = RestEvidence()
    private var varianceBefore = Vector3.zero
    private var supportBefore = 0.0

    /// Variance to add to the bias estimate, (rad/s)², because the last step showed that the
    /// estimate was not learned at rest.
    private(set) var lostTrust = 0.0
    /// Whether the sensor has been still for `restTime`.
    private(set) var isAtRest = false

    /// Whether rest is possible: the sensor is still at present, or has not been checked yet.
    var isCandidate: Bool {
        @_noLocks @_noAllocation get { !isSeeded || stillTime > 0 }
    }

    /// Creates a detector that has not received a sample yet.
    @_noLocks @_noAllocation
    init() {}

    /// Processes the means of one filter period.
    ///
    /// - Parameters:
    ///   - rate: Mean raw rate of the sensor's carrier, body frame, rad/s.
    ///   - relativeRate: Rate of the sensor relative to the carrier, body frame, rad/s.
    ///   - force: Mean specific force, body frame, m/s².
    ///   - bias: Estimated gyroscope bias, rad/s.
    ///   - biasVariance: Variances of that bias, (rad/s)².
    ///   - isPlausible: False if the caller has evidence of motion.
    ///   - jointDrive: Cause of the sensor's motion relative to the carrier.
    ///   - duration: Length of the period, s.
    ///   - parameters: Thresholds and times.
    /// - Returns: A bias measurement in each half `restTime`, at rest or while only the joints
    ///   move.
    @_noLocks @_noAllocation
    mutating func step(
        rate: Vector3, relativeRate: Vector3, force: Vector3, bias: Vector3,
        biasVariance: Vector3, isPlausible: Bool, jointDrive: JointDrive,
        duration: Double,
        parameters: AttitudeEstimator.Parameters
    ) -> Measurement? {
        if !isSeeded {
            slowRate = rate
            slowForce = force
            isSeeded = true
        }
        let gain = duration / (parameters.restFilterTime + duration)
        slowRate += (rate - slowRate) * gain
        slowForce += (force - slowForce) * gain
        let isStill = isQuiet(
            rate: (rate - slowRate).squaredNorm, force: (force - slowForce).squaredNorm, gain: gain,
            parameters: parameters)
        lostTrust = 0
        if joints.step(relativeRate: relativeRate, duration: duration, parameters: parameters) {
            restart()
        }
        guard isStill, isPlausible, let share = jointShare(jointDrive, parameters) else {
            restart()
            evidence.restartWatch()
            return nil
        }
        let isNear = isNear(
            slowRate - bias, variance: biasVariance,
            jointRate: jointDrive.isCommanded ? relativeRate * share : .zero, parameters: parameters
        )
        guard
            evidence.isLevel(
                force: slowForce, variance: forceSquare * gain / (2 - gain),
                relativeRate: relativeRate, duration: duration,
                parameters: parameters)
        else {
            if isNear { refute(biasVariance, parameters) }
            restart()
            return nil
        }
        guard isNear else {
            restart()
            if evidence.overrules(rate: slowRate, duration: duration, parameters: parameters) {
                lostTrust = parameters.initialBiasSigma * parameters.initialBiasSigma
            }
            return nil
        }
        guard evidence.isProven else { return nil }
        if stillTime == 0 {
            varianceBefore = biasVariance
            supportBefore = evidence.support
        }
        stillTime += duration
        guard stillTime > 0.5 * parameters.restTime else { return nil }
        sum += rate * duration
        jointTurn += relativeRate * duration
        sumTime += duration
        isAtRest = stillTime > parameters.restTime && !joints.areMoving
        guard stillTime > parameters.restTime, sumTime >= 0.499 * parameters.restTime else {
            return nil
        }
        return finish(jointShare: share)
    }

    /// Standard deviation of the error of the carrier's rate, as a fraction of the joints' rate:
    /// zero at rest, nil if nothing can be learned. With `held`, the whole rate of the joints is
    /// within `restGate` standard deviations.
    @_noLocks @_noAllocation
    private func jointShare(
        _ drive: JointDrive, _ parameters: AttitudeEstimator.Parameters
    ) -> Double? {
        switch drive {
        case .unknown: joints.areMoving ? nil : 0
        case .held: joints.areMoving ? 1 / parameters.restGate : 0
        case .commanded: joints.areMoving ? parameters.turnErrorShare : nil
        }
    }

    /// Ends one measurement. Only a measurement at rest increases the support for the bias (see
    /// `RestEvidence`).
    @_noLocks @_noAllocation
    private mutating func finish(jointShare: Double) -> Measurement {
        let sigma = jointTurn * (jointShare / sumTime)
        let measurement = Measurement(
            rate: sum / sumTime, duration: sumTime, jointVariance: sigma.scaled(by: sigma))
        sum = .zero
        jointTurn = .zero
        sumTime = 0
        if isAtRest { evidence.confirm(measurement.duration) }
        return measurement
    }

    /// Handles a change of gravity's direction while the sensor seems to be at rest. If the bias
    /// was learned in a short rest, the bias resulted from this rotation and counts as unknown
    /// again. If the bias was known from longer rests, only the last rest is no longer counted as
    /// support for the bias.
    @_noLocks @_noAllocation
    private mutating func refute(
        _ variance: Vector3, _ parameters: AttitudeEstimator.Parameters
    ) {
        if evidence.support < parameters.restTrustTime {
            let initial = parameters.initialBiasSigma * parameters.initialBiasSigma
            lostTrust = evidence.support > 0 ? initial : 0
            evidence.withdraw(to: 0)
        } else if stillTime > parameters.restTime {
            let lost = varianceBefore - variance
            lostTrust = max(0, max(lost.x, max(lost.y, lost.z)))
            evidence.withdraw(to: supportBefore)
        }
    }

    /// Whether the deviations from the means are small in the root mean square, and none is
    /// exceptional. A noisy sensor at a low rate can exceed the threshold now and then, but the
    /// average must not hide a motion.
    @_noLocks @_noAllocation
    private mutating func isQuiet(
        rate: Double, force: Double, gain: Double, parameters: AttitudeEstimator.Parameters
    ) -> Bool {
        rateSquare += (rate - rateSquare) * gain
        forceSquare += (force - forceSquare) * gain
        let limitRate = parameters.restRateThreshold * parameters.restRateThreshold
        let limitForce = parameters.restForceThreshold * parameters.restForceThreshold
        return rateSquare < limitRate && forceSquare < limitForce
            && rate < 9 * limitRate && force < 9 * limitForce
    }

    /// Forgets the stillness observed so far.
    @_noLocks @_noAllocation
    mutating func restart() {
        stillTime = 0
        sum = .zero
        jointTurn = .zero
        sumTime = 0
        isAtRest = false
    }

    /// Clears the whole state, because the next samples are unrelated to the previous ones.
    @_noLocks @_noAllocation
    mutating func reset() {
        let known = evidence
        self = RestDetector()
        evidence = known
        evidence.restartWatch()
    }

    /// Whether the rate agrees with the estimated bias. At rest the comparison has a margin. During
    /// motion of the joints it allows only for the noise of `slowRate` and for the error of a
    /// commanded turn, `jointRate`.
    @_noLocks @_noAllocation
    private func isNear(
        _ difference: Vector3, variance: Vector3, jointRate: Vector3,
        parameters: AttitudeEstimator.Parameters
    ) -> Bool {
        let gate = parameters.restGate * parameters.restGate
        let floorSigma = parameters.restGateFloor * (joints.areMoving ? 0.2 : 1)
        let floor = floorSigma * floorSigma
        let square = difference.scaled(by: difference)
        let joint = jointRate.scaled(by: jointRate)
        return square.x < gate * (variance.x + floor + joint.x)
            && square.y < gate * (variance.y + floor + joint.y)
            && square.z < gate * (variance.z + floor + joint.z)
    }
}
