/// A target with a zone around it. Only a followed angle outside the zone moves the target, until
/// the angle is at the edge of the zone. A hand can therefore tremble and drift a little without
/// moving the camera.
///
/// Loop thread only; constant time.
struct DeadZone: Sendable, BitwiseCopyable {
    /// Target angle, rad, continuous over whole turns; NaN until there is a target.
    private(set) var target = AxisVector.unknown

    /// Creates a dead zone without a target.
    @_noLocks
    init() {}

    /// Starts at `angles`, rad.
    @_noLocks
    mutating func start(at angles: AxisVector) { target = angles }

    /// Processes the followed angles, rad; NaN leaves an axis unchanged.
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
