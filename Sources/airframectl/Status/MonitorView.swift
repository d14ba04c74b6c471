import PlainText
import Wire

/// Size of a terminal, in characters.
struct TerminalSize: Equatable {
    var columns: Int
    var rows: Int
}

/// History for the monitor: the latest control errors of each axis, newest last.
struct ErrorHistory {
    private static let capacity = 600

    private(set) var yaw: [Double] = []
    private(set) var roll: [Double] = []
    private(set) var pitch: [Double] = []

    mutating func add(_ error: AxisNumbers) {
        Self.append(error.yaw.value, to: &yaw)
        Self.append(error.roll.value, to: &roll)
        Self.append(error.pitch.value, to: &pitch)
    }

    private static func append(_ value: Double, to values: inout [Double]) {
        if values.count == capacity { values.removeFirst(capacity / 2) }
        values.append(value)
    }
}

/// Screen of `airframectl monitor` as text, computed from the status. The screen fits into a
/// terminal of 80 by 24 characters.
struct MonitorView {
    var status: Status
    var history = ErrorHistory()
    /// Refresh rate of the screen, Hz. Each refresh adds one column to the history.
    var rate = 10.0
    /// Problem of the connection to the daemon; nil if there is none.
    var trouble: String?
    /// The daemon's answer to the request of the last key press; nil if there is none to display.
    var answer: String?
    var style = Style.plain

    /// Number of rows of the screen, without the rows for the reasons that prevent motion.
    private static let fixedRows = 21

    /// The lines to show: at most `size.rows`, each at most `size.columns` wide. In a large
    /// terminal, reasons, sensor and scheduling have separate lines.
    func render(_ size: TerminalSize) -> [String] {
        let width = max(40, size.columns)
        let spare = size.rows - Self.fixedRows
        let isRoomy = spare >= 6
        var lines = [header(width), rule(width), headline]
        lines += reasons(width: width, room: min(max(spare, 1), isRoomy ? spare - 3 : 3, 6))
        lines += attitudes(width) + [targetLine()] + torques(width)
        lines.append(label("estimator") + Summary.estimator(status.estimator))
        lines += sensing(isRoomy: isRoomy)
        lines += timing(width)
        lines.append(dropsLine())
        if isRoomy { lines.append(label("real time") + Summary.realtime(status.realtime)) }
        // The last row is always the answer to a key, or the list of the keys.
        lines = lines.prefix(max(size.rows - 1, 0)) + [footer(width)]
        return lines.prefix(size.rows).map { Self.clipped($0, to: size.columns) }
    }

    private func header(_ width: Int) -> String {
        let name = " airframed \(status.version)"
        let rest = "  \(status.backend), up \(Format.duration(status.uptimeS.value))"
        let time = "t \(Format.fixed(status.t.value, 2)) s "
        let gap = max(2, width - name.count - rest.count - time.count)
        return style(.strong, name) + rest + String(repeating: " ", count: gap) + time
    }

    private func rule(_ width: Int) -> String {
        style(.quiet, String(repeating: "─", count: width))
    }

    private var headline: String {
        if trouble != nil {
            return " " + style(.bad, "● LOST, RECONNECTING")
                + "   the last known state follows"
        }
        let state = MotionState(status)
        let holder = status.holder.map { "held by \($0)" } ?? "no client in control"
        return " " + style(state.role, "● \(state.headline)") + "   "
            + style(.strong, status.mode) + ", \(status.state), \(holder)"
    }

    /// Lines with the reasons that prevent motion, and with the other conditions. The number of lines with reasons is constant, so
    /// the lines below do not move.
    private func reasons(width: Int, room: Int) -> [String] {
        let state = MotionState(status)
        let sentences = trouble.map { [$0] } ?? state.sentences + state.notices
        var lines: [String] = []
        for sentence in sentences {
            for (index, part) in Format.wrapped(sentence, width - 6).enumerated() {
                lines.append((index == 0 ? "   - " : "     ") + part)
            }
        }
        if room > 1, lines.count > room {
            let hidden = lines.count - room + 1
            lines = lines.prefix(room - 1) + ["     … and \(hidden) more lines: airframectl status"]
        }
        return lines.prefix(room) + Array(repeating: "", count: max(0, room - lines.count))
    }

