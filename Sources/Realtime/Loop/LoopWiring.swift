internal import GimbalCore

/// A new control loop and the other ends of its rings and mailboxes, to be passed to their owners.
struct LoopWiring: ~Copyable {
    var loop: ControlLoop
    var commands: RingWriter<TimedCommand>
    var tuning: MailboxWriter<Stabilizer.Parameters>
    var telemetry: RingReader<TelemetryRecord>
    var replayLog: ReplayLogConsumer
    var samples: RingWriter<SampleDelivery>
    var answers: MailboxReader<LoopAnswer>
    var ownBus: MailboxReader<LoopAnswer>
    var power: MailboxReader<LoopAnswer>

    /// Creates the loop and its connections.
    ///
    /// - Parameters:
    ///   - parameters: The stabilizer's tuning.
    ///   - settings: Rate and capacities.
    ///   - handles: Handles of the other threads. The creator of the handles frees them after the
    ///     loop has ended.
    init(
        parameters: Stabilizer.Parameters, settings: RuntimeSettings, handles: SharedHandles
    ) {
        precondition(settings.rateHz > 0, "the rate must be positive")
        let commands = makeRing(of: TimedCommand.self, capacity: settings.commandCapacity)
        let telemetry = makeRing(
            of: TelemetryRecord.self, capacity: settings.telemetryCapacity)
        let replayLog = makeReplayLogRing(bytes: settings.replayLogBytes)
        let samples = makeRing(of: SampleDelivery.self, capacity: 4 * SampleBatch.capacity)
        let tuning = makeMailbox(initial: parameters)
        let motors = makeMailbox(initial: LoopAnswer.none)
        let ownBus = makeMailbox(initial: LoopAnswer.none)
        let power = makeMailbox(initial: LoopAnswer.none)
        loop = ControlLoop(
            stabilizer: Stabilizer(parameters: parameters),
            ports: LoopPorts(
                commands: commands.reader, tuning: tuning.reader, samples: samples.reader,
                motors: motors.writer, ownBus: ownBus.writer, power: power.writer,
                telemetry: telemetry.writer, replayLog: LoopReplayLog(ring: replayLog.writer),
                motorsBell: handles.busBell, lanes: handles.lanes,
                bus: handles.status, stages: handles.stages),
            settings: settings)
        self.commands = commands.writer
        self.tuning = tuning.writer
        self.telemetry = telemetry.reader
        self.replayLog = ReplayLogConsumer(ring: replayLog.reader)
        self.samples = samples.writer
        answers = motors.reader
        self.ownBus = ownBus.reader
        self.power = power.reader
    }
}
