/// Friction compensation of all three joints, see `FrictionCompensator`.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct JointFrictions: Sendable, BitwiseCopyable {
    /// Tuning of the friction compensation of all joints. A lower limit applies at once, also to
    /// joints at rest, which do not learn.
    var parameters = FrictionCompensator.Parameters() {
        didSet {
            let limit = parameters.limit
            if limit < oldValue.limit { joints.change { friction, _ in friction.bound(limit) } }
        }
    }

    private var joints = PerAxis(FrictionCompensator())

    /// Creates joints with unknown friction.
    init() {}

    /// Learned friction of each joint, N·m.
    var sizes: AxisVector { @_noLocks get { joints.map { $0.size } } }

    /// Learned friction of each joint, N·m; zero while the compensation is switched off.
    var inUse: AxisVector {
        @_noLocks @inline(always) get { parameters.learningRate > 0 ? sizes : .zero }
    }

    /// Friction torques of the joints' present motion, computed from the learned friction, N·m.
    var explained: AxisVector { @_noLocks get { joints.map { $0.explained } } }

    /// The torques that overcome the friction, N·m, computed from measured joint angles, rad.
    /// `deviation` is the error of the camera's angle about each joint's axis (actual angle minus
    /// set-point), rad.
    @_noLocks @_noAllocation
    mutating func torques(joints angles: AxisVector, deviation: AxisVector, dt: Double)
        -> AxisVector
    {
        guard parameters.learningRate > 0 else { return switchedOff() }
        let (gains, p) = (JointTracker.Gains(forAnglesOver: dt), parameters)
        return joints.step {
            $0.torque(
                joint: angles[$1], deviation: deviation[$1], gains: gains, parameters: p, dt: dt)
        }
    }

    /// Torques that overcome the friction, N·m, computed from measured joint rates, rad/s.
    /// `deviation` is the error of the camera's rate about each joint's axis (actual rate minus
    /// set-point), rad/s.
    @_noLocks @_noAllocation
    mutating func torques(jointRates: AxisVector, deviation: AxisVector, dt: Double) -> AxisVector {
        guard parameters.learningRate > 0 else { return switchedOff() }
        let (gains, p) = (JointTracker.Gains(forRatesOver: dt), parameters)
        return joints.step {
            $0.torque(
                rate: jointRates[$1], deviation: deviation[$1], gains: gains, parameters: p, dt: dt)
        }
    }

    /// Discards the joints' motion, so that no friction is learned or explained. The torques are 0.
    private mutating func switchedOff() -> AxisVector {
        reset()
        return .zero
    }

    /// Updates the learned friction. `residual` is the part of the motors' torques that does not
    /// accelerate the camera, N·m.
    @_noLocks @_noAllocation
    mutating func learn(residual: AxisVector, dt: Double) {
        let p = parameters
        joints.change { $0.learn(residual: residual[$1], parameters: p, dt: dt) }
    }

    /// Discards the joints' motion. The learned friction does not change.
    @_noLocks @_noAllocation
    mutating func reset() { joints.change { friction, _ in friction.reset() } }
}
