public import GimbalCore

/// What the loop knew after a tick, as far as the Commander has to know it.
public struct LoopState: Sendable, Equatable {
    /// The mode in force.
    public var mode: Mode
    /// How many requests for a mode it has carried out; emergency stops among them.
    public var modeRequests: UInt64
    /// Whether a sample of the sensor has come.
    public var hasSample: Bool
    /// Whether there is, or with the outputs on there will be, something that shows the joints.
    public var showsJoints: Bool

    /// A state with these parts.
    public init(mode: Mode, modeRequests: UInt64, hasSample: Bool, showsJoints: Bool) {
        self.mode = mode
        self.modeRequests = modeRequests
        self.hasSample = hasSample
        self.showsJoints = showsJoints
    }

    /// What this snapshot says.
    public init(_ snapshot: StabilizerSnapshot) {
        self.init(
            mode: snapshot.mode, modeRequests: snapshot.modeRequests,
            hasSample: snapshot.samples.accepted > 0, showsJoints: snapshot.showsJoints)
    }
}
