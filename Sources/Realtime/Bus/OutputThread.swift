internal import GimbalCore

/// Outputs with separate threads, because the outputs must not wait for the sensors' bus.
public struct OutputBuses: Sendable {
    /// The motors' own bus; nil if the motors are on the sensors' bus.
    public var motors: (any OutputBus)?
    /// The GPIO line that switches the motors' power stages; nil without such a line.
    public var power: (any OutputBus)?

    /// Creates a set of outputs.
    public init(motors: (any OutputBus)? = nil, power: (any OutputBus)? = nil) {
        self.motors = motors
        self.power = power
    }
}

/// Thread that only writes outputs. The thread sleeps until the loop has computed an output, writes
/// this output, and sleeps again.
///
/// The loop determines when the thread writes. If the loop is silent for 1.25 periods, the thread
/// writes the newest output again. If the newest output is too old, the thread turns the device
/// off.
struct OutputThread: ~Copyable {
    private var bus: any OutputBus
    private var answers: MailboxReader<LoopAnswer>
    private let lane: OutputLane
    private let patienceNanoseconds: Int64
    private var writer: AnswerWriter

    /// Creates the thread's state.
    ///
    /// - Parameters:
    ///   - bus: The device to which the thread writes.
    ///   - answers: Mailbox with the loop's newest output.
    ///   - lane: Handles shared with the loop.
    ///   - periodNanoseconds: Period of the loop, ns.
    ///   - stages: Histograms for the thread's writes; nil disables the histograms.
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

    /// Runs until a stop is requested. The thread turns the device off at its start, because the
    /// earlier state is unknown. The thread turns the device off again before it ends.
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

    /// Writes the newest output to the device once.
    mutating func period(now: Instant) { writer.write(answers.read(), to: &bus, now: now) }
}

/// Handles that the loop shares with an output thread. The runtime frees the memory of the handles.
struct OutputLane: BitwiseCopyable, Sendable {
    /// Doorbell that the loop rings after each output.
    let bell = Doorbell()
    let stop = StopFlag()
    let status = BusStatus()

    func deallocate() {
        bell.deallocate()
        stop.deallocate()
        status.deallocate()
    }
}
