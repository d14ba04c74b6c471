/// Limits for runs with a gimbal that differs from the controller's model, in addition to
/// `FaultRun.Fault.bars`.
enum PlantBars {
    /// Longest permitted time for which the camera trembles before the controller reports an
    /// oscillation, s.
    static let unnamed = 0.3
}
