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

    /// Joint angles for an encoder's readings of -π...π. An encoder does not count turns, but a range
    /// can contain angles beyond ±π, for example -200° to 150°.
    ///
    /// - Parameter readings: Angles within one turn, rad. A reading beyond ±π comes from a source that
    ///   counts turns, and does not change.
    /// - Returns: The readings, changed by a whole turn where this leads into the range or nearer to
    ///   it, rad.
    @_noLocks
    func angles(of readings: AxisVector) -> AxisVector {
        AxisVector(
            yaw: Self.angle(of: readings.yaw, from: minimum.yaw, to: maximum.yaw),
            roll: Self.angle(of: readings.roll, from: minimum.roll, to: maximum.roll),
            pitch: Self.angle(of: readings.pitch, from: minimum.pitch, to: maximum.pitch))
    }

    @_noLocks
    private static func angle(
        of reading: Double, from minimum: Double, to maximum: Double
    ) -> Double {
        let turn = 2 * Double.pi
        guard abs(reading) <= .pi else { return reading }
        let (below, above) = (minimum - reading, reading - maximum)
        if above > 0, minimum - (reading - turn) < above { return reading - turn }
        if below > 0, reading + turn - maximum < below { return reading + turn }
        return reading
    }

    /// The joints whose angle (rad) is outside their range; NaN counts as outside.
    @_noLocks
    func outside(_ joints: AxisVector) -> AxisSet {
        AxisSet(
            yaw: !(joints.yaw >= minimum.yaw && joints.yaw <= maximum.yaw),
            roll: !(joints.roll >= minimum.roll && joints.roll <= maximum.roll),
            pitch: !(joints.pitch >= minimum.pitch && joints.pitch <= maximum.pitch))
    }
}
