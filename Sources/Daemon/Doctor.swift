import Wire

/// The checks that only the daemon can make, each with what to do about it. Pure: judges a status.
struct Doctor {
    let status: Status

    /// Every check, in the order in which a person would go through them.
    var checks: [DoctorCheck] {
        [imuRate, gravity, frame, bias, loopRate, lateness, drops, bus, realtime, memory, motion]
    }

    private var imuRate: DoctorCheck {
        guard status.imu.samples > 0 else {
            return DoctorCheck(
                "imu", .fail, "no sample has arrived",
                remedy: "Check wiring, bus and address of the IMU.")
        }
        let rate = status.imu.rateHz.known.map { "\(Int($0)) samples/s" } ?? "samples arrive"
        let refused = status.faults.rejectedSamples.values.reduce(0, +)
        guard refused == 0 else {
            let reasons = status.faults.rejectedSamples.filter { $0.value > 0 }
                .sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            return DoctorCheck(
                "imu", .warn, "\(rate); faults so far: \(reasons.joined(separator: ", "))",
                remedy: "Watch the counters in status; if they grow, shorten or shield the cable.")
        }
        return DoctorCheck("imu", .ok, rate)
    }

    /// Standing still, an accelerometer reads one g whichever way it lies.
    private var gravity: DoctorCheck {
        let accel = status.imu.accelMS2
        guard let x = accel.x.known, let y = accel.y.known, let z = accel.z.known else {
            return DoctorCheck("gravity", .warn, "the accelerometer says nothing yet")
        }
        let norm = (x * x + y * y + z * z).squareRoot()
        let text = "|accel| = \(Self.text(norm)) m/s²"
        guard status.estimator.isAtRest else {
            return DoctorCheck("gravity", .ok, "\(text), moving; judged only at rest")
        }
        guard abs(norm - 9.81) < 0.5 else {
            return DoctorCheck(
                "gravity", .fail, "\(text) at rest; 9.8 is right",
                remedy: "Check imu.accel_range_g and the chip's range.")
        }
        return DoctorCheck("gravity", .ok, "\(text) at rest")
    }

    /// The sign mistake that everybody makes once: a level camera must read about -9.81 on z.
    private var frame: DoctorCheck {
        guard let z = status.imu.accelMS2.z.known else {
            return DoctorCheck("frame", .warn, "the accelerometer says nothing yet")
        }
        let text =
            "z reads \(Self.text(z)) m/s²; level and still is -9.81 (x forward, y right, z down)"
        guard z < 5 else {
            return DoctorCheck(
                "frame", .warn, text,
                remedy:
                    "If the camera is upright now, the IMU is mounted upside down: set imu.mounting_deg."
            )
        }
        return DoctorCheck("frame", .ok, text)
    }

    private var bias: DoctorCheck {
        guard status.estimator.isConverged else {
            return DoctorCheck(
                "estimate", .warn, "the attitude estimate has not settled",
                remedy: "Hold the gimbal still for a few seconds.")
        }
        let bias = status.estimator.gyroBiasDps
        let worst = [bias.x, bias.y, bias.z].compactMap(\.known).map(abs).max() ?? 0
        let text = "settled; gyroscope bias up to \(Self.text(worst)) °/s"
        return worst < 5
            ? DoctorCheck("estimate", .ok, text)
            : DoctorCheck(
                "estimate", .warn, text,
                remedy: "More than a healthy sensor has: let it warm up at rest, and restart.")
    }

    private var loopRate: DoctorCheck {
        guard let achieved = status.loop.achievedHz.known, let wanted = status.loop.rateHz.known
        else {
            return DoctorCheck("loop", .warn, "has run for less than a second")
        }
        let text =
            "\(Int(achieved.rounded())) of \(Int(wanted)) ticks/s, \(status.loop.overruns) overruns"
        return achieved > 0.99 * wanted
            ? DoctorCheck("loop", .ok, text)
            : DoctorCheck(
                "loop", .fail, text,
                remedy: "Lower loop.rate_hz, or see what else runs on this computer (top -H).")
    }

    private var lateness: DoctorCheck {
        let share = Double(status.loop.lateSamples) / Double(max(status.loop.ticks, 1))
        let text = "\(status.loop.lateSamples) of \(status.loop.ticks) samples came late"
        return share < 0.01
            ? DoctorCheck("deadline", .ok, text)
            : DoctorCheck(
                "deadline", .warn, text,
                remedy: "The bus cannot keep up, or the scheduler is not real-time; see below.")
    }

    private var drops: DoctorCheck {
        let faults = status.faults
        let sum = faults.sampleDrops + faults.commandDrops + faults.telemetryDrops
        let text =
            "samples \(faults.sampleDrops), commands \(faults.commandDrops), "
            + "telemetry \(faults.telemetryDrops)"
        return sum == 0
            ? DoctorCheck("drops", .ok, text)
            : DoctorCheck(
                "drops", .warn, text,
                remedy: "The computer was overloaded at some time since the start.")
    }

    private var bus: DoctorCheck {
        guard status.faults.busErrors > 0 else { return DoctorCheck("bus", .ok, "no error") }
        let last = status.faults.lastError.map { "; last: \($0)" } ?? ""
        return DoctorCheck(
            "bus", .fail, "\(status.faults.busErrors) failed transfers\(last)",
            remedy: "Check pull-ups, cable length and the bus clock.")
    }

    private var realtime: DoctorCheck {
        let kernel = status.realtime.isPreemptRT == true ? "PREEMPT_RT" : "ordinary kernel"
        let text = "\(status.realtime.policy) \(status.realtime.priority), \(kernel)"
        return status.realtime.policy == "SCHED_FIFO"
            ? DoctorCheck("real-time", .ok, text)
            : DoctorCheck(
                "real-time", .warn, text,
                remedy: status.realtime.sentences.first ?? "Grant CAP_SYS_NICE or LimitRTPRIO.")
    }

    private var memory: DoctorCheck {
        let resident = status.memory.residentKB.known.map { "\(Int($0 / 1024)) MB resident" } ?? ""
        return status.realtime.isMemoryLocked
            ? DoctorCheck("memory", .ok, "locked, \(resident)")
            : DoctorCheck(
                "memory", .warn, "not locked, \(resident)",
                remedy: "Set LimitMEMLOCK=infinity in the unit, or grant CAP_IPC_LOCK.")
    }

    private var motion: DoctorCheck {
        guard let first = status.inhibitions.first else {
            return DoctorCheck("motion", .ok, "the outputs are on, mode \(status.mode)")
        }
        let names = status.inhibitions.map(\.name).joined(separator: ", ")
        return DoctorCheck("motion", .warn, "the outputs are off: \(names)", remedy: first.sentence)
    }

    /// Two decimals, without a locale.
    private static func text(_ value: Double) -> String {
        let hundredths = Int((abs(value) * 100).rounded())
        let digits = String(hundredths % 100)
        return (value < 0 ? "-" : "") + "\(hundredths / 100)." + (digits.count < 2 ? "0" : "")
            + digits
    }
}
