/// Range of each joint, rad; zero is aligned with the handle.
public struct JointRange: Sendable, BitwiseCopyable, Equatable {
    /// Smallest angles.
    public var minimum = AxisVector(yaw: -170, roll: -45, pitch: -120) * (.pi / 180)
    /// Largest angles.
    public var maximum = AxisVector(yaw: 170, roll: 45, pitch: 120) * (.pi / 180)

    /// The defaults.
    public init() {}

    /// Creates a range from `minimum` to `maximum`.
    @_noLocks
    init(minimum: AxisVector, maximum: AxisVector) {
        self.minimum = minimum
        self.maximum = maximum
    }

    /// Whether every joint is within its range.
    @_noLocks
    public func contains(_ joints: AxisVector) -> Bool { outside(joints).isEmpty }

    /// The joints that are outside their range, rad; NaN counts as outside.
    @_noLocks
    func outside(_ joints: AxisVector) -> AxisSet {
        AxisSet(
            yaw: !(joints.yaw >= minimum.yaw && joints.yaw <= maximum.yaw),
            roll: !(joints.roll >= minimum.roll && joints.roll <= maximum.roll),
            pitch: !(joints.pitch >= minimum.pitch && joints.pitch <= maximum.pitch))
    }
}
