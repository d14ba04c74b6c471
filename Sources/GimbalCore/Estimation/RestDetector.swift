/// Detector of rest. During rest, the detector also measures the gyroscope bias.
///
/// At rest, rate and specific force stay near their means. Rate and specific force are also steady
/// during a slow smooth pan, and while the motors hold the camera still. Therefore rest has further
/// conditions: the mean rate must be close to the estimated bias, the specific force must keep its
/// direction, and the joints must be still. In addition, the caller can exclude rest
/// (`isPlausible`).
///
/// Moving joints exclude rest. While the joints move, the detector can still measure the bias from
/// the handle's rate, but the weight of this measurement decreases with the joints' rate. In state
/// `held`, the joints turn because the handle turns, or because a wrong gyroscope bias makes the
/// camera turn slowly. In state `commanded`, the gyroscope's scale error and misalignment add a
/// fraction of the turn to the measurement.
struct RestDetector: Sendable, BitwiseCopyable {
    /// One bias measurement.
    struct Measurement: Sendable, BitwiseCopyable {
        /// Mean of the handle's raw rate, body frame, rad/s: the gyroscope's rate minus that of the
        /// joints.
        var rate: Vector3
        /// Time over which the rate is averaged, s.
        var duration: Double
        /// Variance of the measurement error due to the joints' motion, on each axis, (rad/s)²;
        /// zero at rest, equal on all axes during a commanded turn.
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
    /// The previous measurement, if it has not been used yet.
    private var pending: Measurement?
    private var joints = JointStillness()
    private var source = JointSource.assumed
    private var wasCommanded = false
    /// Time since the first sample after a reset, s, at most the time constant of the means plus
    /// one period.
    private var age = 0.0
    private var evidence = RestEvidence()
    private var varianceBefore = Vector3.zero
    private var supportBefore = 0.0

    /// Increase of the bias variance that the caller must apply, (rad/s)². The value is zero,
    /// unless the last step showed that the bias was not measured at rest.
    private(set) var lostTrust = 0.0
    /// True if the sensor has been still for `restTime`, and the joints do not move.
    private(set) var isAtRest = false

    /// True if the sensor may be at rest: it is still now, or the detector has not received a
    /// sample yet.
    var isCandidate: Bool {
        @_noLocks @_noAllocation get { age == 0 || stillTime > 0 }
    }

    /// Creates a detector that has not received a sample yet.
    @_noLocks @_noAllocation
    init() {}

    /// Fraction of `restTime` that a measurement of the bias needs: the second half of the time,
    /// less the rounding of the samples' times.
    private static var halfRest: Double { @_noLocks @_noAllocation get { 0.499 } }