    private func attitudes(_ width: Int) -> [String] {
        let rows: [(String, Number, Number, Number, Number, [Double])] = [
            (
                "yaw", status.attitude.yawDeg, status.setpointDeg.yaw, status.errorDeg.yaw,
                status.rateDps.yaw, history.yaw
            ),
            (
                "roll", status.attitude.rollDeg, status.setpointDeg.roll, status.errorDeg.roll,
                status.rateDps.roll, history.roll
            ),
            (
                "pitch", status.attitude.pitchDeg, status.setpointDeg.pitch, status.errorDeg.pitch,
                status.rateDps.pitch, history.pitch
            ),
        ]
        let sparkWidth = max(8, width - 60)
        let largest = rows.flatMap { $0.5.suffix(sparkWidth) }.filter(\.isFinite).map(\.magnitude)
            .max()
        let scale = Gauges.roundedUp(largest ?? 0, least: 0.01)
        let span = Format.plain((Double(sparkWidth) / rate * 10).rounded() / 10)
        let full = Format.fixed(scale, scale < 1 ? 2 : 0)
        let title =
            "              attitude   set-point       error        rate  |err| to \(full)°, \(span) s"
        return [style(.quiet, title)]
            + rows.map { name, attitude, setpoint, error, rate, errors in
                label(name)
                    + quantity(attitude, 2, "°", 11) + quantity(setpoint, 2, "°", 12)
                    + quantity(error, 3, "°", 12) + quantity(rate, 1, "°/s", 12) + "  "
                    + Gauges.sparkline(errors, width: sparkWidth, full: scale)
            }
    }

    /// Line with the target of the set-point and its source; empty after the target has been
    /// reached.
    private func targetLine() -> String {
        let (target, setpoint) = (status.pointing.targetDeg, status.setpointDeg)
        let moved = Summary.pointing(status)
        let goals =
            [("yaw", target.yaw, setpoint.yaw), ("roll", target.roll, setpoint.roll)]
            + [("pitch", target.pitch, setpoint.pitch)]
        let coming = goals.filter { _, goal, present in
            guard let goal = goal.known, let present = present.known else { return false }
            return (goal - present).remainder(dividingBy: 360).magnitude > 0.05
        }
        let texts = coming.map { "\($0.0) \(Format.fixed($0.1.value, 1, signed: true))°" }
        let text = [texts.joined(separator: ", "), moved].filter { !$0.isEmpty }
        return text.isEmpty ? "" : label("target") + text.joined(separator: "; ")
    }

    private func torques(_ width: Int) -> [String] {
        let (joints, motors) = (status.joints, status.motors)
        let rows: [(String, Number, Number, Number, Number, Number)] = [
            (
                "yaw", joints.angleDeg.yaw, joints.minimumDeg.yaw, joints.maximumDeg.yaw,
                motors.torqueNm.yaw, motors.torqueLimitNm.yaw
            ),
            (
                "roll", joints.angleDeg.roll, joints.minimumDeg.roll, joints.maximumDeg.roll,
                motors.torqueNm.roll, motors.torqueLimitNm.roll
            ),
            (
                "pitch", joints.angleDeg.pitch, joints.minimumDeg.pitch, joints.maximumDeg.pitch,
                motors.torqueNm.pitch, motors.torqueLimitNm.pitch
            ),
        ]
        let barWidth = max(9, (width - 55) | 1)
        let source = joints.source.isEmpty ? "" : ", from \(joints.source)"
        let title = "               joint       range  torque N·m   limit" + source
        return [style(.quiet, Format.left(title, width))]
            + rows.map { name, angle, low, high, torque, limit in
                let range =
                    "\(Format.fixed(low.value, 0))…\(Format.fixed(high.value, 0))°"
                let fraction = torque.value / limit.value
                let role: Style.Role =
                    fraction.magnitude >= 0.999 ? .bad : fraction.magnitude > 0.7 ? .caution : .good
                return label(name) + quantity(angle, 1, "°", 9) + Format.right(range, 12)
                    + Format.right(Format.fixed(torque.value, 4, signed: true), 12)
                    + Format.right("±" + Format.fixed(limit.value, 3), 8) + "  "
                    + style(role, Gauges.bar(fraction, width: barWidth))
            }
    }

