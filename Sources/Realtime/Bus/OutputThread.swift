internal import GimbalCore

/// What has threads of its own because it must not wait for the bus of the sensors.
public struct OutputBuses: Sendable {
    /// The motors; nil: they are on the bus of the sensors.
    public var motors: (any OutputBus)?
    /// The line that switches the motors' power stages; nil: there is none.
    public var power: (any OutputBus)?

    /// These buses.
    public init(motors: (any OutputBus)? = nil, power: (any OutputBus)? = nil) {
        self.motors = motors
        self.power = power
    }
}

/// A thread that only writes: it sleeps until the loop has answered, puts the answer in force, and
/// sleeps again.
///
/// The loop is its clock. One that is silent for a period and a quarter is not waited for: the
/// newest answer is written again, and off once that answer is too old.
struct OutputThread: ~Copyable {
    private var bus: any OutputBus
    private var answers: MailboxReader<LoopAnswer>
    private let lane: OutputLane
    private let patienceNanoseconds: Int64
    private var writer: AnswerWriter

    /// - Parameters:
    ///   - bus: What is written to.
    ///   - answers: The loop's.
    ///   - lane: The handles that it shares with the loop.
    ///   - periodNanoseconds: The loop's.
    ///   - stages: Where the times of its writes go; nil: nowhere.
    init(
        bus: any OutputBus, answers: consuming MailboxReader<LoopAnswer>, lane: OutputLane,
        periodNanoseconds: Int64, stages: StageHistograms?
    ) {
        self.bus = bus
        self.answers = answers
        self.lane = lane
        patienceNanoseconds = periodNanoseconds + periodNanoseconds / BusLimits.answerShare
        writer = AnswerWriter(status: lane.status, stages: stages)
    }

    /// Runs until asked to stop, and turns off before it returns. It begins by turning off: who
    /// knows what was before.
    mutating func run() {
        try? bus.allOff()
        while !lane.stop.isSet {
            let now = MonotonicClock.now
            lane.status.noteTurn(now)
            _ = lane.bell.wait(
                until: Instant(nanoseconds: now.nanoseconds + patienceNanoseconds))
            if lane.stop.isSet { break }
            period(now: MonotonicClock.now)
        }
        writer.turnOff(&bus)
    }

    /// One write.
    mutating func period(now: Instant) { writer.write(answers.read(), to: &bus, now: now) }
}

/// The handles that the loop and a thread that only writes share. Freed by the runtime.
struct OutputLane: BitwiseCopyable, Sendable {
    /// Rung by the loop when it has answered.
    let bell = Doorbell()
    let stop = StopFlag()
    let status = BusStatus()

    func deallocate() {
        bell.deallocate()
        stop.deallocate()
        status.deallocate()
    }
}
