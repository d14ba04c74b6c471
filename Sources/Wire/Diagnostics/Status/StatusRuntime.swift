/// Timing of the loop.
public struct LoopStatus: Hashable, Sendable, Codable {
    /// Value of the setting `loop.rate_hz`, Hz.
    public var rateHz: Number = .unknown
    /// Ticks per second over the last second.
    public var achievedHz: Number = .unknown
    /// Number of ticks since the start.
    public var ticks = 0
    /// Number of ticks that took longer than their period.
    public var overruns = 0
    /// Number of ticks that began at their deadline because the sample was late.
    public var lateSamples = 0
    /// Durations of the loop's steps `wake`, `bus`, `estimate`, `control` and `write`, and the
    /// total `imu_to_motor`.
    public var stages: [StageTiming] = []

    /// Creates a status of the loop with unknown values.
    public init() {}
}

/// Statistics of the duration of one step of the loop since the start.
public struct StageTiming: Hashable, Sendable, Codable {
    /// Name of the step, such as `control`.
    public var name: String
    /// Median of the duration, µs.
    public var p50Us: Number
    /// 99th percentile of the duration, µs.
    public var p99Us: Number
    /// Largest duration, µs.
    public var maxUs: Number

    /// Creates the statistics of a step.
    public init(name: String, p50Us: Number, p99Us: Number, maxUs: Number) {
        self.name = name
        self.p50Us = p50Us
        self.p99Us = p99Us
        self.maxUs = maxUs
    }
}

/// Counters of data that was lost between threads and on buses, since the start.
public struct FaultStatus: Hashable, Sendable, Codable {
    /// Number of samples that were dropped because the sample ring was full.
    public var sampleDrops = 0
    /// Number of commands that were dropped because the command ring was full.
    public var commandDrops = 0
    /// Number of records that were dropped because the telemetry ring was full.
    public var telemetryDrops = 0
    /// Number of failed transfers on buses.
    public var busErrors = 0
    /// Numbers of rejected samples, by reason, such as `{"imu_implausible": 3}`.
    public var rejectedSamples: [String: Int] = [:]
    /// The last error of a bus or a thread as text; absent if no error has occurred. If a second bus
    /// fails at present, its error follows.
    public var lastError: String?
    /// Usual remedies of these errors; absent if no error has occurred.
    public var remedy: String?

    /// Creates counters at zero.
    public init() {}
}

/// Privileges that the kernel granted.
public struct RealtimeStatus: Hashable, Sendable, Codable {
    /// Scheduling policy of the loop thread: `SCHED_FIFO` or `SCHED_OTHER`.
    public var policy = ""
    /// Priority of the loop thread; 0 without real-time scheduling.
    public var priority = 0
    /// True if all memory is locked.
    public var isMemoryLocked = false
    /// True if the kernel is fully preemptible; absent if the kernel does not report it.
    public var isPreemptRt: Bool?
    /// Missing privileges and their remedies, one sentence each; empty if there are none.
    public var sentences: [String] = []

    /// Creates a report without any privileges.
    public init() {}
}

/// Memory of the process.
public struct MemoryStatus: Hashable, Sendable, Codable {
    /// Resident memory of the process, kB.
    public var residentKb: Number = .unknown
    /// Memory locked in RAM, kB.
    public var lockedKb: Number = .unknown
    /// Number of major page faults since the start.
    public var majorFaults = 0

    /// Creates a memory status with unknown values.
    public init() {}
}

/// Connections to the diagnostics socket.
public struct ClientStatus: Hashable, Sendable, Codable {
    /// Number of open connections.
    public var connected = 0
    /// Largest permitted number of open connections.
    public var limit = 0
    /// Number of connections accepted since the start.
    public var accepted = 0
    /// Number of connections refused because the limit was reached.
    public var refused = 0
    /// Number of idle connections that were closed to make room for another client.
    public var evicted = 0
    /// Number of connections closed because the client did not read its replies.
    public var stalled = 0
    /// Number of active subscriptions of all clients.
    public var subscriptions = 0
    /// Number of subscription messages that were dropped because a client did not read fast enough.
    public var droppedMessages = 0

    /// Creates a state without connected clients.
    public init() {}
}

/// Configuration files and unsaved changes.
public struct ConfigurationStatus: Hashable, Sendable, Codable {
    /// Configuration files that were read, in this order.
    public var files: [String] = []
    /// Keys of settings with an unsaved live change.
    public var unsaved: [String] = []
    /// Keys whose new value takes effect after a restart.
    public var needsRestart: [String] = []
    /// Keys of saved values without effect, because they are not valid with the present files.
    public var ignored: [String] = []
    /// Keys of settings whose values in the files have no effect, because the set-up has saved other
    /// values.
    public var overridden: [String] = []

    /// Creates a configuration with the built-in default of every setting.
    public init() {}
}

/// State of the simulator that supplies the clock. All counters except `connections` apply to the
/// current connection.
public struct LockstepStatus: Hashable, Sendable, Codable {
    /// Value of the setting `hardware.lockstep.socket`.
    public var socket = ""
    /// State of the connection: `waiting`, `connected`, or `silent` (no line for longer than
    /// `hardware.lockstep.timeout`).
    public var state = "waiting"
    /// The simulator's time `t` in its last valid line, s.
    public var t: Number = .unknown
    /// Number of valid lines from the simulator. Each line causes one tick.
    public var lines = 0
    /// Number of refused lines from the simulator.
    public var errors = 0
    /// The last refusal of a line, as text; absent if no line was refused.
    public var lastError: String?
    /// Number of simulators that have connected since the start of the process.
    public var connections = 0
    /// Simulated seconds per real second, over the last real second.
    public var speed: Number = .unknown
    /// Names of the optional sensors in the simulator's first line.
    public var sensors: [String] = []
    /// Names of optional sensors in the first line but not in the last line.
    public var missing: [String] = []
    /// Number of values that were ignored because the simulator's first line did not contain their
    /// sensor.
    public var ignoredValues = 0

    /// Creates the state without a connection.
    public init() {}
}
