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

    /// A loop of which nothing is known.
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
    /// Largest.
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
    /// Samples that found the sample ring full.
    public var sampleDrops = 0
    /// Commands that found the command ring full.
    public var commandDrops = 0
    /// Records that found the telemetry ring full.
    public var telemetryDrops = 0
    /// Transfers that failed.
    public var busErrors = 0
    /// Samples that were refused, by reason: `{"imu_implausible": 3}`.
    public var rejectedSamples: [String: Int] = [:]
    /// The last error in words; absent when there was none.
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
    /// Its priority, 0 without real-time scheduling.
    public var priority = 0
    /// Whether all memory is locked.
    public var isMemoryLocked = false
    /// Whether the kernel is fully preemptible; absent when it does not say.
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

    /// Memory of which nothing is known.
    public init() {}
}

/// Connections to the diagnostics socket.
public struct ClientStatus: Hashable, Sendable, Codable {
    /// Open now.
    public var connected = 0
    /// Most that may be open.
    public var limit = 0
    /// Since the start.
    public var accepted = 0
    /// Turned away because the limit was reached.
    public var refused = 0
    /// Closed because they were idle and another client needed the place.
    public var evicted = 0
    /// Closed because they did not read their replies.
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
    /// Keys changed live that the next start would not know.
    public var unsaved: [String] = []
    /// Keys whose new value waits for a restart.
    public var needsRestart: [String] = []

    /// Built-in defaults and nothing else.
    public init() {}
}

/// The simulator that owns time. Counters are those of the present connection.
public struct LockstepStatus: Hashable, Sendable, Codable {
    /// `hardware.lockstep.socket`.
    public var socket = ""
    /// "waiting" for a simulator, "connected", or "silent" for longer than
    /// `hardware.lockstep.timeout`.
    public var state = "waiting"
    /// The simulator's time in its last good line.
    public var t: Number = .unknown
    /// Good lines: each was one tick.
    public var lines = 0
    /// Lines that were refused.
    public var errors = 0
    /// The last of them in words; absent when there was none.
    public var lastError: String?
    /// Simulators since the start of the process.
    public var connections = 0
    /// Seconds of simulated time per second, over the last second.
    public var speed: Number = .unknown
    /// Optional sensors of the first line, by their names on the wire.
    public var sensors: [String] = []
    /// Those of them that the last line did not have.
    public var missing: [String] = []
    /// Values of sensors that are missing in the first line.
    public var ignoredValues = 0

    /// A socket that nobody has connected to.
    public init() {}
}
