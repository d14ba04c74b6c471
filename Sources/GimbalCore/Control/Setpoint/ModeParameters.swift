/// Parameters of the modes, in SI units, in addition to the limits of every set-point.
public struct ModeParameters: Sendable, BitwiseCopyable, Equatable {
    /// Tuning of set-points that follow the handle; the selected preset determines it.
    public var follow = FollowTuning(
        maxRate: AxisVector(repeating: 90 * .pi / 180), smoothing: AxisVector(repeating: 0.4))
    /// Half the width of the dead zone in `pan_follow`, rad: turn of the handle to either side at
    /// which yaw begins to follow.
    public var panDeadZone = 5 * Double.pi / 180
    /// Half the width of the dead zone of each axis in `fpv`, rad: turn of the handle to either
    /// side at which the axis begins to follow.
    public var fpvDeadZone = AxisVector(repeating: 1 * .pi / 180)
    /// Largest pan and tilt rate in `tracking`, rad/s.
    public var trackingMaxRate = 45 * Double.pi / 180
    /// Range of `tracking` to either side, rad. Yaw is relative to the handle's heading, or if this
    /// heading is unknown, to the heading at which tracking first began. Pitch is relative to
    /// level. Roll is held level.
    public var trackingRange = AxisVector(yaw: .pi / 2, roll: 0, pitch: .pi / 4)
    /// Time without a request after which `tracking` becomes `locked`, s.
    public var trackingTimeout = 1.0
    /// Joint angles of the rest pose in `retract`, rad.
    public var retractJoints = AxisVector(yaw: 0, roll: 0, pitch: -.pi / 2)
    /// Rate of the movement to the rest pose, rad/s.
    public var retractRate = 45 * Double.pi / 180
    /// True if the motors' outputs are switched off at the rest pose; otherwise the motors hold the
    /// joints.
    public var isOffWhenRetracted = false

    /// Creates the default values.
    public init() {}

    /// The parameters with all rates times `share`, 0...1.
    @_noLocks
    func slower(_ share: Double) -> ModeParameters {
        var result = self
        result.follow.maxRate = follow.maxRate * share
        result.trackingMaxRate = trackingMaxRate * share
        result.retractRate = retractRate * share
        return result
    }

    /// Tuning of the movement to the rest pose.
    var retractTuning: FollowTuning {
        @_noLocks get {
            FollowTuning(
                maxRate: AxisVector(repeating: retractRate), smoothing: AxisVector(repeating: 0.3))
        }
    }
}
