public import GimbalCore

/// Telemetry of one tick, which the loop writes to the telemetry ring. The record has a fixed size
/// and contains no references.
public struct TelemetryRecord: Sendable, BitwiseCopyable {
    /// Number of the tick, from 0. If the number increases by more than one from one record to the
    /// next, records were dropped.
    public var tick: UInt64
    /// Beginning of the tick, on `MonotonicClock`.
    public var now: Instant
    /// The stabilizer's values after the tick.
    public var snapshot: StabilizerSnapshot
    /// Durations of the stages.
    public var timing: TickTiming
    /// Counters of errors since the start.
    public var counters: RuntimeCounters
}

/// Durations of one period, ns. The durations of the bus thread belong to the previous period.
public struct TickTiming: Sendable, BitwiseCopyable {
    /// Duration of `Stage.wake`, ns.
    public var wake: Int64 = 0
    /// Duration of `Stage.bus`, ns.
    public var bus: Int64 = 0
    /// Duration of `Stage.handover`, ns; 0 in a tick that ran at its deadline.
    public var handover: Int64 = 0
    /// Duration of `Stage.estimate`, ns.
    public var estimate: Int64 = 0
    /// Duration of `Stage.control`, ns.
    public var control: Int64 = 0
    /// Duration of `Stage.write`, ns.
    public var write: Int64 = 0
    /// Duration of `Stage.imuToMotor`, ns.
    public var imuToMotor: Int64 = 0

    /// Creates durations that are all zero.
    public init() {}
}

/// Counters of the real-time threads since the start.
public struct RuntimeCounters: Sendable, BitwiseCopyable {
    /// Number of samples that were dropped because the sample ring was full.
    public var samplesDropped: UInt64 = 0
    /// Number of requests that were dropped because the command ring was full.
    public var commandsDropped: UInt64 = 0
    /// Number of records that were dropped because the telemetry ring was full.
    public var telemetryDropped: UInt64 = 0
    /// Number of ticks that began only at their deadline, because the bus thread had not reported a
    /// sample in time.
    public var lateSamples: UInt64 = 0
    /// Number of ticks that took longer than a period.
    public var loopOverruns: UInt64 = 0
    /// Number of periods that the bus thread skipped, because the previous period took too long.
    public var busOverruns: UInt64 = 0
    /// Number of failed transfers, including repeated attempts.
    public var busErrors: UInt64 = 0
    /// The newest failed transfer; nil if no transfer has failed.
    public var lastBusError: BusError?
    /// The newest failed transfer of a second bus that fails at present; nil if there is none.
    public var furtherBusError: BusError?

    /// Creates counters that are all zero.
    public init() {}
}
