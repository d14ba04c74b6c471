internal import CLinuxShim
internal import GimbalCore

/// Thread of the sensors' bus. The period of this thread determines the timing of the whole system.
///
/// The thread wakes up at equally spaced times. In every period, the thread reads the sensors,
/// passes the samples to the loop, and wakes the loop. Then the thread waits for the loop's output
/// for at most a quarter of a period, and writes the newest output. Therefore the path from the IMU
/// to the motors consists of one read, one write and two wake-ups. Errors are counted in
/// `BusStatus`, and never end the thread.
struct BusThread: ~Copyable {
    private var bus: any GimbalBus
    private var ports: BusPorts
    private let periodNanoseconds: Int64
    private var schedule: PeriodicSchedule
    private var batch = SampleBatch()
    private var writer: AnswerWriter

    /// Creates the thread's state.
    ///
    /// - Parameters:
    ///   - bus: Bus with the sensors, and with the motors unless they have their own bus.
    ///   - ports: Connections to the other threads.
    ///   - periodNanoseconds: Period of the reads, ns.
    ///   - drivesMotors: True if the motors are on this bus; the durations of the writes are then
    ///     recorded.
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

    /// Runs until a stop is requested, and turns the motors off before it returns.
    ///
    /// - Parameter stop: Request to stop, which is checked once a period.
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

    /// Executes one period.
    ///
    /// - Parameter now: Time of the wake-up.
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
        // An output that the loop computed too late for the last period must not be used for this
        // period. Otherwise every later output would be one period late.
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
                ports.status.note(error, now: now)
            }
        }
    }

    private func waitForAnswer(until deadline: Instant) {
        // The doorbell can still be set because of an output that the thread has already read
        // without waiting.
        while !ports.answers.hasNew, ports.bell.wait(until: deadline) == .rung {}
    }
}

/// The bus thread's ends of the ring, the mailbox and the doorbell between the threads.
struct BusPorts: ~Copyable, Sendable {
    var samples: RingWriter<SampleDelivery>
    var answers: MailboxReader<LoopAnswer>
    /// Doorbell that the loop rings after each output.
    let bell: Doorbell
    let loopBell: Doorbell
    let status: BusStatus
    let stages: StageHistograms
}

/// Limits of the waiting times and the attempts in the bus thread.
enum BusLimits {
    /// Number of attempts of a transfer within a period.
    static let attempts = 2
    /// Number of attempts to turn the motors off.
    static let offAttempts = 10
    /// Pause between two attempts to turn the motors off, µs.
    static let offPause: UInt32 = 2000
    /// The thread waits for the loop's output for at most the period divided by this number.
    static let answerShare: Int64 = 4
    /// Largest age of a loop output that still drives the motors, s.
    static let answerLifetimeSeconds = 0.1
}
