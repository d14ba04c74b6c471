/// Target angles with a dead zone around each angle. If a followed angle leaves the dead zone, the
/// target moves just enough to bring the followed angle to the edge. Therefore tremor and slow
/// drift of a hand within the dead zone do not move the camera.
///
/// Runs on the loop thread only, in constant time.
struct DeadZone: Sendable, BitwiseCopyable {
    /// Target angles, rad, continuous over whole turns; NaN before the first followed angle.
    private(set) var target = AxisVector.unknown
    /// True if no angle has been followed since the last `start(at:)`.
    private(set) var isNew = true

    /// Creates a dead zone without a target angle.
    @_noLocks
    init() {}

    /// Sets the targets to `angles`, rad.
    @_noLocks
    mutating func start(at angles: AxisVector) {
        target = angles
        isNew = true
    }

    /// Sets the target of yaw to `angle`, rad, on the shorter way from the present target.
    @_noLocks
    mutating func centre(yaw angle: Double) {
        target.yaw += Angle(radians: target.yaw).shortestArc(to: .radians(angle)).radians
    }

    /// Sets the target of yaw to `angle`, rad.
    @_noLocks
    mutating func start(yaw angle: Double) { target.yaw = angle }

    /// Adds whole turns, rad, to the targets.
    @_noLocks
    mutating func unwrap(_ turns: AxisVector) { target = target + turns }

    /// Moves each target so that the angle to follow is inside the dead zone again.
    ///
    /// - Parameters:
    ///   - angles: Angles to follow, rad. NaN leaves an axis unchanged.
    ///   - width: Half-width of each dead zone, rad.
    @_noLocks
    mutating func update(_ angles: AxisVector, width: AxisVector) {
        isNew = false
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
