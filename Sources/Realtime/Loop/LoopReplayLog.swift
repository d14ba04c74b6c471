public import GimbalCore

/// Kind of a frame in the loop's replay log.
public enum ReplayLogKind: UInt32, BitwiseCopyable, Sendable {
    /// Filler frame without content; it occupies the remainder before the end of the ring.
    case filler
    /// The state of the `Stabilizer` before the tick.
    case state
    /// The `Stabilizer.Parameters` that have come into force.
    case parameters
    /// A `TimedCommand` that was executed.
    case command
    /// An `IMUSample`, as the bus delivered it.
    case sample
    /// A `ReplayLogTick`: the results of the tick, and the tick's inputs other than samples and
    /// commands.
    case tick
}

/// Results of one tick, and the tick's inputs other than samples and commands.
public struct ReplayLogTick: Sendable, BitwiseCopyable {
    /// Conditions that the loop and its bus have reported to the stabilizer.
    public var reported: Conditions
    /// Number of integrated samples.
    public var samples: Int32
    /// Number of ticks whose frames were lost because the replay log was full, since the start.
    public var lostTicks: UInt32
    /// True if the loop kept the outputs off in this tick because of the warm-up.
    public var isWarmingUp: Bool
    /// True if only the supervisor ran in this tick, at the time of the previous tick, see
    /// `ControlLoop.look`.
    public var isLook: Bool
    /// The published values, as in the telemetry ring.
    public var record: TelemetryRecord
}

/// The loop's end of the flight recorder's replay log. The loop writes all data for a replay to the
/// log, in order.
///
/// If one frame of a tick is missing, the later ticks cannot be replayed. Therefore, after the
/// first dropped frame, all frames are dropped until there is room for a complete state again.
struct LoopReplayLog: ~Copyable, Sendable {
    private var ring: ReplayLogWriter
    /// True if all frames are dropped until the next complete state.
    private var isBroken = true
    /// Number of ticks that are missing in the replay log, since the start.
    private(set) var lostTicks: UInt32 = 0
    private var lastState = Instant(nanoseconds: .min)
    private var tick: UInt64 = 0
    private var now = Instant(nanoseconds: 0)

    /// Interval between two complete states, ns.
    static var stateNanoseconds: Int64 { 1_000_000_000 }
    /// Free space, bytes, that is required to continue after dropped frames; enough for a complete
    /// state and some ticks.
    static var resumeBytes: UInt { UInt(MemoryLayout<Stabilizer>.size) &+ 65536 }

    init(ring: consuming ReplayLogWriter) { self.ring = ring }

    /// Begins a tick.
    ///
    /// - Returns: True if a complete state is due: the last complete state is a second old or was
    ///   dropped. The caller passes the state only when the state is due, because the call copies
    ///   the whole state.
    mutating func begin(tick: UInt64, now: Instant) -> Bool {
        guard ring.isOn else { return false }
        self.tick = tick
        self.now = now
        if isBroken { return ring.hasRoom(Self.resumeBytes) }
        return now.nanoseconds &- lastState.nanoseconds >= Self.stateNanoseconds
    }

    /// Records the complete state at the beginning of the tick.
    mutating func keep(state: borrowing Stabilizer) {
        isBroken = !ring.append(.state, tick: tick, now: now, copy state)
        lastState = now
    }

    /// Interrupts the replay log, because the loop has been reset. The next frame must be a
    /// complete state, because the later frames are not a continuation of the earlier frames.
    mutating func restart() { isBroken = true }

    /// Records new tuning.
    mutating func keep(_ parameters: Stabilizer.Parameters) { put(.parameters, parameters) }

    /// Records a command.
    mutating func keep(_ command: TimedCommand) { put(.command, command) }

    /// Records a sample.
    mutating func keep(_ sample: IMUSample) { put(.sample, sample) }

    /// Records the results of a tick; the frames of the tick are then complete.
    mutating func end(_ result: ReplayLogTick) {
        guard ring.isOn else { return }
        put(.tick, result)
        if isBroken { lostTicks &+= 1 }
    }

    private mutating func put<Value: BitwiseCopyable>(_ kind: ReplayLogKind, _ value: Value) {
        guard ring.isOn, !isBroken else { return }
        isBroken = !ring.append(kind, tick: tick, now: now, value)
    }
}

/// One frame of the replay log: an input or a result of the loop.
public struct ReplayLogFrame {
    /// Kind of the frame.
    public let kind: ReplayLogKind
    /// Number of the tick.
    public let tick: UInt64
    /// Beginning of the tick.
    public let now: Instant
    /// Raw memory of the value, valid during the call of `visit`.
    public let bytes: UnsafeRawBufferPointer

    /// Creates a frame.
    public init(kind: ReplayLogKind, tick: UInt64, now: Instant, bytes: UnsafeRawBufferPointer) {
        self.kind = kind
        self.tick = tick
        self.now = now
        self.bytes = bytes
    }

    /// Decodes the value in the frame's bytes.
    ///
    /// - Parameter type: Type of the value for this `kind` of frame.
    /// - Returns: A copy of the value.
    public func value<Value: BitwiseCopyable>(as type: Value.Type) -> Value {
        bytes.loadUnaligned(as: type)
    }
}

/// The recorder's end of the loop's replay log.
@frozen
public struct ReplayLogConsumer: ~Copyable, Sendable {
    @usableFromInline var ring: ReplayLogReader

    init(ring: consuming ReplayLogReader) { self.ring = ring }

    /// Removes every waiting frame, oldest first. The method never waits; only one thread at a time
    /// can call it.
    ///
    /// - Parameter visit: Function that receives each frame.
    public mutating func drain(_ visit: (ReplayLogFrame) -> Void) {
        ring.drain { header, bytes in
            visit(
                ReplayLogFrame(kind: header.kind, tick: header.tick, now: header.now, bytes: bytes))
        }
    }
}
