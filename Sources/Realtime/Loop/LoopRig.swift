package import GimbalCore

/// A control loop with all its other ends in one hand and no threads: for tests, benchmarks, and
/// runs in which time is an argument.
package struct LoopRig: ~Copyable {
    var commands: RingWriter<TimedCommand>
    package var tuning: MailboxWriter<Stabilizer.Parameters>
    package var telemetry: RingReader<TelemetryRecord>
    package var tape: TapeRecorderEnd
    var samples: RingWriter<SampleDelivery>
    var answers: MailboxReader<LoopAnswer>
    let handles = SharedHandles()
    private var loop: ControlLoop

    /// - Parameters:
    ///   - parameters: The stabilizer's tuning.
    ///   - settings: Rate and capacities; the threads' wishes are not used.
    package init(parameters: Stabilizer.Parameters, settings: RuntimeSettings = RuntimeSettings()) {
        var settings = settings
        // How long a tick takes is no business of a time that is an argument.
        settings.watchesOverruns = false
        let wiring = LoopWiring(parameters: parameters, settings: settings, handles: handles)
        loop = wiring.loop
        commands = wiring.commands
        tuning = wiring.tuning
        telemetry = wiring.telemetry
        tape = wiring.tape
        samples = wiring.samples
        answers = wiring.answers
    }

    deinit { handles.deallocate() }

    /// Hands a sample to the loop, as the bus thread would.
    @discardableResult
    package mutating func deliver(_ sample: IMUSample) -> Bool {
        samples.push(
            SampleDelivery(
                sample: sample, handedOver: sample.time, wakeNanoseconds: 0, readNanoseconds: 0,
                writeNanoseconds: 0, imuToMotorNanoseconds: 0))
    }

    /// Asks the loop for something, as the Commander would.
    package mutating func ask(_ command: Command, received: Instant? = nil) {
        commands.push(TimedCommand(command, received: received))
    }

    /// Runs one tick through the checked root.
    package mutating func tick(now: Instant) { runTick(&loop, now: now) }

    /// The newest output, as the bus thread would fetch it.
    package mutating func output() -> MotorOutput { answers.read().value.output }
}
