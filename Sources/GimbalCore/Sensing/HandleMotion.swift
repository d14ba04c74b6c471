/// Motion of the simulated handle.
public enum HandleMotion: String, Sendable, CaseIterable {
    /// The handle is fixed on a table.
    case still
    /// The handle is held by a standing person: tremor and sway, 0.5...12 Hz, 0.6° RMS per axis.
    case handheld
    /// The handle is carried by a person who walks, stops and turns corners, with the statistics of
    /// recorded people.
    case walking
    /// The handle is carried by a person who runs: 2.8 steps a second, 1.6 times the rates and
    /// twice the accelerations of walking, 6 m/s² RMS.
    case running
}
