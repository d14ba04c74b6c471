import GimbalCore
import PlainText
import Realtime
import Synchronization
import Wire

/// Checks of `doctor` that compare two status reports. The functions read no clock; callers pass
/// the time as an argument.
enum StatusDoctor {
    static let gravity = 9.81

    /// Compares two status reports.
    ///
    /// - Parameters:
    ///   - first: Earlier status; nil skips the checks that need two reports.
    ///   - second: Current status.
    ///   - elapsed: Seconds between the two reports on the computer's clock.
    ///   - isMountingCalibrated: True if a calibration of the mounting is active.
    /// - Returns: The checks in the order of display.
    static func checks(
        _ first: Status?, _ second: Status, elapsed: Double, isMountingCalibrated: Bool = false
    ) -> [DoctorCheck] {
        let before = first ?? second
        if second.lockstep?.state == "waiting" {
            // In lockstep without a connected simulator, the sensor is not checked.
            return [lockstep(before, second), unsaved(second)].compactMap { $0 }
        }
        return [
            first.map { clock($0, second, elapsed) }, lockstep(before, second),
            loop(before, second), scheduling(second), memory(second), imu(second),
            accelerometer(second), fullScale(before, second), vibration(second), hum(second),
            mounting(second, isCalibrated: isMountingCalibrated), attitude(second), robot(second),
            unsaved(second),
        ].compactMap { $0 }
    }

    private static func clock(_ first: Status, _ second: Status, _ elapsed: Double) -> DoctorCheck {
        guard let a = first.t.known, let b = second.t.known else {
            return DoctorCheck("clock", .warn, "the loop's clock is not known yet")
        }
        guard b > a else {
            return DoctorCheck(
                "clock", first.backend == "lockstep" ? .warn : .fail,
                "the loop's clock has stopped at \(Format.fixed(b, 3)) s",
                remedy: first.backend == "lockstep"
                    ? "Connect the simulator: in lockstep it supplies the clock."
                    : "The loop hangs: restart airframed, and report the output of `airframectl log`."
            )
        }
        let ratio = (b - a) / elapsed
        let finding = "the loop's clock runs at \(Format.fixed(ratio, 2)) times real time"
        // Simulated time can run at any speed, so the sample rate is not checked.
        let isRight = (0.9...1.1).contains(ratio) || second.backend != "linux"
        return DoctorCheck(
            "clock", isRight ? .ok : .warn, finding,
            remedy: isRight
                ? "" : "Is the system clock source stable? See `dmesg | grep -i clocksource`.")
    }

    /// Check of the simulator that supplies the clock; nil with another backend.
    private static func lockstep(_ first: Status, _ second: Status) -> DoctorCheck? {
        guard let lockstep = second.lockstep else { return nil }
        let finding = lockstep.summary
        switch lockstep.state {
        case "connected": break
        case "silent":
            return DoctorCheck(
                "lockstep", .fail, finding,
                remedy:
                    "The simulator hangs or has stopped: restart the simulator. airframed waits for its next line."
            )
        default:
            return DoctorCheck("lockstep", .fail, finding, remedy: "Start the simulator.")
        }
        if lockstep.errors > first.lockstep?.errors ?? 0 {
            return DoctorCheck(
                "lockstep", .fail, finding,
                remedy: lockstep.lastError
                    ?? "airframed refuses lines from the simulator: see `airframectl log`.")
        }
        if let rate = second.loop.rateHz.known, let lines = lineRate(first, second) {
            // The nearest permitted value of loop.rate_hz.
            let nearest = min(max(lines, 50), 4000)
            if !(0.8...1.25).contains(nearest / rate) {
                return DoctorCheck(
                    "lockstep", .warn,
                    "\(finding), \(Format.fixed(lines, 0)) lines per simulated second with loop.rate_hz = \(Format.fixed(rate, 0))",
                    remedy:
                        "Set loop.rate_hz to \(Format.fixed(nearest, 0)): the filters of the rate and the default gains are computed for this rate."
                )
            }
        }
        return DoctorCheck("lockstep", lockstep.errors > 0 ? .warn : .ok, finding)
    }

    /// Number of the simulator's lines per simulated second; nil if it cannot be measured, for
    /// example because another simulator has connected.
    private static func lineRate(_ first: Status, _ second: Status) -> Double? {
        guard let a = first.lockstep, let b = second.lockstep, a.connections == b.connections,
            let begin = a.t.known, let end = b.t.known, end > begin, b.lines > a.lines
        else { return nil }
        return Double(b.lines - a.lines) / (end - begin)
    }

    private static func loop(_ first: Status, _ second: Status) -> DoctorCheck {
        let loop = second.loop
        guard let wanted = loop.rateHz.known, let achieved = loop.achievedHz.known else {
            return DoctorCheck("loop rate", .warn, "not known yet")
        }
        let finding =
            "\(Format.fixed(achieved, 1)) of \(Format.fixed(wanted, 0)) Hz, "
            + "\(Format.counted(loop.overruns, "overrun")), "
            + Format.counted(loop.lateSamples, "late sample")
        // A simulator can send messages at any rate, so the loop rate is not checked.
        if second.lockstep != nil { return DoctorCheck("loop rate", .ok, finding) }
        if achieved < 0.98 * wanted {
            return DoctorCheck(
                "loop rate", .fail, finding,
                remedy:
                    "Lower loop.rate_hz, or let the loop run in real time (see the check \"real time\")."
            )
        }
        let isOverrunning = loop.overruns > first.loop.overruns
        return DoctorCheck(
            "loop rate", isOverrunning ? .warn : .ok, finding,
            remedy: isOverrunning ? overrunRemedy(loop, rateHz: wanted) : "")
    }