    /// Lines about the consistency of estimator and sensor: one line, or three if there is space.
    private func sensing(isRoomy: Bool) -> [String] {
        let (estimator, imu) = (status.estimator, status.imu)
        let role: Style.Role? = imu.isAtFullScale ? .caution : nil
        func styled(_ text: String) -> String { role.map { style($0, text) } ?? text }
        guard isRoomy else {
            let text =
                "weight \(Format.fixed(estimator.accelWeight.value, 2))"
                + ", innov. \(Format.fixed(estimator.innovation.value, 2))"
                + ", vibration \(Format.fixed(imu.accelVibrationMS2.value, 2)) m/s²"
                + " \(Format.fixed(imu.gyroVibrationDps.value, 2)) °/s"
                + ", clipped \(imu.gyroSaturatedSamples)/\(imu.accelClippedSamples)"
            return [label("filter") + styled(text)]
        }
        return [
            label("filter") + Summary.correction(estimator), label("imu") + Summary.imu(imu),
            label("vibration") + styled(Summary.vibration(imu)),
        ]
    }

    private func timing(_ width: Int) -> [String] {
        let columnWidth = 10
        let stages = status.loop.stages.prefix(max(1, (width - 11) / columnWidth))
        func row(_ name: String, _ figure: (StageTiming) -> Number) -> String {
            label(name)
                + stages.map { Format.right(Format.fixed(figure($0).value, 1), columnWidth) }
                .joined()
        }
        // The name "imu_to_motor" is abbreviated, because it is wider than its numbers.
        let names = stages.map {
            Format.right(String($0.name.replacing("_to_", with: "→").prefix(9)), columnWidth)
        }
        let loop = Summary.loop(status.loop)
        if let lockstep = status.lockstep {
            // In lockstep, the durations of the loop's steps are not shown. Empty rows replace the
            // durations. Therefore the other rows keep their positions.
            return [
                label("loop") + loop, label("lockstep") + lockstep.summary,
                label("refused") + (lockstep.lastError ?? "no line"),
                label("ignored")
                    + "\(Format.count(lockstep.ignoredValues)) sensor values, because the simulator's first line does not contain them",
                label("run") + "connection number \(lockstep.connections) since the start",
            ]
        }
        return [
            label("loop") + (status.loop.overruns > 0 ? style(.caution, loop) : loop),
            style(.quiet, Format.left(" µs", 11) + names.joined()),
            row("p50", \.p50Us), row("p99", \.p99Us), row("max", \.maxUs),
        ]
    }

    private func dropsLine() -> String {
        let faults = status.faults
        let isClean =
            faults.sampleDrops + faults.commandDrops + faults.telemetryDrops + faults.busErrors == 0
        let text = Summary.faults(status)
        return label("drops") + (isClean ? text : style(.caution, text))
    }

    private func footer(_ width: Int) -> String {
        if let answer { return " " + style(.strong, answer) }
        guard status.stoppedBy == nil else { return style(.quiet, " " + MonitorKey.stoppedLegend) }
        let left = " " + MonitorKey.legend
        let unsaved = status.configuration.unsaved.count
        let realtime = status.realtime
        let right =
            unsaved > 0
            ? "\(unsaved) unsaved: airframectl diff "
            : "\(realtime.policy.isEmpty ? "–" : realtime.policy) \(realtime.priority), "
                + (realtime.isMemoryLocked ? "locked " : "not locked ")
        let gap = max(1, width - left.count - right.count)
        return style(.quiet, left + String(repeating: " ", count: gap) + right)
    }
}

extension MonitorView {
    private func label(_ text: String) -> String { style(.quiet, " " + Format.left(text, 10)) }

    /// Text of a number with its unit, right-aligned.
    private func quantity(_ number: Number, _ decimals: Int, _ unit: String, _ width: Int) -> String
    {
        Format.right(Format.fixed(number.value, decimals, signed: true) + unit, width)
    }

    /// Truncates a line to its first `width` visible characters. All escape sequences remain in the
    /// line.
    static func clipped(_ line: String, to width: Int) -> String {
        var room = width
        return String(
            line.styledCharacters.filter { part in
                if part.isVisible { room -= 1 }
                return !part.isVisible || room >= 0
            }.map(\.character))
    }
}
