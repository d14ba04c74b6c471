/// Joint angles from the best source that is currently available.
///
/// Loop thread only; constant time.
struct JointObserver: Sendable, BitwiseCopyable {
    /// The source of `motion`.
    private(set) var source = JointSource.assumed
    /// Angles and rates of the joints.
    private(set) var motion = JointMotion()

    /// Rate of the handle from a second IMU, handle frame, rad/s; nil without a second IMU.
    private(set) var handleRate: Vector3?

    private var handle = HandleIMU()
    /// The camera's rate, camera frame, rad/s, with the same smoothing as `motion.rates`.
    private var cameraRate = Vector3.zero

    @_noLocks
    init() {}

    /// Whether `motion` is good enough to limit and to follow the joints. Angles from a second
    /// gyroscope are not good enough: they assume an upright handle, and their yaw drifts.
    var isKnown: Bool {
        @_noLocks @inline(__always) get {
            switch source {
            case .assumed, .handleIMU: false
            case .encoders, .servoCommand, .fieldAngle: true
            }
        }
    }

    /// Whether the joints make it possible to distinguish a handle at rest from a camera that the
    /// motors hold still in a moving hand: the joint angles are known, or a second IMU shows that
    /// the handle is at rest.
    var tellsRest: Bool {
        @_noLocks @inline(__always) get {
            if case .handleIMU = source { handle.isStill } else { isKnown }
        }
    }

    /// Whether encoders measure the joints.
    var isMeasured: Bool {
        @_noLocks @inline(__always) get { if case .encoders = source { true } else { false } }
    }

    /// The camera's rate relative to the handle, camera frame, rad/s; zero if unknown. A second
    /// gyroscope is not used, because its offset would be taken for the offset of the camera's
    /// gyroscope.
    var relativeRate: Vector3 {
        @_noLocks @inline(__always) get {
            guard isKnown else { return .zero }
            return motion.kinematics.relativeRate(jointRates: motion.rates)
        }
    }

    /// The handle's rate, camera frame, rad/s, with a delay of 0.1 s: the camera's rate minus the
    /// joints' rates, both with the same delay. With different delays the camera's own shaking
    /// would appear in the result. A mode that follows the handle would then cancel the
    /// controller's damping.
    var carryingRate: Vector3 { @_noLocks @inline(__always) get { cameraRate - relativeRate } }

    /// Updates the joint angles and rates from all sources.
    ///
    /// - Parameters:
    ///   - sample: The newest sample, if any.
    ///   - modelled: Joint angles in the motors' own model, rad; nil without a model.
    ///   - modelSource: The basis of that model.
    ///   - attitude: Estimated camera attitude, body to earth.
    ///   - rate: Camera rate without bias, body frame, rad/s.
    ///   - isAtRest: Whether the estimator detects rest.
    ///   - dt: Seconds since the previous call, not negative.
    @_noLocks
    mutating func update(
        sample: IMUSample?, modelled: AxisVector?, modelSource: JointSource,
        attitude: Quaternion, rate: Vector3, isAtRest: Bool, dt: Double
    ) {
        let previous = source
        cameraRate = cameraRate + (rate - cameraRate) * (dt / (JointMotion.smoothing + dt))
        func upright() -> AxisVector {
            let angles = EulerZXY.angles(attitude)
            return AxisVector(yaw: 0, roll: angles.roll, pitch: angles.pitch)
        }
        if let sample, sample.contents.contains(.baseGyro), sample.baseGyro.isFinite {
            handle.update(
                measured: sample.baseGyro, cameraRate: rate, upright: upright(),
                isAtRest: isAtRest, dt: dt)
            handleRate = handle.rate
        } else {
            handleRate = nil
        }
        if let sample, sample.contents.contains(.joints) {
            use(sample.joints, from: .encoders, after: previous, dt: dt)
        } else if let modelled {
            use(modelled, from: modelSource, after: previous, dt: dt)
        } else if case .some = handleRate {
            use(handle.joints, from: .handleIMU, after: previous, dt: dt)
        } else {
            use(upright(), from: .assumed, after: previous, dt: dt)
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
