import PlainText
import Wire

/// Text output of `airframectl status`.
enum StatusView {
    /// Width of sentences in a wide terminal, and without a terminal, characters.
    private static let widest = 78
    /// Characters for the headline in front of the first sentence.
    private static let headline = 12

    static func lines(_ status: Status, _ style: Style, width: Int = .max) -> [String] {
        let state = MotionState(status)
        let width = min(width, widest)
        let (reasons, notices) = (
            state.sentences.map { Format.wrapped($0, width - headline) },
            state.notices.map { Format.wrapped($0, width - headline) }
        )
        let first = reasons.first?.first.map { "  \($0)" } ?? ""
        var lines = [style(state.role, state.headline) + first]
        lines += reasons.prefix(1).flatMap { $0.dropFirst() }.map { "  " + $0 }
        for reason in reasons.dropFirst() + notices {
            lines += reason.enumerated().map { ($0.offset == 0 ? "- " : "  ") + $0.element }
        }
        lines += [
            "",
            style(.strong, "airframed \(status.version)")
                + ", \(status.backend), up \(Format.duration(status.uptimeS.value))"
                + ", loop clock \(Format.fixed(status.t.value, 3)) s",
            "mode \(status.mode), \(status.state), "
                + (status.holder.map { "in control: \($0)" } ?? "no client in control")
                + (status.holderAgeS?.known.map { ", last message \(Int($0)) s ago" } ?? "")
                + (status.driver.map { ", wheels: \($0)" } ?? ""),
        ]
        if let source = status.stoppedBy { lines.append("emergency stop by \(source)") }
        if let refusal = status.lastRefusal {
            let count = Format.counted(status.refusals, "request")
            lines += Format.wrapped("\(count) refused, last \(refusal)", width)
        }
        if let loss = status.controlLost { lines += Format.wrapped(loss, width) }
        lines.append("")
        lines += axes(status).lines(style)
        lines.append("")
        lines += details(status).lines(style)
        if !status.control.gains.isEmpty {
            lines.append("")
            lines += gains(status.control).lines(style)
            lines += status.control.warnings.map { style(.caution, "- \($0)") }
        }
        if !status.loop.stages.isEmpty {
            lines.append("")
            lines += stages(status.loop).lines(style)
        }
        for sentence in status.realtime.sentences { lines.append("- \(sentence)") }
        return lines
    }

    private static func axes(_ status: Status) -> Table {
        var table = Table(rightAligned: [1, 2, 3])
        func row(
            _ name: String, _ axes: AxisNumbers, _ decimals: Int, _ unit: String,
            _ note: String = ""
        ) {
            func cell(_ number: Number) -> Table.Cell {
                .init(Format.fixed(number.value, decimals, signed: true))
            }
            table.add(
                .init(name, .quiet), cell(axes.yaw), cell(axes.roll), cell(axes.pitch),
                .init(unit, .quiet), .init(note, .quiet))
        }
        table.add("", .init("yaw", .quiet), .init("roll", .quiet), .init("pitch", .quiet))
        let (attitude, joints, motors) = (status.attitude, status.joints, status.motors)
        let angles = AxisNumbers(
            yaw: attitude.yawDeg, roll: attitude.rollDeg, pitch: attitude.pitchDeg)
        row("attitude", angles, 2, "°")
        row("set-point", status.setpointDeg, 2, "°")
        row("target", status.pointing.targetDeg, 2, "°", Summary.pointing(status))
        row("error", status.errorDeg, 3, "°")
        row("rate", status.rateDps, 2, "°/s")
        row("joint", joints.angleDeg, 2, "°", joints.source.isEmpty ? "" : "from \(joints.source)")
        row("torque", motors.torqueNm, 4, "N·m", motors.type.isEmpty ? "" : "\(motors.type) motors")
        row("torque limit", motors.torqueLimitNm, 4, "N·m")
        row("inertia", motors.inertiaKgM2, 6, "kg·m²", inertiaNote(motors))
        row("friction", motors.frictionNm, 4, "N·m", "learned")
        row("hum", motors.humNm, 4, "N·m", humNote(motors))
        if motors.followedPercent.pitch.value.isFinite {
            row(
                "followed", motors.followedPercent, 0, "%",
                "of the handle's fast motion is compensated")
        }
        return table
    }

    private static func inertiaNote(_ motors: MotorStatus) -> String {
        let sigma = motors.inertiaSigmaPercent.pitch.value
        guard sigma.isFinite else { return "" }
        guard sigma > 0 else { return "configured" }
        return "measured, ± \(Format.fixed(sigma, 0)) %"
    }

    private static func humNote(_ motors: MotorStatus) -> String {
        let calm = motors.calmPercent
        let most = [calm.yaw, calm.roll, calm.pitch].compactMap(\.known).max() ?? 0
        return most > 0
            ? "torque noise above 50 Hz; gain reduction at \(Format.fixed(most, 0)) % of the largest"
            : "torque noise above 50 Hz"
    }

