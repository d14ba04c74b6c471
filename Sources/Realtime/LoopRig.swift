package import GimbalCore

/// A control loop with all its other ends in one hand and no threads: for tests, benchmarks, and runs in which time is
/// an argument.
package struct LoopRig: ~Copyable {
    package var commands: RingWriter<Command>
    package var tuning: MailboxWriter<Stabilizer.Parameters>
    package var telemetry: RingReader<TelemetryRecord>
    var samples: RingWriter<SampleDelivery>
    var answers: MailboxReader<LoopAnswer>
    let handles = SharedHandles()
    private var loop: ControlLoop

    /// - Parameters:
    ///   - parameters: The stabilizer's tuning.
    ///   - settings: Rate and capacities; the threads' wishes are not used.
    package init(parameters: Stabilizer.Parameters, settings: RuntimeSettings = RuntimeSettings()) {
        let commands = makeRing(of: Command.self, capacity: settings.commandCapacity)
        let telemetry = makeRing(
            of: TelemetryRecord.self, capacity: settings.telemetryCapacity)
        let samples = makeRing(of: SampleDelivery.self, capacity: 4 * SampleBatch.capacity)
        let tuning = makeMailbox(initial: parameters)
        let motors = makeMailbox(initial: LoopAnswer.none)
        loop = ControlLoop(
            stabilizer: Stabilizer(parameters: parameters),
            ports: LoopPorts(
                commands: commands.reader, tuning: tuning.reader, samples: samples.reader,
                motors: motors.writer, telemetry: telemetry.writer,
                motorsBell: handles.busBell, bus: handles.status, stages: handles.stages),
            periodNanoseconds: Int64((1e9 / settings.rateHz).rounded()),
            warmUpTicks: settings.warmUpTicks)
        self.commands = commands.writer
        self.tuning = tuning.writer
        self.telemetry = telemetry.reader
        self.samples = samples.writer
        answers = motors.reader
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

    /// Runs one tick through the checked root.
    package mutating func tick(now: Instant) { runTick(&loop, now: now) }

    /// The newest output, as the bus thread would fetch it.
    package mutating func output() -> MotorOutput { answers.read().value.output }
}
