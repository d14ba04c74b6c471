public import GimbalCore

/// A lockstep engine with its connections, to be passed to their owners.
@frozen
public struct LockstepAssembly: ~Copyable, Sendable {
    /// The engine, which executes the loop tick by tick.
    public var engine: LockstepEngine
    /// Requests to the loop. Only the `Commander` writes to the ring of requests.
    public var commands: RingWriter<TimedCommand>
    /// Tuning for the loop; the newest tuning replaces earlier tunings.
    public var tuning: MailboxWriter<Stabilizer.Parameters>
    /// Records of the loop, one for each tick.
    public var telemetry: RingReader<TelemetryRecord>
    /// Consumer's end of the replay log, which contains all data for a replay.
    public var replayLog: ReplayLogConsumer
}

/// Control loop without real-time threads. The caller delivers a sample, and the tick is complete
/// when the call returns. The loop, rings and mailboxes have the types that `GimbalRuntime` also
/// uses.
///
/// The engine reads no clock. The results of the engine depend only on the samples and their times.
/// Only one thread at a time can use the engine.
public struct LockstepEngine: ~Copyable, @unchecked Sendable {
    /// The loop is on the heap. The engine is moved several times, and copies of the loop would
    /// need too much stack.
    private let loop: UnsafeMutablePointer<ControlLoop>
    private var samples: RingWriter<SampleDelivery>
    private var answers: MailboxReader<LoopAnswer>
    private let handles: SharedHandles

    private init(
        loop: consuming ControlLoop, samples: consuming RingWriter<SampleDelivery>,
        answers: consuming MailboxReader<LoopAnswer>, handles: SharedHandles
    ) {
        self.loop = .allocate(capacity: 1)
        self.loop.initialize(to: loop)
        self.samples = samples
        self.answers = answers
        self.handles = handles
    }

    deinit {
        loop.deinitialize(count: 1)
        loop.deallocate()
        handles.deallocate()
    }

    /// Creates a loop in its initial state.
    ///
    /// - Parameters:
    ///   - parameters: The stabilizer's tuning at the start.
    ///   - settings: Capacities of the rings; rate, threads and warm-up are not used.
    /// - Returns: The engine and its connections.
    public static func assemble(
        parameters: Stabilizer.Parameters, settings: RuntimeSettings = RuntimeSettings()
    ) -> LockstepAssembly {
        var settings = settings
        // No warm-up is needed, because latency does not matter in lockstep.
        settings.warmUpTicks = 0
        // One tick executes all waiting requests. Therefore all requests that were answered before
        // a message from the simulator are in force when the message is processed.
        settings.requestsPerTick = settings.commandCapacity
        // The duration of a tick is irrelevant in simulated time.
        settings.watchesOverruns = false
        let handles = SharedHandles()
        let wiring = LoopWiring(parameters: parameters, settings: settings, handles: handles)
        return LockstepAssembly(
            engine: LockstepEngine(
                loop: wiring.loop, samples: wiring.samples, answers: wiring.answers,
                handles: handles),
            commands: wiring.commands, tuning: wiring.tuning, telemetry: wiring.telemetry,
            replayLog: wiring.replayLog)
    }

    /// Executes one tick at the time of the sample.
    ///
    /// - Parameters:
    ///   - sample: The sample. The sample's time must not be earlier than the time of the previous
    ///     sample.
    ///   - conditions: Faults that the caller reports, for this tick.
    /// - Returns: The motors' output until the next tick.
    public mutating func tick(_ sample: IMUSample, conditions: Conditions) -> MotorOutput {
        samples.push(
            SampleDelivery(
                sample: sample, handedOver: sample.time, wakeNanoseconds: 0, readNanoseconds: 0,
                writeNanoseconds: 0, imuToMotorNanoseconds: 0))
        loop.pointee.outsideConditions = conditions
        runTick(&loop.pointee, now: sample.time)
        return answers.read().value.output
    }

    /// Delivers a sample for the next tick. Tests use this method for late, missing, multiple or
    /// wrongly timed samples.
    ///
    /// - Parameters:
    ///   - sample: The delivered sample.
    ///   - now: Time of the next tick.
    package mutating func deliver(_ sample: IMUSample, at now: Instant) {
        samples.push(
            SampleDelivery(
                sample: sample, handedOver: now, wakeNanoseconds: 0, readNanoseconds: 0,
                writeNanoseconds: 0, imuToMotorNanoseconds: 0))
    }

    /// Executes one tick at a given time, with the samples that were delivered since the last tick.
    ///
    /// - Parameters:
    ///   - now: Time of the tick, later than the time of the last tick.
    ///   - conditions: Faults that the caller reports, for this tick.
    /// - Returns: The motors' output until the next tick.
    package mutating func tick(at now: Instant, conditions: Conditions) -> MotorOutput {
        loop.pointee.outsideConditions = conditions
        runTick(&loop.pointee, now: now)
        return answers.read().value.output
    }

    /// Runs the supervisor again at the time of the last tick, without a sample. After this run,
    /// the telemetry shows events between two ticks.
    ///
    /// - Parameters:
    ///   - conditions: The new conditions.
    ///   - now: The time of the last tick.
    public mutating func look(_ conditions: Conditions, now: Instant) {
        loop.pointee.outsideConditions = conditions
        loop.pointee.look(now: now)
        _ = answers.read()
    }

    /// Resets the loop, with the newest tuning; pending requests are discarded.
    public mutating func restart() { loop.pointee.restart() }

    /// The stabilizer's values after the last tick.
    public var snapshot: StabilizerSnapshot { loop.pointee.stabilizer.snapshot }

    /// Histograms of the durations of each stage since the engine was created. The engine frees the
    /// histograms when it is destroyed.
    public var stages: StageHistograms { handles.stages }
}
