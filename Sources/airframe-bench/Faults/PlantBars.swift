/// Bars of a plant that is not as believed, beyond `FaultRun.Fault.bars`.
enum PlantBars {
    /// Longest time in which a camera may tremble before the oscillation is told, s.
    static let unnamed = 0.3
}