    private static func details(_ status: Status) -> Table {
        var table = Table()
        func row(_ name: String, _ text: String, _ role: Style.Role? = nil) {
            table.add(.init(name, .quiet), .init(text, role))
        }
        row("estimator", Summary.estimator(status.estimator))
        row("correction", Summary.correction(status.estimator))
        if let bandwidth = status.motors.bandwidthPercent.known {
            row("bandwidth", "\(Format.fixed(bandwidth, 0)) % of the tuned corner frequencies")
        }
        row("imu", Summary.imu(status.imu))
        if let failure = status.imu.setUpFailure { row("chip", "the sensor \(failure)", .caution) }
        if let ignored = status.imu.ignoredSettings {
            row(
                "chip", "its driver cannot use \(ignored.joined(separator: " and "))", .caution)
        }
        if let failure = status.imu.handleSetUpFailure {
            row("handle", "the sensor \(failure)", .caution)
        }
        if let failure = status.joints.encoderFailure { row("joints", failure, .caution) }
        if let can = status.can {
            row("can", can.summary, can.isFaultless ? nil : .caution)
            for drive in can.drives {
                row(drive.axis, drive.summary, drive.isFaultless ? nil : .caution)
            }
        }
        if let serial = status.serial {
            row("serial", serial.summary, serial.isFaultless ? nil : .caution)
            for motor in serial.motors {
                row(motor.axis, motor.summary, motor.isFaultless ? nil : .caution)
            }
        }
        if let battery = status.battery {
            row(
                "battery", battery.summary,
                battery.problem == nil && !battery.isLow ? nil : .caution)
        }
        if let drive = status.drive {
            row("wheels", drive.summary, drive.problem == nil ? nil : .caution)
        }
        if let supply = status.supply { row("supply", supply.summary) }
        if let robot = status.robot {
            row("robot", robot.summary, robot.problem == nil ? nil : .caution)
        }
        if let cutOff = status.motors.cutOff {
            row("cut-off", cutOff, cutOff == MotorStatus.noCutOff ? .caution : nil)
        }
        row("vibration", Summary.vibration(status.imu), status.imu.isAtFullScale ? .caution : nil)
        if let lockstep = status.lockstep {
            row("lockstep", lockstep.summary, lockstep.errors > 0 ? .caution : nil)
            if let error = lockstep.lastError { row("refused", error, .caution) }
        }
        if let bluetooth = status.bluetooth {
            row("bluetooth", Summary.bluetooth(bluetooth), bluetooth.sentence.map { _ in .caution })
            if let sentence = bluetooth.sentence { row("", sentence, .caution) }
            for line in Summary.phones(bluetooth) { row("phone", line) }
        }
        for link in status.links { row(link.name, Summary.link(link)) }
        for companion in status.companions {
            let check = companion.check
            row(check.name, check.finding, check.level == .ok ? nil : .caution)
        }
        row("loop", Summary.loop(status.loop), status.loop.overruns > 0 ? .caution : nil)
        row("real time", Summary.realtime(status.realtime))
        row("memory", status.memory.summary)
        row("recorder", RecorderView.summary(status.recorder))
        let faults = status.faults
        let isClean =
            faults.sampleDrops + faults.commandDrops + faults.telemetryDrops + faults.busErrors == 0
        row("drops", Summary.faults(status), isClean ? nil : .caution)
        if let error = faults.lastError, !error.isEmpty { row("last error", error, .caution) }
        let files = status.configuration.files
        row("configuration", files.isEmpty ? "built-in defaults" : files.joined(separator: ", "))
        if !status.configuration.unsaved.isEmpty {
            row("not saved", status.configuration.unsaved.joined(separator: ", "), .caution)
        }
        if !status.configuration.needsRestart.isEmpty {
            row(
                "waits for restart", status.configuration.needsRestart.joined(separator: ", "),
                .caution)
        }
        if !status.configuration.ignored.isEmpty {
            row("saved, no effect", status.configuration.ignored.joined(separator: ", "), .caution)
        }
        return table
    }

    private static func gains(_ control: ControlStatus) -> Table {
        var table = Table(rightAligned: [1, 2, 3])
        func row(_ name: String, _ axes: AxisNumbers, _ decimals: Int, _ unit: String) {
            let cells = [axes.yaw, axes.roll, axes.pitch].map { Format.fixed($0.value, decimals) }
            table.add(
                .init(name, .quiet), .init(cells[0]), .init(cells[1]), .init(cells[2]),
                .init(unit, .quiet))
        }
        table.add(
            .init("effective", .quiet), .init("yaw", .quiet), .init("roll", .quiet),
            .init("pitch", .quiet))
        for gain in control.gains {
            row(gain.name, gain.values, gain.unit.isEmpty ? 3 : 1, gain.unit)
        }
        guard control.phaseMarginDeg.pitch.known != nil else { return table }
        row("gain margin up", control.gainMarginDb, 1, "dB")
        row("gain margin down", control.gainMarginDownDb, 1, "dB")
        row("phase margin", control.phaseMarginDeg, 0, "°")
        return table
    }

