public import GimbalCore

/// Source of sensor samples and receiver of motor commands.
public enum Backend: String, Sendable, CaseIterable {
    /// Simulated gimbal and sensor in this process.
    case simulated
    /// An external simulator, connected over a socket.
    case lockstep
    /// Real chips on the board's buses.
    case linux
}

/// Severity of log messages in ascending order, with swift-log's names.
public enum LogLevel: String, Sendable, CaseIterable {
    /// Messages about every step, for developers.
    case trace
    /// Details for the diagnosis of faults.
    case debug
    /// Normal events.
    case info
    /// Notable events in normal operation.
    case notice
    /// Events that can lead to faults.
    case warning
    /// Faults.
    case error
    /// Faults that need immediate action by the user, such as motors that may still be on.
    case critical
}

/// One interval for each axis. The unit is documented at each property that has this type.
public struct AxisRanges: Sendable, Equatable {
    /// Lower ends of the intervals.
    public var lower: AxisVector
    /// Upper ends of the intervals.
    public var upper: AxisVector

    /// True if the interval of yaw spans at least two whole turns. An interval of two or more whole
    /// turns means that yaw has no limit.
    public var isYawEndless: Bool { upper.yaw - lower.yaw >= 720 }

    /// Creates the intervals with the given ends.
    public init(lower: AxisVector, upper: AxisVector) {
        self.lower = lower
        self.upper = upper
    }
}
