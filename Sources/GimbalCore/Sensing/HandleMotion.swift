/// Motion of the simulated handle.
public enum HandleMotion: String, Sendable, CaseIterable {
    /// The handle is fixed to a table.
    case still
    /// A standing person holds the handle: tremor and sway, 0.5...12 Hz, 0.6° RMS per axis.
    case handheld
    /// A person carries the handle, walks, stops and turns corners; the motion has the statistics
    /// of recorded people.
    case walking
    /// A person carries the handle and runs at 2.8 steps a second, with 1.6 times the angular rates
    /// and twice the accelerations of walking (6 m/s² RMS).
    case running
}
