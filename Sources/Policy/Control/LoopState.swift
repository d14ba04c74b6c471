public import GimbalCore

/// State of the loop after a tick, which the `Commander` uses.
public struct LoopState: Sendable, Equatable {
    /// The active mode.
    public var mode: Mode
    /// Number of mode requests that the loop has executed, including emergency stops.
    public var modeRequests: UInt64
    /// True if a sensor sample has arrived.
    public var hasSample: Bool
    /// True if the joint angles are known now, or will be known after the outputs are switched on.
    public var showsJoints: Bool

    /// Creates a state.
    public init(mode: Mode, modeRequests: UInt64, hasSample: Bool, showsJoints: Bool) {
        self.mode = mode
        self.modeRequests = modeRequests
        self.hasSample = hasSample
        self.showsJoints = showsJoints
    }

    /// Creates the state from a snapshot.
    public init(_ snapshot: StabilizerSnapshot) {
        self.init(
            mode: snapshot.mode, modeRequests: snapshot.modeRequests,
            hasSample: snapshot.samples.accepted > 0, showsJoints: snapshot.showsJoints)
    }
}
