internal import CLinuxShim
internal import GimbalCore

/// One bus and the thread that owns it: the clock of the system.
///
/// Every period: wake on the absolute grid, read, hand the samples over, ring; wait for the loop's
/// answer at most a quarter of a period; write the newest output. So the way from the IMU to the
/// motors is one read, one write and two wake-ups. Errors are counted and kept; they never stop the
/// thread.
struct BusThread: ~Copyable {
    private var bus: any GimbalBus
    private var ports: BusPorts
    private let periodNanoseconds: Int64
    private var schedule: PeriodicSchedule
    private var batch = SampleBatch()
    private var writer: AnswerWriter

    /// - Parameters:
    ///   - bus: Sensors, and motors unless they have a bus of their own.
    ///   - ports: The ways to the other threads.
    ///   - periodNanoseconds: How often it reads.
    ///   - drivesMotors: Whether the motors are on this bus, so that its writes are the ones to be
    ///     timed.
    init(
        bus: any GimbalBus, ports: consuming BusPorts, periodNanoseconds: Int64,
        drivesMotors: Bool = true
    ) {
        self.bus = bus
        writer = AnswerWriter(status: ports.status, stages: drivesMotors ? ports.stages : nil)
        self.ports = ports
        self.periodNanoseconds = periodNanoseconds
        schedule = PeriodicSchedule(
            start: Instant(nanoseconds: 0), periodNanoseconds: periodNanoseconds)
    }

    /// Runs until asked to stop, and turns the motors off before it returns.
    ///
    /// - Parameter stop: Looked at once a period.
    mutating func run(until stop: StopFlag) {
        schedule = PeriodicSchedule(
            start: MonotonicClock.now, periodNanoseconds: periodNanoseconds)
        while true {
            if let edge = bus.waitForData(until: schedule.next) {
                schedule.restart(at: edge)
            } else {
                _ = cl_sleep_until(schedule.next.nanoseconds)
            }
            let now = MonotonicClock.now
            if stop.isSet { break }
            period(now: now)
            ports.status.noteOverruns(schedule.advance(now: MonotonicClock.now))
        }
        writer.turnOff(&bus)
    }

    /// One period.
    ///
    /// - Parameter now: When the thread woke.
    mutating func period(now: Instant) {
        let wake = now.nanoseconds - schedule.next.nanoseconds
        ports.stages.wake.record(nanoseconds: wake)
        read(now: now)
        let handedOver = MonotonicClock.now
        let readNanoseconds = handedOver.nanoseconds - now.nanoseconds
        ports.stages.bus.record(nanoseconds: readNanoseconds)
        for index in 0..<batch.count {
            ports.samples.push(
                SampleDelivery(
                    sample: batch[index], handedOver: handedOver, wakeNanoseconds: wake,
                    readNanoseconds: readNanoseconds, writeNanoseconds: writer.writeNanoseconds,
                    imuToMotorNanoseconds: writer.imuToMotorNanoseconds))
        }
        // An answer that came too late last time must not pass for this period's: from then on
        // every output would be a period old.
        _ = ports.answers.read()
        ports.loopBell.ring()
        waitForAnswer(
            until: Instant(
                nanoseconds: handedOver.nanoseconds + periodNanoseconds / BusLimits.answerShare))
        writer.write(ports.answers.read(), to: &bus, now: MonotonicClock.now)
    }

    private mutating func read(now: Instant) {
        batch.removeAll()
        defer { ports.status.note(bus.conditions) }
        for _ in 0..<BusLimits.attempts {
            do throws(BusError) {
                try bus.read(into: &batch, now: now)
                ports.status.noteSuccess(of: .read)
                return
            } catch {
                ports.status.note(error)
            }
        }
    }

    private func waitForAnswer(until deadline: Instant) {
        // The bell may still ring for an answer that was fetched last time without waiting.
        while !ports.answers.hasNew, ports.bell.wait(until: deadline) == .rung {}
    }
}

/// The bus thread's ends of everything that leads to other threads.
struct BusPorts: ~Copyable, Sendable {
    var samples: RingWriter<SampleDelivery>
    var answers: MailboxReader<LoopAnswer>
    /// Rung by the loop when it has answered.
    let bell: Doorbell
    let loopBell: Doorbell
    let status: BusStatus
    let stages: StageHistograms
}

/// Bounds of the bus thread's patience.
enum BusLimits {
    /// How often a transfer is tried within a period.
    static let attempts = 2
    /// How often turning off is tried.
    static let offAttempts = 10
    /// The share of a period that the loop's answer is waited for is one over this.
    static let answerShare: Int64 = 4
    /// An answer older than this no longer drives motors, s.
    static let answerLifetimeSeconds = 0.1
}
