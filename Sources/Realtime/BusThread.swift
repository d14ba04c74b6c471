internal import CLinuxShim
internal import GimbalCore

/// One bus and the thread that owns it: the clock of the system.
///
/// Every period: wake on the absolute grid, read, hand the samples over, ring; wait for the loop's answer at most a quarter
/// of a period; write the newest output. So the way from the IMU to the motors is one read, one write and two wake-ups.
/// Errors are counted and kept; they never stop the thread.
struct BusThread: ~Copyable {
    private var bus: any GimbalBus
    private var ports: BusPorts
    private let periodNanoseconds: Int64
    private var schedule: PeriodicSchedule
    private var batch = SampleBatch()
    private var writeNanoseconds: Int64 = 0
    private var imuToMotorNanoseconds: Int64 = 0

    init(bus: any GimbalBus, ports: consuming BusPorts, periodNanoseconds: Int64) {
        self.bus = bus
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
            _ = cl_sleep_until(schedule.next.nanoseconds)
            let now = MonotonicClock.now
            if stop.isSet { break }
            period(now: now)
            ports.status.noteOverruns(schedule.advance(now: MonotonicClock.now))
        }
        turnOff()
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
                    readNanoseconds: readNanoseconds, writeNanoseconds: writeNanoseconds,
                    imuToMotorNanoseconds: imuToMotorNanoseconds))
        }
        // An answer that came too late last time must not pass for this period's: from then on every output would be a
        // period old.
        _ = ports.answers.read()
        ports.loopBell.ring()
        waitForAnswer(
            until: Instant(
                nanoseconds: handedOver.nanoseconds + periodNanoseconds / BusLimits.answerShare))
        write(ports.answers.read(), now: MonotonicClock.now)
    }

    private mutating func read(now: Instant) {
        batch.removeAll()
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

    private mutating func write(_ reading: MailboxReading<LoopAnswer>, now: Instant) {
        var output = reading.value.output
        if now.seconds(since: reading.value.time) > BusLimits.answerLifetimeSeconds {
            // The loop hangs. Nobody vouches for what the motors are doing.
            if output.enabled { ports.status.noteSilence() }
            output = .off
        }
        for _ in 0..<BusLimits.attempts {
            do throws(BusError) {
                try bus.write(output, now: now)
                ports.status.noteSuccess(of: .write)
                break
            } catch {
                ports.status.note(error)
            }
        }
        let done = MonotonicClock.now.nanoseconds
        writeNanoseconds = done - now.nanoseconds
        ports.stages.write.record(nanoseconds: writeNanoseconds)
        if reading.isNew, reading.value.sampleTime.nanoseconds != 0 {
            imuToMotorNanoseconds = done - reading.value.sampleTime.nanoseconds
            ports.stages.imuToMotor.record(nanoseconds: imuToMotorNanoseconds)
        }
    }

    /// Power stages off. The thread ends after this, so here alone several attempts are made at once.
    private mutating func turnOff() {
        for _ in 0..<BusLimits.offAttempts {
            do throws(BusError) {
                try bus.allOff()
                ports.status.noteSuccess(of: .off)
                return
            } catch {
                ports.status.note(error)
            }
        }
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