    /// Remedy for ticks that take longer than their period: the work of a tick is too long, or other
    /// programs delay the threads.
    private static func overrunRemedy(_ loop: LoopStatus, rateHz: Double) -> String {
        func times(_ stage: Stage) -> StageTiming? {
            loop.stages.first { $0.name == stage.rawValue }
        }
        let work = [Stage.bus, .estimate, .control, .write].compactMap { times($0)?.p99Us.known }
            .reduce(0, +)
        guard work > 0, rateHz > 0 else {
            return "Lower loop.rate_hz, or stop other programs on this computer."
        }
        let period = 1e6 / rateHz
        let figures =
            "the work of a tick takes \(Format.fixed(work, 0)) µs of the period of \(Format.fixed(period, 0)) µs (99th percentiles)"
        guard work < period / 2 else { return "Lower loop.rate_hz: \(figures)." }
        let wake = times(.wake)?.maxUs.known
        let late = wake.map { ", and the longest wake-up took \(Format.fixed($0, 0)) µs" } ?? ""
        return
            "Stop other programs on this computer, which delay the loop, or reserve a CPU for the loop with loop.cpu: \(figures)\(late)."
    }

    private static func scheduling(_ status: Status) -> DoctorCheck? {
        if status.lockstep != nil { return nil }
        let realtime = status.realtime
        let isGranted = realtime.policy == "SCHED_FIFO" || realtime.policy == "SCHED_RR"
        let kernel = realtime.isPreemptRt.map { $0 ? ", PREEMPT_RT kernel" : ", ordinary kernel" }
        let finding =
            "\(realtime.policy.isEmpty ? "unknown policy" : realtime.policy) \(realtime.priority)"
            + (kernel ?? "")
        let advice =
            realtime.sentences.first
            ?? "Set LimitRTPRIO=99 in the systemd unit, then restart airframed."
        return DoctorCheck(
            "real time", isGranted ? .ok : .warn, finding, remedy: isGranted ? "" : advice)
    }

    private static func memory(_ status: Status) -> DoctorCheck? {
        if status.lockstep != nil { return nil }
        let isLocked = status.realtime.isMemoryLocked
        return DoctorCheck(
            "memory lock", isLocked ? .ok : .warn,
            (isLocked ? "locked, " : "not locked, ") + status.memory.summary,
            remedy: isLocked
                ? "" : "Set LimitMEMLOCK=infinity in the systemd unit, then restart airframed.")
    }

    private static func imu(_ status: Status) -> DoctorCheck {
        guard status.imu.samples > 0, let age = status.imu.ageMs.known else {
            return DoctorCheck(
                "imu samples", .fail, "no sample yet",
                remedy:
                    "Is the sensor connected, and its bus enabled? `airframectl log` names the error."
            )
        }
        let isFresh = age < 100
        let rate = Format.fixed(status.imu.rateHz.value, 0)
        let finding = "\(rate) Hz, age \(Format.fixed(age, 1)) ms"
        if isFresh, status.notices.contains(where: { $0.name == "samples_slow" }) {
            return DoctorCheck(
                "imu samples", .warn,
                "\(finding): fewer samples than the loop has ticks (\(Format.fixed(status.loop.rateHz.value, 0)) per second)",
                remedy:
                    "Lower loop.rate_hz to the rate of the samples, or raise this rate: hardware.iio.rate_hz if the sensor has a driver in the kernel, which can use a lower rate than this setting if it offers no higher one."
            )
        }
        return DoctorCheck(
            "imu samples", isFresh ? .ok : .fail, finding,
            remedy: isFresh
                ? ""
                : "The sensor has stopped delivering samples: check its wiring and `airframectl log`."
        )
    }
}

/// Store of earlier status reports. `doctor` compares the current report with one of the stored
/// reports.
final class StatusHistory: Sendable {
    /// Permitted age of an earlier report for a comparison, s.
    private static let ages = 0.5...10.0
    /// Largest number of stored reports.
    private static let most = 8

    private let looks = Mutex<[(status: Status, time: Instant)]>([])

    /// Stores the current status, and returns the newest earlier report that is 0.5 s to 10 s old.
    ///
    /// - Parameters:
    ///   - status: Current status.
    ///   - now: Time of the status on the computer's clock.
    /// - Returns: The earlier report, and the seconds since then; nil if there is no such report.
    func note(_ status: Status, now: Instant) -> (status: Status, elapsed: Double)? {
        looks.withLock { looks in
            let before = looks.last { Self.ages.contains(now.seconds(since: $0.time)) }
            looks = looks.suffix(Self.most - 1) + [(status, now)]
            return before.map { ($0.status, now.seconds(since: $0.time)) }
        }
    }
}
