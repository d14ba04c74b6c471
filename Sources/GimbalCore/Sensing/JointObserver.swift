/// Where the joints are, from the best source there is at the moment.
///
/// Loop thread only; constant time.
struct JointObserver: Sendable, BitwiseCopyable {
    /// Where `motion` comes from.
    private(set) var source = JointSource.assumed
    /// Angles and rates of the joints.
    private(set) var motion = JointMotion()

    @_noLocks
    init() {}

    /// Whether `motion` shows the joints, instead of assuming an upright handle.
    var isKnown: Bool {
        @_noLocks get { if case .assumed = source { false } else { true } }
    }

    /// Whether encoders show the joints.
    var isMeasured: Bool {
        @_noLocks get { if case .encoders = source { true } else { false } }
    }

    /// The camera's rate against the handle, camera frame, rad/s; zero where nobody knows it.
    var relativeRate: Vector3 {
        @_noLocks get {
            guard isKnown else { return .zero }
            return JointKinematics(joints: motion.angles).relativeRate(jointRates: motion.rates)
        }
    }

    /// Takes what one tick knows.
    ///
    /// - Parameters:
    ///   - sample: The newest sample, if any.
    ///   - modelled: Where the motors' own model believes the joints to be, rad; nil where they have none.
    ///   - modelSource: What that model rests on.
    ///   - attitude: Estimated camera attitude, body to earth.
    ///   - dt: Seconds since the previous call, not negative.
    @_noLocks
    mutating func update(
        sample: IMUSample?, modelled: AxisVector?, modelSource: JointSource,
        attitude: Quaternion, dt: Double
    ) {
        let previous = source
        if let sample, sample.contents.contains(.joints) {
            use(sample.joints, from: .encoders, after: previous, dt: dt)
        } else if let modelled {
            use(modelled, from: modelSource, after: previous, dt: dt)
        } else {
            let angles = EulerZXY.angles(attitude)
            let upright = AxisVector(yaw: 0, roll: angles.roll, pitch: angles.pitch)
            use(upright, from: .assumed, after: previous, dt: dt)
        }
    }

    @_noLocks
    private mutating func use(
        _ angles: AxisVector, from new: JointSource, after previous: JointSource, dt: Double
    ) {
        if new.differs(from: previous) { motion.reset() }
        source = new
        motion.update(angles, dt: dt)
    }
}
