// Effect of a motor test on the controllers.
extension Stabilizer {
    /// Discards the angle of the tested motor's model, because a motor test turns this motor to
    /// another angle while the controllers are off. The other motors keep their angles.
    @_noLocks
    mutating func forgetAngle(of axis: GimbalAxis) {
        guard !supervisor.isEnabled else { return }
        let tested = AxisSet(axis)
        let old = drive.state.modelledJoints ?? .zero
        drive.reset(
            joints: AxisVector(
                yaw: tested.contains(.yaw) ? 0 : old.yaw,
                roll: tested.contains(.roll) ? 0 : old.roll,
                pitch: tested.contains(.pitch) ? 0 : old.pitch))
    }
}
