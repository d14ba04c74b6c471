/// Stages of one period, from the wake-up to the motors. Each stage is timed in every period. The
/// case `request` is not a stage, but the latency of a request.
public enum Stage: String, CaseIterable, Sendable {
    /// Time from the requested wake-up of the bus thread until the thread runs.
    case wake
    /// Duration of reading the sensors.
    case bus
    /// Time from the moment when the bus thread rings the doorbell until the loop runs.
    case handover
    /// Duration of applying requests and tuning, and of processing the samples.
    case estimate
    /// Duration of supervision and control.
    case control
    /// Duration of writing to the motors.
    case write
    /// Latency from IMU to motors: time from the newest sample until the output for this sample has
    /// been written.
    case imuToMotor = "imu_to_motor"
    /// Latency of a request: time from its receipt by a link to the tick that executes it; measured
    /// for each request, not for each period.
    case request
}

/// One histogram for each stage. Like `LatencyHistogram`, the value is a handle.
@frozen
public struct StageHistograms: BitwiseCopyable, Sendable {
    /// Histogram of `Stage.wake`; the bus thread records it.
    public let wake = LatencyHistogram()
    /// Histogram of `Stage.bus`; the bus thread records it.
    public let bus = LatencyHistogram()
    /// Histogram of `Stage.handover`; the loop records it.
    public let handover = LatencyHistogram()
    /// Histogram of `Stage.estimate`; the loop records it.
    public let estimate = LatencyHistogram()
    /// Histogram of `Stage.control`; the loop records it.
    public let control = LatencyHistogram()
    /// Histogram of `Stage.write`; the bus thread records it.
    public let write = LatencyHistogram()
    /// Histogram of `Stage.imuToMotor`; the bus thread records it.
    public let imuToMotor = LatencyHistogram()
    /// Histogram of `Stage.request`; the loop records it.
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

    /// Frees all histograms.
    public func deallocate() {
        for stage in Stage.allCases { self[stage].deallocate() }
    }
}
