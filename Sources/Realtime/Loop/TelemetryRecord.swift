public import GimbalCore

/// Everything that leaves the loop: one of these per tick, through the telemetry ring. Fixed size,
/// no references.
public struct TelemetryRecord: Sendable, BitwiseCopyable {
    /// Number of the tick, from 0; a step of more than one means dropped records.
    public var tick: UInt64
    /// When the tick began, on `MonotonicClock`.
    public var now: Instant
    /// What the stabilizer thinks.
    public var snapshot: StabilizerSnapshot
    /// Where the time went.
    public var timing: TickTiming
    /// What went wrong so far.
    public var counters: RuntimeCounters
}

/// Durations of one period, nanoseconds; those of the bus thread are the newest it has reported,
/// one period old.
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

    /// No time spent.
    public init() {}
}

/// Everything that is counted, since the start.
public struct RuntimeCounters: Sendable, BitwiseCopyable {
    /// Samples that found the sample ring full.
    public var samplesDropped: UInt64 = 0
    /// Requests that found the command ring full.
    public var commandsDropped: UInt64 = 0
    /// Records that found the telemetry ring full: nobody read it, or too slowly.
    public var telemetryDropped: UInt64 = 0
    /// Ticks that ran on the deadline because the bus thread did not ring in time.
    public var lateSamples: UInt64 = 0
    /// Ticks that took longer than a period.
    public var loopOverruns: UInt64 = 0
    /// Whole periods that the bus thread skipped because the one before took too long.
    public var busOverruns: UInt64 = 0
    /// Transfers that failed, each attempt counted.
    public var busErrors: UInt64 = 0
    /// Periods in which the bus thread turned the motors off because the loop had been silent for
    /// too long.
    public var loopSilences: UInt64 = 0
    /// The newest failed transfer.
    public var lastBusError: BusError?

    /// Nothing counted.
    public init() {}
}
