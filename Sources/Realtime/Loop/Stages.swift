/// The stages of one period, from the clock to the motors, each timed in every period; also the
/// latency of a request to the loop.
public enum Stage: String, CaseIterable, Sendable {
    /// From the requested wake-up of the bus thread until it runs.
    case wake
    /// Reading the sensors.
    case bus
    /// From the bus thread's ring until the loop runs.
    case handover
    /// Requests and samples: commands, tuning, integration.
    case estimate
    /// Supervision and control.
    case control
    /// Writing to the motors.
    case write
    /// From the newest sample until its answer is written.
    case imuToMotor = "imu_to_motor"
    /// From the reception of a request by a link until its tick; counted per request, not per
    /// period.
    case request
}

/// A histogram for each stage. Plain handles, like `LatencyHistogram`.
@frozen
public struct StageHistograms: BitwiseCopyable, Sendable {
    /// Recorded by the bus thread.
    public let wake = LatencyHistogram()
    /// Recorded by the bus thread.
    public let bus = LatencyHistogram()
    /// Recorded by the loop.
    public let handover = LatencyHistogram()
    /// Recorded by the loop.
    public let estimate = LatencyHistogram()
    /// Recorded by the loop.
    public let control = LatencyHistogram()
    /// Recorded by the bus thread.
    public let write = LatencyHistogram()
    /// Recorded by the bus thread.
    public let imuToMotor = LatencyHistogram()
    /// Recorded by the loop.
    public let request = LatencyHistogram()

    /// Creates empty histograms.
    public init() {}

    /// The histogram of a stage.
    public subscript(stage: Stage) -> LatencyHistogram {
        switch stage {
        case .wake: wake
        case .bus: bus
        case .handover: handover
        case .estimate: estimate
        case .control: control
        case .write: write
        case .imuToMotor: imuToMotor
        case .request: request
        }
    }

    /// Frees all of them.
    public func deallocate() {
        for stage in Stage.allCases { self[stage].deallocate() }
    }
}
