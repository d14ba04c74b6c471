// Effect of a motor test on the controllers.
extension Stabilizer {
    /// Discards the angles of the motors' models, because a motor test turns the motors to other
    /// angles while the controllers are off.
    @_noLocks
    mutating func forgetAngles() {
        if !supervisor.isEnabled { drive.reset(joints: .zero) }
    }
}
