/// What the modes do, beyond the limits of every set-point. SI units.
public struct ModeParameters: Sendable, BitwiseCopyable, Equatable {
    /// How set-points follow the handle: the preset in force.
    public var follow = FollowTuning(
        maxRate: AxisVector(repeating: 90 * .pi / 180), smoothing: AxisVector(repeating: 0.4))
    /// How far the handle turns before yaw follows in `pan_follow`, to either side, rad.
    public var panDeadZone = 5 * Double.pi / 180
    /// How far the handle turns before each axis follows in `fpv`, to either side, rad.
    public var fpvDeadZone = AxisVector(repeating: 1 * .pi / 180)
    /// Largest pan and tilt rate in `tracking`, rad/s.
    public var trackingMaxRate = 45 * Double.pi / 180
    /// How far `tracking` turns to either side, rad: yaw from the handle's heading, or from where
    /// tracking first began where nothing shows that, pitch from level; roll is held level.
    public var trackingRange = AxisVector(yaw: .pi / 2, roll: 0, pitch: .pi / 4)
    /// Silence after which `tracking` becomes `locked`, s.
    public var trackingTimeout = 1.0
    /// Where the joints go in `retract`, rad.
    public var retractJoints = AxisVector(yaw: 0, roll: 0, pitch: -.pi / 2)
    /// How fast they go there, rad/s.
    public var retractRate = 45 * Double.pi / 180
    /// Whether the outputs go off when the joints are there; otherwise they hold them.
    public var isOffWhenRetracted = false

    /// The defaults.
    public init() {}

    /// How the joints go to their resting pose.
    var retractTuning: FollowTuning {
        @_noLocks get {
            FollowTuning(
                maxRate: AxisVector(repeating: retractRate), smoothing: AxisVector(repeating: 0.3))
        }
    }
}
