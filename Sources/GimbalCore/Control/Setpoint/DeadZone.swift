/// A target that follows something only when it leaves a zone, and then stays at the zone's edge:
/// the hand may tremble and wander a little without moving the camera.
///
/// Loop thread only; constant time.
struct DeadZone: Sendable, BitwiseCopyable {
    /// Where the followed angle was when the zone was last pushed, rad, continuous over whole
    /// turns; NaN before.
    private(set) var target = AxisVector.unknown

    /// Nothing to follow yet.
    @_noLocks
    init() {}

    /// Starts at `angles`, rad.
    @_noLocks
    mutating func start(at angles: AxisVector) { target = angles }

    /// Takes where the followed angles are, rad; an axis that is NaN is left alone.
    @_noLocks
    mutating func update(_ angles: AxisVector, width: AxisVector) {
        target.yaw = DeadZone.pushed(target.yaw, angles.yaw, width.yaw)
        target.roll = DeadZone.pushed(target.roll, angles.roll, width.roll)
        target.pitch = DeadZone.pushed(target.pitch, angles.pitch, width.pitch)
    }

    private static func pushed(_ target: Double, _ angle: Double, _ width: Double) -> Double {
        let away = Angle(radians: target).shortestArc(to: .radians(angle)).radians
        if away > width { return target + away - width }
        if away < -width { return target + away + width }
        return target
    }
}