    /// Updates the detector with the means of one filter period.
    ///
    /// - Parameters:
    ///   - gyro: Mean raw rate of the sensor, body frame, rad/s.
    ///   - smoothGyro: Mean raw rate, smoothed like the mean rate `relative.rate`, body frame,
    ///     rad/s.
    ///   - force: Mean specific force, m/s², handle frame; body frame if the joints are unknown.
    ///   - relative: Motion of the sensor relative to the handle.
    ///   - bias: Estimated gyroscope bias, rad/s.
    ///   - biasVariance: Variances of the estimated bias, (rad/s)².
    ///   - isPlausible: False if the caller has evidence of motion.
    ///   - duration: Length of the period, s.
    ///   - parameters: Thresholds and times.
    /// - Returns: Bias measurement after each half of `restTime`, at rest or while only the joints
    ///   move; otherwise nil. A measurement in which a motion begins has an error. If the bias is
    ///   already known to `convergedBiasSigma`, each measurement is therefore returned one half
    ///   later, and discarded if the rest ends before.
    @_noLocks @_noAllocation
    mutating func step(
        gyro: Vector3, smoothGyro: Vector3, force: Vector3, relative: RelativeMotion,
        bias: Vector3, biasVariance: Vector3, isPlausible: Bool, duration: Double,
        parameters: AttitudeEstimator.Parameters
    ) -> Measurement? {
        let isCommanded = relative.drive.isCommanded
        // A measurement must not contain motions with different errors.
        if isCommanded != wasCommanded { restart() }
        wasCommanded = isCommanded
        let isNewFrame = relative.source.differs(from: source)
        source = relative.source
        if isNewFrame { reset() }
        if joints.step(relativeRate: relative.rate, duration: duration, parameters: parameters) {
            restart()
        }
        // While the joints move, both rates must have the same delay: otherwise a fast turn of the
        // camera would look like a motion of the handle.
        let rate = (joints.areMoving ? smoothGyro : gyro) - relative.rate
        // A mean of fewer samples is their average, so that a jolt at the start is soon forgotten.
        age = min(age, parameters.restFilterTime) + duration
        let gain = duration / age
        slowRate += (rate - slowRate) * gain
        slowForce += (force - slowForce) * gain
        let isStill = isQuiet(
            rate: (rate - slowRate).squaredNorm, force: (force - slowForce).squaredNorm, gain: gain,
            parameters: parameters)
        lostTrust = 0
        guard isStill, isPlausible, let share = jointShare(relative.drive, parameters) else {
            restart()
            evidence.restartWatch()
            return nil
        }
        let isNear = isNear(
            slowRate - bias, variance: biasVariance,
            jointSigma: isCommanded ? relative.rate.norm * share : 0,
            parameters: parameters)
        guard
            evidence.isLevel(
                force: slowForce, variance: forceSquare * gain / (2 - gain), duration: duration,
                parameters: parameters)
        else {
            if isNear { refute(biasVariance, parameters) }
            restart()
            return nil
        }
        guard isNear else {
            restart()
            let sigma = evidence.overrules(
                rate: slowRate, duration: duration, parameters: parameters)
            if let sigma { lostTrust = sigma * sigma }
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
        jointTurn += relative.rate * duration
        sumTime += duration
        isAtRest = stillTime > parameters.restTime && !joints.areMoving
        guard stillTime > parameters.restTime, sumTime >= Self.halfRest * parameters.restTime else {
            return nil
        }
        let newest = finish(jointShare: share, isCommanded: isCommanded)
        let known = parameters.convergedBiasSigma * parameters.convergedBiasSigma
        let isKnown = biasVariance.largest < known
        let usable = isKnown ? pending : newest
        pending = isKnown ? newest : nil
        if isAtRest, let usable { evidence.confirm(usable.duration) }
        return usable
    }

    /// Standard deviation of the handle rate's error, as a fraction of the joints' rate; zero at
    /// rest, nil if the bias cannot be measured. In state `held`, the value is 1 / `restGate`.
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

    /// Ends one measurement. During a commanded turn, the misalignment of the gyroscope's axes
    /// changes the rates about all axes.
    @_noLocks @_noAllocation
    private mutating func finish(jointShare: Double, isCommanded: Bool) -> Measurement {
        let sigma = jointTurn * (jointShare / sumTime)
        let square = sigma.squaredNorm
        let variance =
            isCommanded ? Vector3(square, square, square) : sigma.scaled(by: sigma)
        let measurement = Measurement(
            rate: sum / sumTime, duration: sumTime, jointVariance: variance)
        sum = .zero
        jointTurn = .zero
        sumTime = 0
        return measurement
    }

    /// Reduces the confidence in the bias. The direction of gravity has changed while the sensor
    /// seemed to be at rest, so the sensor rotates. A bias from a short rest may be the rate of
    /// this slow rotation, so it counts as unknown again. If the bias is known from longer rests,
    /// only the last rest is disregarded.
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

    /// Square of the ratio of a single sample's limit to the mean's limit: noise reaches three
    /// standard deviations, a motion more.
    private static var peakSquare: Double { @_noLocks @_noAllocation get { 9 } }

    /// True if the RMS deviations of rate and specific force from their means are below their
    /// thresholds, and the present deviations are below three times the thresholds. A single noisy
    /// sample may exceed the threshold, but a motion must not disappear in the average.
    @_noLocks @_noAllocation
    private mutating func isQuiet(
        rate: Double, force: Double, gain: Double, parameters: AttitudeEstimator.Parameters
    ) -> Bool {
        rateSquare += (rate - rateSquare) * gain
        forceSquare += (force - forceSquare) * gain
        let limitRate = parameters.restRateThreshold * parameters.restRateThreshold
        let limitForce = parameters.restForceThreshold * parameters.restForceThreshold
        return rateSquare < limitRate && forceSquare < limitForce
            && rate < Self.peakSquare * limitRate && force < Self.peakSquare * limitForce
    }

    /// Resets the time at rest and the current bias measurement.
    @_noLocks @_noAllocation
    mutating func restart() {
        stillTime = 0
        sum = .zero
        jointTurn = .zero
        sumTime = 0
        pending = nil
        isAtRest = false
    }

    /// Resets the detector, because the next samples are unrelated to the previous samples. The
    /// evidence from earlier rests is not discarded.
    @_noLocks @_noAllocation
    mutating func reset() {
        let (known, last) = (evidence, source)
        self = RestDetector()
        (evidence, source) = (known, last)
        evidence.restartWatch()
    }

    /// Fraction of `restGateFloor` while the joints move; it covers the noise of `slowRate`.
    private static var movingShare: Double { @_noLocks @_noAllocation get { 0.2 } }

    /// True if the rate agrees with the estimated bias. The margin is `restGateFloor` while the
    /// joints are still. While the joints move, the margin is a fifth of `restGateFloor`, which
    /// covers the noise of `slowRate`. The standard deviation `jointSigma` of a commanded turn is
    /// added in quadrature.
    @_noLocks @_noAllocation
    private func isNear(
        _ difference: Vector3, variance: Vector3, jointSigma: Double,
        parameters: AttitudeEstimator.Parameters
    ) -> Bool {
        let gate = parameters.restGate * parameters.restGate
        let floorSigma = parameters.restGateFloor * (joints.areMoving ? Self.movingShare : 1)
        let floor = floorSigma * floorSigma
        let square = difference.scaled(by: difference)
        let added = floor + jointSigma * jointSigma
        return square.x < gate * (variance.x + added)
            && square.y < gate * (variance.y + added)
            && square.z < gate * (variance.z + added)
    }
}
