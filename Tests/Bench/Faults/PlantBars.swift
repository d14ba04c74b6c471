/// Limits for runs with a gimbal that differs from the controller's model, in addition to
/// `FaultRun.Fault.bars`.
enum PlantBars {
    /// Longest permitted tremor of the camera before the controller reports an oscillation, s.
    static let unnamed = 0.3
}