    private static func stages(_ loop: LoopStatus) -> Table {
        var table = Table(rightAligned: [1, 2, 3])
        table.add(
            .init("latency, µs", .quiet), .init("p50", .quiet), .init("p99", .quiet),
            .init("max", .quiet))
        for stage in loop.stages {
            let figures = [stage.p50Us, stage.p99Us, stage.maxUs].map { Format.fixed($0.value, 1) }
            table.add(.init(stage.name), .init(figures[0]), .init(figures[1]), .init(figures[2]))
        }
        return table
    }
}

/// One-line summaries for `status` and `monitor`.
enum Summary {
    static func estimator(_ estimator: EstimatorStatus) -> String {
        let bias = estimator.gyroBiasDps
        let text = [bias.x, bias.y, bias.z].map { Format.fixed($0.value, 3, signed: true) }
        let sigmas = [
            estimator.gyroBiasSigmaDps.x, estimator.gyroBiasSigmaDps.y,
            estimator.gyroBiasSigmaDps.z,
        ]
        let sigma = sigmas.map(\.value).reduce(0) { $1.isNaN || $0.isNaN ? .nan : max($0, $1) }
        return (estimator.isConverged ? "converged" : "not converged")
            + (estimator.isAtRest ? ", at rest" : ", in motion")
            + ", gyro bias \(text.joined(separator: " ")) ± \(Format.fixed(sigma, 3)) °/s"
    }

    /// Text about the source of the set-point's motion, such as `lags 3.2° behind the handle` or
    /// `tracking for another 0.4 s`.
    static func pointing(_ status: Status) -> String {
        if let remaining = status.pointing.trackingRemainingS?.known {
            return "tracking for another \(Format.fixed(max(0, remaining), 1)) s"
        }
        let errors = status.pointing.followErrorDeg
        let largest = [errors.yaw, errors.roll, errors.pitch].compactMap(\.known).map(\.magnitude)
            .max()
        guard let largest, largest > 0 else { return "" }
        return "lags \(Format.fixed(largest, 1))° behind the handle"
    }

    static func imu(_ imu: IMUStatus) -> String {
        let accel = imu.accelMS2
        let axes = [accel.x, accel.y, accel.z].map { Format.fixed($0.value, 2, signed: true) }
        return "accel \(axes.joined(separator: " ")) m/s², \(Format.fixed(imu.rateHz.value, 0)) Hz"
            + ", age \(Format.fixed(imu.ageMs.value, 1)) ms"
            + (imu.temperatureC.known.map { ", \(Format.fixed($0, 1)) °C" } ?? "")
    }

    /// Text about the accelerometer's influence on the attitude, such as `accel weight 1.00,
    /// innovation 0.31, inclination ± 0.12°`.
    static func correction(_ estimator: EstimatorStatus) -> String {
        let heading = estimator.headingSigmaDeg.known.map { ", heading ± \(Format.fixed($0, 1))°" }
        return "accel weight \(Format.fixed(estimator.accelWeight.value, 2))"
            + ", innovation \(Format.fixed(estimator.innovation.value, 2))"
            + ", inclination ± \(Format.fixed(estimator.inclinationSigmaDeg.value, 2))°"
            + (heading ?? "")
    }

    /// Text about vibration and readings at full scale, such as `0.02 m/s², 0.1 °/s; full scale
    /// gyro 0, accel 0 samples`.
    static func vibration(_ imu: IMUStatus) -> String {
        "\(Format.fixed(imu.accelVibrationMS2.value, 2)) m/s²"
            + ", \(Format.fixed(imu.gyroVibrationDps.value, 2)) °/s"
            + "; full scale gyro \(Format.count(imu.gyroSaturatedSamples))"
            + (imu.isGyroSaturated ? " (now)" : "")
            + ", accel \(Format.count(imu.accelClippedSamples)) samples"
    }

    static func loop(_ loop: LoopStatus) -> String {
        "\(Format.fixed(loop.achievedHz.value, 1)) of \(Format.fixed(loop.rateHz.value, 0)) Hz"
            + ", \(Format.count(loop.ticks)) ticks, \(Format.count(loop.overruns)) overruns"
            + ", \(Format.count(loop.lateSamples)) late samples"
    }

    static func realtime(_ realtime: RealtimeStatus) -> String {
        let policy = realtime.policy.isEmpty ? "–" : realtime.policy
        let kernel: String? = realtime.isPreemptRt.map {
            $0 ? "PREEMPT_RT" : "kernel not PREEMPT_RT"
        }
        return policy + (realtime.priority > 0 ? " \(realtime.priority)" : "")
            + (realtime.isMemoryLocked ? ", memory locked" : ", memory not locked")
            + (kernel.map { ", " + $0 } ?? "")
    }

    static func faults(_ status: Status) -> String {
        let faults = status.faults
        return "samples \(faults.sampleDrops), commands \(faults.commandDrops)"
            + ", telemetry \(faults.telemetryDrops), messages \(status.clients.droppedMessages)"
            + ", bus errors \(faults.busErrors)"
    }
}
