/// Movements of the horizon to level, which the modes request.
extension Pointing {
    /// Levels the horizon after modes in which the horizon can be tilted. The movement has the rate
    /// limit of the modes that follow the handle. After the mode `retract`, the pitch angle also
    /// returns to zero. After the mode `inactive`, the camera moves as at a start of the outputs
    /// (see `takeOver`), because the outputs can still be ramping down: then there is no start.
    @_noLocks
    mutating func level(after old: Mode) {
        switch old {
        case .locked, .panFollow: break
        case .inactive:
            level(AxisVector(yaw: .nan, roll: 0, pitch: 0), at: modes.follow.slowest)
        case .fpv, .tracking, .neutral:
            level(AxisVector(yaw: .nan, roll: 0, pitch: .nan), at: modes.follow.maxRate.roll)
        case .retract:
            level(AxisVector(yaw: .nan, roll: 0, pitch: 0), at: modes.follow.maxRate.pitch)
        }
    }

    /// Levels the horizon at the beginning of the mode `tracking`.
    @_noLocks
    mutating func beginTracking() {
        level(AxisVector(yaw: .nan, roll: 0, pitch: .nan), at: modes.follow.maxRate.roll)
    }

    /// Moves the axes whose angle is not NaN to that angle.
    private mutating func level(_ angles: AxisVector, at rate: Double) {
        generator.point(target: angles, duration: 0, rate: rate)
        levelling = AxisVector(yaw: 0, roll: .nan, pitch: angles.pitch.isNaN ? 0 : .nan)
    }
}
