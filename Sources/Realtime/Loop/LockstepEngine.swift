public import GimbalCore

/// A lockstep engine with the doors that lead into it, on their way to their owners.
@frozen
public struct LockstepAssembly: ~Copyable, Sendable {
    /// Runs the loop, tick by tick.
    public var engine: LockstepEngine
    /// Requests to the loop. One producer: the Commander.
    public var commands: RingWriter<TimedCommand>
    /// Tuning for the loop; the newest wins.
    public var tuning: MailboxWriter<Stabilizer.Parameters>
    /// One record per tick.
    public var telemetry: RingReader<TelemetryRecord>
    /// Everything that a replay needs.
    public var tape: TapeRecorderEnd
}

/// The control loop without real-time threads: whoever holds it delivers a sample, and the tick has
/// run when the call returns. Same loop, same rings and mailboxes as under `GimbalRuntime`; the
/// loop cannot tell the difference.
///
/// No time but the samples' reaches the result. One thread at a time.
public struct LockstepEngine: ~Copyable, @unchecked Sendable {
    /// Not in place: an engine is handed on several times, and a loop is too large for that on a
    /// small stack.
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

    /// Builds a loop that has seen nothing.
    ///
    /// - Parameters:
    ///   - parameters: The stabilizer's tuning at the start.
    ///   - settings: Capacities; rate, threads and warm-up are not used.
    /// - Returns: The engine and its doors.
    public static func assemble(
        parameters: Stabilizer.Parameters, settings: RuntimeSettings = RuntimeSettings()
    ) -> LockstepAssembly {
        var settings = settings
        // Nothing happens for the first time at a moment that matters.
        settings.warmUpTicks = 0
        // Whatever was answered before a line is in force at that line.
        settings.requestsPerTick = settings.commandCapacity
        // How long a tick takes is no business of simulated time.
        settings.watchesOverruns = false
        let handles = SharedHandles()
        let wiring = LoopWiring(parameters: parameters, settings: settings, handles: handles)
        return LockstepAssembly(
            engine: LockstepEngine(
                loop: wiring.loop, samples: wiring.samples, answers: wiring.answers,
                handles: handles),
            commands: wiring.commands, tuning: wiring.tuning, telemetry: wiring.telemetry,
            tape: wiring.tape)
    }

    /// One tick at the time of the sample.
    ///
    /// - Parameters:
    ///   - sample: Not older than the one before.
    ///   - conditions: What the caller knows to be wrong; holds for this tick.
    /// - Returns: What the motors are to do until the next tick.
    public mutating func tick(_ sample: IMUSample, conditions: Conditions) -> MotorOutput {
        samples.push(
            SampleDelivery(
                sample: sample, handedOver: sample.time, wakeNanoseconds: 0, readNanoseconds: 0,
                writeNanoseconds: 0, imuToMotorNanoseconds: 0))
        loop.pointee.outsideConditions = conditions
        runTick(&loop.pointee, now: sample.time)
        return answers.read().value.output
    }

    /// A sample that counts in the next tick, for runs in which samples come late, not at all,
    /// several at once, or with a wrong time.
    ///
    /// - Parameters:
    ///   - sample: What has come.
    ///   - now: The time of that tick.
    package mutating func deliver(_ sample: IMUSample, at now: Instant) {
        samples.push(
            SampleDelivery(
                sample: sample, handedOver: now, wakeNanoseconds: 0, readNanoseconds: 0,
                writeNanoseconds: 0, imuToMotorNanoseconds: 0))
    }

    /// One tick at a time of its own, with the samples that were delivered since the last one.
    ///
    /// - Parameters:
    ///   - now: Later than the last tick.
    ///   - conditions: What the caller knows to be wrong; holds for this tick.
    /// - Returns: What the motors are to do until the next tick.
    package mutating func tick(at now: Instant, conditions: Conditions) -> MotorOutput {
        loop.pointee.outsideConditions = conditions
        runTick(&loop.pointee, now: now)
        return answers.read().value.output
    }

    /// Supervises once more without a sample and without time passing, so that the telemetry says
    /// what has happened between two ticks.
    ///
    /// - Parameters:
    ///   - conditions: What has happened.
    ///   - now: The time of the last tick.
    public mutating func look(_ conditions: Conditions, now: Instant) {
        loop.pointee.outsideConditions = conditions
        loop.pointee.look(now: now)
        _ = answers.read()
    }

    /// Starts afresh with the newest tuning; requests that no tick has taken are forgotten.
    public mutating func restart() { loop.pointee.restart() }

    /// What the stabilizer thinks since the last tick.
    public var snapshot: StabilizerSnapshot { loop.pointee.stabilizer.snapshot }

    /// Durations of each stage since the engine was made; freed with it.
    public var stages: StageHistograms { handles.stages }
}
