internal import GimbalCore
internal import Glibc

/// Writer that sends the loop's outputs to the motors of one bus. The writer also turns the motors
/// off when the loop hangs. Only the bus thread of the motors uses the writer.
struct AnswerWriter {
    let status: BusStatus
    /// Histograms that record the durations of the writes; nil means that the durations are not
    /// recorded.
    let stages: StageHistograms?
    /// Duration of the last write, ns.
    private(set) var writeNanoseconds: Int64 = 0
    /// Last latency from IMU to motors, ns: time from a sample until the output for this sample has
    /// been written.
    private(set) var imuToMotorNanoseconds: Int64 = 0

    init(status: BusStatus, stages: StageHistograms?) {
        self.status = status
        self.stages = stages
    }

    /// Writes the newest output of the loop. `status` contains the number of errors and the last
    /// error.
    mutating func write<Bus: OutputBus>(
        _ reading: MailboxReading<LoopAnswer>, to bus: inout Bus, now: Instant
    ) {
        var output = reading.value.output
        if now.seconds(since: reading.value.time) > BusLimits.answerLifetimeSeconds {
            // The loop's newest output is too old because the loop hangs, so the motors are turned
            // off.
            if output.enabled { status.noteSilence() }
            output = .off
        }
        for _ in 0..<BusLimits.attempts {
            do throws(BusError) {
                try bus.write(output, now: now)
                status.noteSuccess(of: .write)
                break
            } catch {
                status.note(error, now: now)
            }
        }
        let done = MonotonicClock.now.nanoseconds
        writeNanoseconds = done - now.nanoseconds
        stages?.write.record(nanoseconds: writeNanoseconds)
        if reading.isNew, reading.value.sampleTime.nanoseconds != 0 {
            imuToMotorNanoseconds = done - reading.value.sampleTime.nanoseconds
            stages?.imuToMotor.record(nanoseconds: imuToMotorNanoseconds)
        }
    }

    /// Turns the power stages off. The method makes several attempts, because the thread ends after
    /// this method. A pause after each failure gives a full transmit queue time to become empty.
    func turnOff<Bus: OutputBus>(_ bus: inout Bus) {
        for attempt in 0..<BusLimits.offAttempts {
            if attempt > 0 { usleep(BusLimits.offPause) }
            do throws(BusError) {
                try bus.allOff()
                status.noteSuccess(of: .off)
                return
            } catch {
                status.note(error, now: MonotonicClock.now)
            }
        }
    }
}
