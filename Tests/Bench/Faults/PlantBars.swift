/// Limits for runs with a gimbal that differs from the controller's model, in addition to
/// `FaultRun.Fault.bars`.
enum PlantBars {
    /// Longest time of trembling until the oscillation is reported, s.
    static let unnamed = 0.3
}
