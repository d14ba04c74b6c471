public import GimbalCore

/// Output of the loop: one record per tick, through the telemetry ring. Fixed size, no references.
public struct TelemetryRecord: Sendable, BitwiseCopyable {
    /// Number of the tick, from 0; a step of more than one from record to record means dropped
    /// records.
    public var tick: UInt64
    /// Beginning of the tick, on `MonotonicClock`.
    public var now: Instant
    /// The stabilizer's values.
    public var snapshot: StabilizerSnapshot
    /// Durations of the stages.
    public var timing: TickTiming
    /// Counters of errors.
    public var counters: RuntimeCounters
}

/// Durations of one period, nanoseconds. The durations of the bus thread are those of the previous
/// period.
public struct TickTiming: Sendable, BitwiseCopyable {
    /// See `Stage.wake`.
    public var wake: Int64 = 0
    /// See `Stage.bus`.
    public var bus: Int64 = 0
    /// See `Stage.handover`; 0 in a tick that ran on its deadline.
    public var handover: Int64 = 0
    /// See `Stage.estimate`.
    public var estimate: Int64 = 0
    /// See `Stage.control`.
    public var control: Int64 = 0
    /// See `Stage.write`.
    public var write: Int64 = 0
    /// See `Stage.imuToMotor`.
    public var imuToMotor: Int64 = 0

    /// Creates durations of zero.
    public init() {}
}

/// Counters since the start.
public struct RuntimeCounters: Sendable, BitwiseCopyable {
    /// Samples dropped because the sample ring was full.
    public var samplesDropped: UInt64 = 0
    /// Requests dropped because the command ring was full.
    public var commandsDropped: UInt64 = 0
    /// Records dropped because the telemetry ring was full, because its reader was slow or did not
    /// exist.
    public var telemetryDropped: UInt64 = 0
    /// Ticks that began only at their deadline, because the bus thread had not reported a sample in
    /// time.
    public var lateSamples: UInt64 = 0
    /// Ticks that took longer than a period.
    public var loopOverruns: UInt64 = 0
    /// Whole periods that the bus thread skipped because the previous one took too long.
    public var busOverruns: UInt64 = 0
    /// Failed transfers; each attempt counts.
    public var busErrors: UInt64 = 0
    /// Periods in which the bus thread turned the motors off because the loop had been silent for
    /// too long.
    public var loopSilences: UInt64 = 0
    /// The newest failed transfer; nil if no transfer has failed.
    public var lastBusError: BusError?

    /// Creates counters of zero.
    public init() {}
}
