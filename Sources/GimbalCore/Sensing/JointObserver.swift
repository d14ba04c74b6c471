/// Where the joints are, from the best source there is at the moment.
///
/// Loop thread only; constant time.
struct JointObserver: Sendable, BitwiseCopyable {
    /// Where `motion` comes from.
    private(set) var source = JointSource.assumed
    /// Angles and rates of the joints.
    private(set) var motion = JointMotion()

    /// Rate of the handle as a second IMU measures it, handle frame, rad/s; nil = none fitted.
    private(set) var handleRate: Vector3?

    private var handle = HandleIMU()
    /// The camera's rate, its frame, rad/s, as smooth as `motion.rates`.
    private var cameraRate = Vector3.zero

    @_noLocks
    init() {}

    /// True where `motion` shows the joints well enough to limit and to follow them. A second
    /// gyroscope does not: its angles rest on an upright handle, and its yaw drifts.
    var isKnown: Bool {
        @_noLocks @inline(__always) get {
            switch source {
            case .assumed, .handleIMU: false
            case .encoders, .servoCommand, .fieldAngle: true
            }
        }
    }

    /// True where a handle at rest can be told from a camera that is held still in a moving hand:
    /// the joints are known, or a second IMU sees the handle rest.
    var tellsRest: Bool {
        @_noLocks @inline(__always) get {
            if case .handleIMU = source { handle.isStill } else { isKnown }
        }
    }

    /// Whether encoders show the joints.
    var isMeasured: Bool {
        @_noLocks @inline(__always) get { if case .encoders = source { true } else { false } }
    }

    /// Camera's rate against the handle, camera frame, rad/s; zero where it is not known. A second
    /// gyroscope cannot say it for this purpose: its offset would become the camera's.
    var relativeRate: Vector3 {
        @_noLocks @inline(__always) get {
            guard isKnown else { return .zero }
            return motion.kinematics.relativeRate(jointRates: motion.rates)
        }
    }

    /// The handle's rate, camera frame, rad/s, 0.1 s late. Both of its parts are equally late:
    /// whatever follows the handle by this would otherwise follow the camera's own shaking too, and
    /// undo the controller's damping.
    var carryingRate: Vector3 { @_noLocks @inline(__always) get { cameraRate - relativeRate } }

    /// Takes what one tick knows.
    ///
    /// - Parameters:
    ///   - sample: The newest sample, if any.
    ///   - modelled: Where the motors' own model believes the joints to be, rad; nil where they
    ///     have none.
    ///   - modelSource: What that model rests on.
    ///   - attitude: Estimated camera attitude, body to earth.
    ///   - rate: Camera rate without bias, body frame, rad/s.
    ///   - isAtRest: Whether the estimator sees rest.
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
