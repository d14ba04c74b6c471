/// Parameters of the modes, in SI units. The general limits of the set-point also apply.
public struct ModeParameters: Sendable, BitwiseCopyable, Equatable {
    /// Tuning of set-points that follow the handle, from the selected preset.
    public var follow = FollowTuning(
        maxRate: AxisVector(repeating: 90 * .pi / 180), smoothing: AxisVector(repeating: 0.4))
    /// Half-width of the dead zone in `pan_follow`, rad. Yaw begins to follow when the handle has
    /// turned by this angle.
    public var panDeadZone = 5 * Double.pi / 180
    /// Half-width of each axis's dead zone in `fpv`, rad. The axis begins to follow when the handle
    /// has turned by this angle.
    public var fpvDeadZone = AxisVector(repeating: 1 * .pi / 180)
    /// Largest pan and tilt rate in `tracking`, rad/s.
    public var trackingMaxRate = 45 * Double.pi / 180
    /// Pan and tilt range of `tracking` to either side, rad. Yaw is relative to the handle's
    /// heading. If this heading is unknown, yaw is relative to the heading at the first start of
    /// tracking. Pitch is relative to level. Roll is held level.
    public var trackingRange = AxisVector(yaw: .pi / 2, roll: 0, pitch: .pi / 4)
    /// Timeout of requests in the mode `tracking`, s; then the mode changes to `locked`.
    public var trackingTimeout = 1.0
    /// Joint angles of the rest pose in `retract`, rad.
    public var retractJoints = AxisVector(yaw: 0, roll: 0, pitch: -.pi / 2)
    /// Rate of the movement to the rest pose, rad/s.
    public var retractRate = 45 * Double.pi / 180
    /// True if the motors' outputs are switched off at the rest pose; false if the motors hold the
    /// joints there.
    public var isOffWhenRetracted = false

    /// Creates the default values.
    public init() {}

    /// Copy of the parameters with all rates multiplied by `share`, 0...1.
    @_noLocks
    func slower(_ share: Double) -> ModeParameters {
        var result = self
        result.follow.maxRate = follow.maxRate * share
        result.trackingMaxRate = trackingMaxRate * share
        result.retractRate = retractRate * share
        return result
    }

    /// Smoothing of the movement to the rest pose, s. The rest pose does not move, so a short
    /// smoothing is sufficient.
    private static var retractSmoothing: Double { @_noLocks get { 0.3 } }

    /// Tuning of the movement to the rest pose.
    var retractTuning: FollowTuning {
        @_noLocks get {
            FollowTuning(
                maxRate: AxisVector(repeating: retractRate),
                smoothing: AxisVector(repeating: Self.retractSmoothing), ignoresRange: true)
        }
    }
}
