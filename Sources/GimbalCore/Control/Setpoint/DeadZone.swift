/// A target angle with a dead zone around it. Only a followed angle outside the dead zone moves the
/// target, until the followed angle is at the edge of the dead zone. A hand can therefore tremble
/// and drift a little without moving the camera.
///
/// Loop thread only; constant time.
struct DeadZone: Sendable, BitwiseCopyable {
    /// Target angles, rad, continuous over whole turns; NaN before the first followed angle.
    private(set) var target = AxisVector.unknown

    /// Creates a dead zone without a target angle.
    @_noLocks
    init() {}

    /// Starts at `angles`, rad.
    @_noLocks
    mutating func start(at angles: AxisVector) { target = angles }

    /// Moves the targets if the followed angles, rad, are outside the dead zones; NaN leaves an
    /// axis unchanged.
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
