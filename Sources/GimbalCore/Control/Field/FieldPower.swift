/// Power of the motors without encoders: the power without load, and more under load.
///
/// Runs on the loop thread only, in constant time.
struct FieldPower: Sendable, BitwiseCopyable {
    /// Power as a fraction of the power stage's maximum, 0...1.
    private(set) var share = 0.0

    /// Sine of the load-angle threshold (45 electrical degrees), above which the power is raised.
    private static var fullLoad: Double { @_noLocks get { 0.7 } }
    /// Time constant of the power's decrease after a load, s.
    private static var memory: Double { @_noLocks get { 0.5 } }

    @_noLocks
    init() {}

    /// Sets the power without load.
    @_noLocks
    mutating func reset(_ parameters: FieldController.Parameters) { share = parameters.power }

    /// Raises the power immediately if a load angle would exceed 45 electrical degrees. Afterwards,
    /// the power decreases slowly.
    ///
    /// - Parameters:
    ///   - torques: Requested torques of the motors, N·m.
    ///   - parameters: Tuning of the controller.
    ///   - dt: Time since the previous control period, s.
    @_noLocks
    mutating func follow(
        _ torques: AxisVector, _ parameters: FieldController.Parameters, dt: Double
    ) {
        let peak = parameters.peakTorque
        let load = max(
            peak.yaw > 0 ? abs(torques.yaw) / peak.yaw : 0,
            max(
                peak.roll > 0 ? abs(torques.roll) / peak.roll : 0,
                peak.pitch > 0 ? abs(torques.pitch) / peak.pitch : 0))
        let least = parameters.power
        let needed = min(max(load / Self.fullLoad, least), max(parameters.maxPower, least))
        share = needed > share ? needed : share + (needed - share) * min(dt / Self.memory, 1)
    }
}
