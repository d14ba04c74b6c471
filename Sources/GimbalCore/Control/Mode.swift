/// What the gimbal is asked to do. Names are the ones of the configuration, the sockets and the log.
public enum Mode: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// Outputs off.
    case inactive
    /// Holds the commanded attitude in the earth frame.
    case locked
}
