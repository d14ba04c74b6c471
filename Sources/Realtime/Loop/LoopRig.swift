package import GimbalCore

/// Control loop without threads, together with the other ends of all its connections. Tests
/// and benchmarks use the loop in this form, and pass the time as an argument.
package struct LoopRig: ~Copyable {
    var commands: RingWriter<TimedCommand>
    package var tuning: MailboxWriter<Stabilizer.Parameters>
    package var telemetry: RingReader<TelemetryRecord>
    package var replayLog: ReplayLogConsumer
    var samples: RingWriter<SampleDelivery>
    var answers: MailboxReader<LoopAnswer>
    let handles = SharedHandles()
    private var loop: ControlLoop

    /// Creates a loop.
    ///
    /// - Parameters:
    ///   - parameters: The stabilizer's tuning.
    ///   - settings: Rate and capacities; thread settings are not used.
    package init(parameters: Stabilizer.Parameters, settings: RuntimeSettings = RuntimeSettings()) {
        var settings = settings
        // The caller passes the time, so the duration of a tick does not matter.
        settings.watchesOverruns = false
        let wiring = LoopWiring(parameters: parameters, settings: settings, handles: handles)
        loop = wiring.loop
        commands = wiring.commands
        tuning = wiring.tuning
        telemetry = wiring.telemetry
        replayLog = wiring.replayLog
        samples = wiring.samples
        answers = wiring.answers
    }

    deinit { handles.deallocate() }

    /// Delivers a sample to the loop, as the bus thread does.
    @discardableResult
    package mutating func deliver(_ sample: IMUSample) -> Bool {
        samples.push(
            SampleDelivery(
                sample: sample, handedOver: sample.time, wakeNanoseconds: 0, readNanoseconds: 0,
                writeNanoseconds: 0, imuToMotorNanoseconds: 0))
    }

    /// Sends a command to the loop, as the `Commander` does.
    package mutating func ask(
        _ command: Command, received: Instant? = nil, validUntil: Instant = Instant(nanoseconds: 0)
    ) {
        commands.push(TimedCommand(command, received: received, validUntil: validUntil))
    }

    /// Runs one tick through `runTick`; the compiler checks `runTick` for allocations.
    package mutating func tick(now: Instant) { runTick(&loop, now: now) }

    /// The newest output, as the bus thread receives it.
    package mutating func output() -> MotorOutput { answers.read().value.output }
}
