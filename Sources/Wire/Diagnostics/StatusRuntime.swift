/// Timing of the loop.
public struct LoopStatus: Hashable, Sendable, Codable {
    /// `loop.rate_hz`.
    public var rateHz: Number = .unknown
    /// Ticks per second over the last second.
    public var achievedHz: Number = .unknown
    /// Ticks since the start.
    public var ticks = 0
    /// Ticks that took longer than their period.
    public var overruns = 0
    /// Ticks that ran on their deadline because the sample was late.
    public var lateSamples = 0
    /// Latency per stage: wake, bus, estimate, control, write, imu_to_motor.
    public var stages: [StageTiming] = []

    /// Creates a loop without known values.
    public init() {}
}

/// Latency of one stage since the start.
public struct StageTiming: Hashable, Sendable, Codable {
    /// Name of the stage.
    public var name: String
    /// Median.
    public var p50Us: Number
    /// 99th percentile.
    public var p99Us: Number
    /// Maximum.
    public var maxUs: Number

    /// A stage with these figures.
    public init(name: String, p50Us: Number, p99Us: Number, maxUs: Number) {
        self.name = name
        self.p50Us = p50Us
        self.p99Us = p99Us
        self.maxUs = maxUs
    }
}

/// Losses between threads and on buses, since the start.
public struct FaultStatus: Hashable, Sendable, Codable {
    /// Samples dropped because the sample ring was full.
    public var sampleDrops = 0
    /// Commands dropped because the command ring was full.
    public var commandDrops = 0
    /// Records dropped because the telemetry ring was full.
    public var telemetryDrops = 0
    /// Failed transfers.
    public var busErrors = 0
    /// Refused samples, by reason: `{"imu_implausible": 3}`.
    public var rejectedSamples: [String: Int] = [:]
    /// The last error in words; absent without one.
    public var lastError: String?
    /// Usual remedy; absent without an error.
    public var remedy: String?

    /// No faults.
    public init() {}
}

/// Privileges that the kernel granted.
public struct RealtimeStatus: Hashable, Sendable, Codable {
    /// Scheduling policy of the loop thread: `SCHED_FIFO`, `SCHED_OTHER`.
    public var policy = ""
    /// Priority of the loop thread, 0 without real-time scheduling.
    public var priority = 0
    /// Whether all memory is locked.
    public var isMemoryLocked = false
    /// Whether the kernel is fully preemptible; absent if it does not report it.
    public var isPreemptRt: Bool?
    /// Missing privileges and their remedies, one sentence each; empty if there are none.
    public var sentences: [String] = []

    /// A report without any privilege.
    public init() {}
}

/// Memory of the process.
public struct MemoryStatus: Hashable, Sendable, Codable {
    /// Resident set.
    public var residentKb: Number = .unknown
    /// Locked part.
    public var lockedKb: Number = .unknown
    /// Page faults that read from disk, since the start.
    public var majorFaults = 0

    /// Creates a memory status without known values.
    public init() {}
}

/// Connections to the diagnostics socket.
public struct ClientStatus: Hashable, Sendable, Codable {
    /// Open connections.
    public var connected = 0
    /// Largest number of open connections.
    public var limit = 0
    /// Connections accepted since the start.
    public var accepted = 0
    /// Connections refused because the limit was reached.
    public var refused = 0
    /// Connections closed because they were idle and another client needed the slot.
    public var evicted = 0
    /// Connections closed because the client did not read its replies.
    public var stalled = 0
    /// Running subscriptions.
    public var subscriptions = 0
    /// Subscription messages not sent, because a client did not read fast enough.
    public var droppedMessages = 0

    /// No connections.
    public init() {}
}

/// Files and unsaved changes.
public struct ConfigurationStatus: Hashable, Sendable, Codable {
    /// Files read, in order.
    public var files: [String] = []
    /// Keys changed live that the next start would lose.
    public var unsaved: [String] = []
    /// Keys whose new value waits for a restart.
    public var needsRestart: [String] = []

    /// Creates a configuration of the built-in defaults.
    public init() {}
}

/// The simulator that supplies the clock. Counters are those of the present connection.
public struct LockstepStatus: Hashable, Sendable, Codable {
    /// `hardware.lockstep.socket`.
    public var socket = ""
    /// "waiting" for a simulator, "connected", or "silent" for longer than
    /// `hardware.lockstep.timeout`.
    public var state = "waiting"
    /// The simulator's time in its last valid line.
    public var t: Number = .unknown
    /// Number of valid lines; each was one tick.
    public var lines = 0
    /// Number of refused lines.
    public var errors = 0
    /// The last refusal in words; absent without one.
    public var lastError: String?
    /// Number of simulators since the start of the process.
    public var connections = 0
    /// Seconds of simulated time per second, over the last second.
    public var speed: Number = .unknown
    /// Optional sensors of the first line, by their names on the wire.
    public var sensors: [String] = []
    /// Optional sensors of the first line that the last line lacked.
    public var missing: [String] = []
    /// Number of ignored values of sensors that were missing in the first line.
    public var ignoredValues = 0

    /// Creates a socket without a connection.
    public init() {}
}
