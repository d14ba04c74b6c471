/// Joint angles and rates from the best source that is currently available.
///
/// Runs on the loop thread only, in constant time.
struct JointObserver: Sendable, BitwiseCopyable {
    /// The source of `motion`.
    private(set) var source = JointSource.assumed
    /// Angles and rates of the joints.
    private(set) var motion = JointMotion()

    /// Rate of the handle from a second IMU, handle frame, rad/s; nil without a second IMU.
    private(set) var handleRate: Vector3?

    private var handle = HandleIMU()
    /// Time since the newest angles from encoders, s, while they are the source.
    private var missing = 0.0
    /// Time without angles after which the encoders are no longer the source, s.
    private static var longestGap: Double { @_noLocks get { 0.02 } }
    /// Largest bias of the handle's gyroscope that is learned while the motors hold the camera and
    /// nothing measures the joints, rad/s: only this gyroscope then shows a pan of the handle.
    private static var largestUnseenBias: Double { @_noLocks get { 0.05 } }
    /// True while the motors are on and the angles of the failed encoders are held.
    private var isHeld = false
    /// The camera's rate, camera frame, rad/s, with the same smoothing as `motion.rates`.
    private var cameraRate = Vector3.zero

    @_noLocks
    init() {}

    /// True if `motion` is accurate enough for joint limits and for modes that follow the handle.
    /// Angles from a second gyroscope are not accurate enough, because they assume an upright
    /// handle and their yaw drifts.
    var isKnown: Bool {
        @_noLocks @inline(always) get {
            switch source {
            case .assumed, .handleIMU: false
            case .encoders, .servoCommand, .fieldAngle: true
            }
        }
    }

    /// True if rest can be detected while the motors are on: the joint angles are known, or a
    /// second IMU measures that the handle is at rest. The camera's gyroscope alone is not
    /// sufficient, because motors can hold the camera still in a moving hand.
    var tellsRest: Bool {
        @_noLocks @inline(always) get {
            if case .handleIMU = source { handle.isStill } else { isKnown }
        }
    }

    /// True if the angles come from encoders.
    var isMeasured: Bool {
        @_noLocks @inline(always) get { if case .encoders = source { true } else { false } }
    }

    /// The camera's rate relative to the handle, camera frame, rad/s; zero if unknown. The angles
    /// from a second gyroscope are not used, because that gyroscope's bias would appear as a bias
    /// of the camera's gyroscope.
    var relativeRate: Vector3 {
        @_noLocks @inline(always) get { isKnown ? motion.relativeRate : .zero }
    }

    /// Motion of the camera relative to the handle for the estimator.
    ///
    /// - Parameter drive: Cause of the motion.
    /// - Returns: The motion; zero angles and rate if they are unknown.
    @_noLocks @inline(always)
    func relativeMotion(drive: JointDrive) -> RelativeMotion {
        RelativeMotion(
            joints: isKnown ? motion.angles : .zero, rate: relativeRate, source: source,
            drive: drive)
    }

    /// The handle's rate, camera frame, rad/s: the camera's rate minus the joints' rates, both
    /// smoothed with a time constant of 0.1 s. With different smoothing of the two rates, the
    /// camera's own oscillation would appear in the result. A mode that follows the handle would
    /// then cancel the controller's damping.
    var carryingRate: Vector3 { @_noLocks @inline(always) get { cameraRate - relativeRate } }

    /// Joint angles at a start of the motors, rad. Without a measured angle of yaw, the yaw of a
    /// servo is the last yaw of its model, because a servo without pulses keeps its angle. The
    /// integral of the gyroscopes' rates would drift. Other motors turn freely while they are off.
    @_noLocks
    func atStart(_ type: MotorType, _ last: MotorState) -> AxisVector {
        var angles = motion.angles
        guard case .servo = type, let modelled = last.modelledJoints else { return angles }
        switch source {
        case .assumed, .handleIMU: angles.yaw = modelled.yaw
        default: break
        }
        return angles
    }

    /// Updates the joint angles and rates from all sources.
    ///
    /// - Parameters:
    ///   - sample: The newest sample; nil if no sample has arrived.
    ///   - range: Range of the joints if their encoders measure angles within one turn; nil if the
    ///     angles are used as measured.
    ///   - modelled: Joint angles from a model of the motors, rad, valid while the motors are on;
    ///     nil without a model.
    ///   - isEnabled: True if the motors are on.
    ///   - modelSource: Kind of model, reported as the source of the modelled angles.
    ///   - attitude: Estimated camera attitude, body to earth.
    ///   - isAttitudeKnown: True if the estimate has converged. While the motors are off and the
    ///     attitude is unknown, the integral of the gyroscopes' rates is not a joint angle.
    ///   - rate: Camera rate without bias, body frame, rad/s.
    ///   - isAtRest: True if the estimator detects rest.
    ///   - largestBias: Largest bias of the handle's gyroscope about each axis, rad/s.
    ///   - dt: Seconds since the previous call, not negative.
    @_noLocks
    mutating func update(
        sample: IMUSample?, range: JointRange?, modelled: AxisVector?, isEnabled: Bool,
        modelSource: JointSource, attitude: Quaternion, isAttitudeKnown: Bool, rate: Vector3,
        isAtRest: Bool, largestBias: Double, dt: Double
    ) {
        let previous = source
        cameraRate = cameraRate + (rate - cameraRate) * (dt / (JointMotion.smoothing + dt))
        func upright() -> AxisVector {
            let angles = EulerZXY.angles(attitude)
            return AxisVector(yaw: 0, roll: angles.roll, pitch: angles.pitch)
        }
        if !isEnabled, !isAttitudeKnown { handle.forgetJoints() }
        if let sample, sample.contents.contains(.baseGyro), HandleIMU.isPlausible(sample.baseGyro) {
            handle.update(
                measured: sample.baseGyro, cameraRate: rate, upright: upright(),
                isAtRest: isAtRest,
                largestBias: isEnabled && !isKnown
                    ? min(largestBias, Self.largestUnseenBias) : largestBias, dt: dt)
            handleRate = handle.rate
        } else {
            handleRate = nil
        }
        if let sample, sample.contents.contains(.joints) {
            missing = 0
            var angles = sample.joints
            if let range { angles = range.angles(of: angles) }
            use(angles, from: .encoders, after: previous, dt: dt)
        } else if case .encoders = previous, missing + dt < Self.longestGap {
            // A sample without angles is not yet a failure of the encoders.
            missing += dt
            use(motion.angles, from: .encoders, after: previous, dt: dt)
        } else if isEnabled, let modelled {
            use(modelled, from: modelSource, after: previous, dt: dt)
        } else if case .some = handleRate {
            use(handle.joints, from: .handleIMU, after: previous, dt: dt)
        } else {
            // While the motors stop after a failure of the encoders, the handle has hardly turned.
            // If it is not upright, the angles of an upright handle would exchange the axes.
            isHeld = isEnabled && (isHeld || isMeasured)
            use(isHeld ? motion.angles : upright(), from: .assumed, after: previous, dt: dt)
        }
    }

    @_noLocks
    private mutating func use(
        _ angles: AxisVector, from new: JointSource, after previous: JointSource, dt: Double
    ) {
        if new.differs(from: previous) { motion.reset() }
        source = new
        if case .handleIMU = new {} else { handle.align(angles) }
        motion.update(angles, dt: dt)
    }
}
