/// How far each joint turns, rad; zero is aligned with the handle.
public struct JointRange: Sendable, BitwiseCopyable, Equatable {
    /// Smallest angles.
    public var minimum = AxisVector(yaw: -170, roll: -45, pitch: -120) * (.pi / 180)
    /// Largest angles.
    public var maximum = AxisVector(yaw: 170, roll: 45, pitch: 120) * (.pi / 180)

    /// The defaults.
    public init() {}

    /// Whether every joint is within its range.
    @_noLocks
    public func contains(_ joints: AxisVector) -> Bool {
        joints.yaw >= minimum.yaw && joints.yaw <= maximum.yaw && joints.roll >= minimum.roll
            && joints.roll <= maximum.roll && joints.pitch >= minimum.pitch
            && joints.pitch <= maximum.pitch
    }
}
