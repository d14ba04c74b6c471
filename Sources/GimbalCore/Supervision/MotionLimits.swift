/// Fractions of the configured limits that the set-point's motion may use now, 0...1.
public struct MotionLimits: Sendable, BitwiseCopyable {
    /// Fraction of every largest rate; below 1 while the supply voltage is low.
    public private(set) var rate = 1.0
    /// Fraction of the largest acceleration; below 1 while the supply voltage is low, and if the
    /// motors cannot accelerate the camera faster.
    public private(set) var acceleration = 1.0

    /// Creates the fractions that apply with a full supply and motors that are strong enough.
    @_noLocks
    public init() {}

    /// Creates the fractions for the present state of the supply and of the motors.
    ///
    /// If motors are at their torque limit, the feedback has no effect, and the camera overshoots.
    /// The set-point's acceleration is therefore one that the motors can exert.
    ///
    /// - Parameters:
    ///   - isSlow: True while the supply voltage is low.
    ///   - possible: Largest acceleration for a set-point that the motors can follow, rad/s².
    ///   - configured: Configured largest acceleration, rad/s².
    @_noLocks
    public init(isSlow: Bool, possible: Double, configured: AxisVector) {
        rate = isSlow ? SupplyReaction.share : 1
        acceleration = min(rate, possible / configured.largest)
    }

    /// True if at least one fraction differs. The comparison is a method, because the real-time
    /// checker rejects the synthesized operator.
    @_noLocks
    func differs(from other: MotionLimits) -> Bool {
        rate != other.rate || acceleration != other.acceleration
    }
}

extension Stabilizer {
    /// Limits the set-point's motion to the fractions `motion` of the configured limits.
    @_noLocks
    mutating func limitMotion() {
        pointing.parameters = parameters.setpoint.slower(motion)
        pointing.modes = parameters.modes.slower(motion.rate)
    }

    /// Adapts the limits of the set-point's motion to the supply and to the motors.
    @_noLocks
    mutating func adaptMotion(isSlow: Bool) {
        let limits = MotionLimits(
            isSlow: isSlow, possible: drive.acceleration,
            configured: parameters.setpoint.maxAcceleration)
        guard limits.differs(from: motion) else { return }
        motion = limits
        limitMotion()
    }
}
