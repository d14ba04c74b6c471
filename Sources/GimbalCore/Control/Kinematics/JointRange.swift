/// Range of each joint's angle, rad. At angle zero, the camera is aligned with the handle.
public struct JointRange: Sendable, BitwiseCopyable, Equatable {
    /// Smallest angle of each joint, rad.
    public var minimum = AxisVector(yaw: -170, roll: -45, pitch: -120) * (.pi / 180)
    /// Largest angle of each joint, rad.
    public var maximum = AxisVector(yaw: 170, roll: 45, pitch: 120) * (.pi / 180)

    /// Creates the default joint ranges.
    public init() {}

    /// Creates joint ranges from `minimum` to `maximum`.
    @_noLocks
    init(minimum: AxisVector, maximum: AxisVector) {
        self.minimum = minimum
        self.maximum = maximum
    }

    /// True if every joint angle is within its joint's range.
    @_noLocks
    public func contains(_ joints: AxisVector) -> Bool { outside(joints).isEmpty }

    /// The joints whose angle (rad) is outside their range; NaN counts as outside.
    @_noLocks
    func outside(_ joints: AxisVector) -> AxisSet {
        AxisSet(
            yaw: !(joints.yaw >= minimum.yaw && joints.yaw <= maximum.yaw),
            roll: !(joints.roll >= minimum.roll && joints.roll <= maximum.roll),
            pitch: !(joints.pitch >= minimum.pitch && joints.pitch <= maximum.pitch))
    }
}
