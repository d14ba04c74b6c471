/// Decides whether the sensor stands still, and measures the gyroscope bias while it does.
///
/// Still means that rate and specific force stay near their own means. That alone also describes a
/// slow smooth pan, and a camera whose motors null the gyroscope; therefore the mean rate must lie
/// where the bias is believed to be, the specific force must be as quiet as the rate and not turn,
/// the joints must stand still as well, and the caller can say that rest is not plausible.
///
/// While the joints move, or are told to, it is no rest. What the carrier's rate says then is not
/// certain, and it counts for as little as the joints are fast: they turn because the carrier does
/// or because a wrong bias makes the camera creep (`held`), or the gyroscope's scale error adds a
/// share of the turn (`commanded`).
struct RestDetector: Sendable, BitwiseCopyable {
    /// One bias measurement.
    struct Measurement: Sendable, BitwiseCopyable {
        /// Mean of the raw rate, body frame, rad/s.
        var rate: Vector3
        /// What it is the mean of, s.
        var duration: Double
        /// What it may be wrong by because the joints moved meanwhile, variance of each axis,
        /// (rad/s)²; zero at rest.
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

    /// Variance to give back to the bias, (rad/s)²: the last step showed that what taught it was no
    /// rest.
    private(set) var lostTrust = 0.0
    /// Whether the sensor has been still for `restTime`.
    private(set) var isAtRest = false

    /// Whether it may turn out to be rest: still at present, or not judged yet.
    var isCandidate: Bool {
        @_noLocks @_noAllocation get { !isSeeded || stillTime > 0 }
    }

    /// A detector that has seen nothing.
    @_noLocks @_noAllocation
    init() {}

    /// Takes the means of one filter period.
    ///
    /// - Parameters:
    ///   - rate: Mean raw rate of what carries the sensor, body frame, rad/s.
    ///   - relativeRate: Rate of the sensor against it, body frame, rad/s.
    ///   - force: Mean specific force, body frame, m/s².
    ///   - bias: Believed gyroscope bias, rad/s.
    ///   - biasVariance: Its variances, (rad/s)².
    ///   - isPlausible: False where the caller knows of motion.
    ///   - jointDrive: What moves the sensor against what carries it.
    ///   - duration: Length of the period, s.
    ///   - parameters: Thresholds and times.
    /// - Returns: A bias measurement each half `restTime` while at rest, or while only the joints
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

    /// The share of the joints' rate that the carrier's rate may be wrong by, one sigma: zero at
    /// rest, nil where nothing is to be learned. Held, all of it lies within `restGate` sigma.
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

    /// Ends one measurement. Only rest supports the bias that it teaches.
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

    /// Gravity turned while the bias says "rest". A bias that little rest has taught was taught by
    /// this turn: it is unknown again. A known one only loses what the last rest has added.
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

    /// Whether the deviations from the means are small in the root mean square, and none stands
    /// out: a noisy sensor at a low rate may exceed the threshold now and then, a motion must not
    /// hide behind the average.
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

    /// Forgets the stillness seen so far.
    @_noLocks @_noAllocation
    mutating func restart() {
        stillTime = 0
        sum = .zero
        jointTurn = .zero
        sumTime = 0
        isAtRest = false
    }

    /// Forgets everything, for samples that have nothing to do with those before.
    @_noLocks @_noAllocation
    mutating func reset() {
        let known = evidence
        self = RestDetector()
        evidence = known
        evidence.restartWatch()
    }

    /// Whether the rate lies where the bias is believed to be: with a margin at rest, while the
    /// joints move with no more than the noise of `slowRate` and the error of a commanded turn,
    /// `jointRate`, ask for.
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
