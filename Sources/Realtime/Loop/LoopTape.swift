public import GimbalCore

/// What a frame of the loop's tape holds.
public enum TapeKind: UInt32, BitwiseCopyable, Sendable {
    /// Nothing: the rest of the ring before its end.
    case filler
    /// A `Stabilizer`, as it was before the tick.
    case state
    /// `Stabilizer.Parameters` that came into force.
    case parameters
    /// A `Command` that was carried out.
    case command
    /// An `IMUSample`, as the bus delivered it.
    case sample
    /// A `TapeTick`: what the tick was given besides, and what came out.
    case tick
}

/// What one tick was given besides samples and requests, and what came out of it: of the snapshot
/// only what a recording shows, 384 bytes instead of 1,040, because the tape carries one for every
/// tick.
public struct TapeTick: Sendable, BitwiseCopyable {
    /// What the loop and its bus knew to be wrong.
    public var reported: Conditions
    /// Samples that it integrated.
    public var samples: Int32
    /// Ticks whose frames found the tape full, since the start.
    public var lostTicks: UInt32
    /// Whether the loop kept the outputs off because it was warming up.
    public var isWarmingUp: Bool
    /// Whether time stood still: the supervisor alone was asked, see `ControlLoop.look`.
    public var isLook: Bool
    /// See `StabilizerSnapshot`, also for the following.
    public var mode: Mode
    /// Where the outputs stand.
    public var phase: Supervisor.Phase
    /// Whether the estimator sees rest.
    public var isAtRest: Bool
    /// Share of the output that reaches the motors.
    public var authority: Double
    /// Everything that holds.
    public var conditions: Conditions
    /// What the motors were told.
    public var output: MotorOutput
    /// Body to earth.
    public var attitude: Quaternion
    /// Body to earth.
    public var setpoint: Quaternion
    /// Body frame, rad.
    public var attitudeError: Vector3
    /// Body frame, rad/s.
    public var rate: Vector3
    /// Body frame, rad/s.
    public var bias: Vector3
    /// Radians.
    public var joints: AxisVector
    /// Radians.
    public var inclinationSigma: Double
    /// Radians per second.
    public var gyroVibration: Double
    /// 0...1.
    public var accelerationWeight: Double
    /// Where the time went.
    public var timing: TickTiming
}

/// The loop's end of the flight recorder: everything that a replay needs, in order.
///
/// A tick whose frames do not all fit would make the replay of those after it wrong; so from the
/// first frame that is dropped on everything is, until there is room for a whole state again.
struct LoopTape: ~Copyable, Sendable {
    private var ring: TapeWriter
    /// Nothing is kept until the next state.
    private var isBroken = true
    /// Ticks that are not on the tape, since the start.
    private(set) var lostTicks: UInt32 = 0
    private var lastState = Instant(nanoseconds: .min)
    private var tick: UInt64 = 0
    private var now = Instant(nanoseconds: 0)

    /// Between two whole states.
    static var stateNanoseconds: Int64 { 1_000_000_000 }
    /// What must be free before the tape goes on after a loss: a state, and some ticks behind it.
    static var resumeBytes: UInt { UInt(MemoryLayout<Stabilizer>.size) &+ 65536 }

    init(ring: consuming TapeWriter) { self.ring = ring }

    /// Begins a tick.
    ///
    /// - Returns: Whether a whole state is due: the last one is a second old, or was lost. It is
    ///   asked for only then, because to hand it over is to copy it.
    mutating func begin(tick: UInt64, now: Instant) -> Bool {
        guard ring.isOn else { return false }
        self.tick = tick
        self.now = now
        if isBroken { return ring.hasRoom(Self.resumeBytes) }
        return now.nanoseconds &- lastState.nanoseconds >= Self.stateNanoseconds
    }

    /// Keeps the whole state with which the tick begins.
    mutating func keep(state: borrowing Stabilizer) {
        isBroken = !ring.append(.state, tick: tick, now: now, copy state)
        lastState = now
    }

    /// Whoever runs the loop starts it afresh: what follows does not follow from what was before.
    mutating func restart() { isBroken = true }

    /// Keeps new tuning.
    mutating func keep(_ parameters: Stabilizer.Parameters) { put(.parameters, parameters) }

    /// Keeps a request.
    mutating func keep(_ command: Command) { put(.command, command) }

    /// Keeps a sample.
    mutating func keep(_ sample: IMUSample) { put(.sample, sample) }

    /// Ends a tick.
    mutating func end(_ result: TapeTick) {
        guard ring.isOn else { return }
        put(.tick, result)
        if isBroken { lostTicks &+= 1 }
    }

    private mutating func put<Value: BitwiseCopyable>(_ kind: TapeKind, _ value: Value) {
        guard ring.isOn, !isBroken else { return }
        isBroken = !ring.append(kind, tick: tick, now: now, value)
    }
}

/// One thing that the loop was given, or did.
public struct TapeFrame {
    /// What it is.
    public let kind: TapeKind
    /// Number of the tick.
    public let tick: UInt64
    /// When the tick began.
    public let now: Instant
    /// The value as it lies in memory; valid while the frame is looked at.
    public let bytes: UnsafeRawBufferPointer

    /// A frame with these parts.
    public init(kind: TapeKind, tick: UInt64, now: Instant, bytes: UnsafeRawBufferPointer) {
        self.kind = kind
        self.tick = tick
        self.now = now
        self.bytes = bytes
    }

    /// The value.
    ///
    /// - Parameter type: As `kind` says.
    /// - Returns: A copy.
    public func value<Value: BitwiseCopyable>(as type: Value.Type) -> Value {
        bytes.loadUnaligned(as: type)
    }
}

/// The recorder's end of the loop's tape.
@frozen
public struct TapeRecorderEnd: ~Copyable, Sendable {
    @usableFromInline var ring: TapeReader

    init(ring: consuming TapeReader) { self.ring = ring }

    /// Takes every frame that waits, in the order of the loop. Never waits; one thread at a time.
    ///
    /// - Parameter visit: Each frame.
    public mutating func drain(_ visit: (TapeFrame) -> Void) {
        ring.drain { header, bytes in
            visit(
                TapeFrame(kind: header.kind, tick: header.tick, now: header.now, bytes: bytes))
        }
    }
}
