import PlainText
import Wire

/// Metrics of `status` in Prometheus's text format, version 0.0.4.
///
/// Names follow Prometheus's conventions: they end with a base unit, or with `_total` for counters.
struct PrometheusText {
    /// Kind of a metric.
    enum Kind: String { case gauge, counter }

    private(set) var lines: [String] = []

    /// Metrics if the daemon's state cannot be read: only `airframe_up`.
    static let unreachable: [String] = {
        var text = PrometheusText()
        text.addUp(false)
        return text.lines
    }()

    private init() {}

    /// Creates the metrics of a status.
    init(_ status: Status) {
        addUp(true)
        info(status)
        motion(status)
        loop(status)
        faults(status)
        links(status)
        power(status)
    }

    private mutating func addUp(_ isUp: Bool) {
        add("up", .gauge, "1 if airframed answers with its state, otherwise 0.", isUp ? 1 : 0)
    }

    private mutating func info(_ status: Status) {
        add(
            "build_info", .gauge, "Version and backend of airframed; the value is 1.",
            [(["version": status.version, "backend": status.backend], 1)])
        add("uptime_seconds", .gauge, "Time since airframed started.", status.uptimeS.known)
        add(
            "mode", .gauge, "Mode; 1 for the active mode.",
            ModeWords.catalogue.map { (["mode": $0.name], $0.name == status.mode ? 1 : 0) })
        add(
            "motors_enabled", .gauge, "1 if the motors' power stages are on, otherwise 0.",
            status.isEnabled ? 1 : 0)
        add(
            "controlled", .gauge, "1 if a client is in control, otherwise 0.",
            status.holder == nil ? 0 : 1)
        add("refusals_total", .counter, "Refused requests for motion.", Double(status.refusals))
        add(
            "inhibition", .gauge, "Conditions that keep the motors off.",
            status.inhibitions.map { (["name": $0.name], 1) })
        add(
            "notice", .gauge, "Active conditions that allow the motors to run.",
            status.notices.map { (["name": $0.name], 1) })
        add(
            "settings_unsaved", .gauge, "Settings with unsaved live changes.",
            Double(status.configuration.unsaved.count))
    }

    private mutating func motion(_ status: Status) {
        let attitude = status.attitude
        add(
            "attitude_degrees", .gauge,
            "Attitude of the camera in the earth frame, Euler angles in the order Z-X-Y.",
            axes(
                AxisNumbers(yaw: attitude.yawDeg, roll: attitude.rollDeg, pitch: attitude.pitchDeg))
        )
        add(
            "attitude_error_degrees", .gauge, "Rotation from the attitude to the set-point.",
            axes(status.errorDeg))
        add(
            "gain_margin_decibels", .gauge, "Gain margin of the control loop.",
            axes(status.control.gainMarginDb))
        add(
            "phase_margin_degrees", .gauge, "Phase margin of the control loop.",
            axes(status.control.phaseMarginDeg))
        add(
            "imu_temperature_celsius", .gauge, "Temperature of the inertial sensor.",
            status.imu.temperatureC.known)
        add(
            "estimator_inclination_sigma_degrees", .gauge,
            "Standard deviation of the inclination.", status.estimator.inclinationSigmaDeg.known)
    }

    private mutating func loop(_ status: Status) {
        let loop = status.loop
        add("loop_ticks_total", .counter, "Ticks of the control loop.", Double(loop.ticks))
        add(
            "loop_overruns_total", .counter, "Ticks that took longer than their period.",
            Double(loop.overruns))
        add(
            "loop_late_samples_total", .counter, "Ticks that began without a new sample.",
            Double(loop.lateSamples))
        add("loop_rate_hertz", .gauge, "Ticks per second.", loop.achievedHz.known)
        let quantiles: [(String, (StageTiming) -> Number)] = [
            ("0.5", { $0.p50Us }), ("0.99", { $0.p99Us }), ("1", { $0.maxUs }),
        ]
        add(
            "loop_stage_seconds", .gauge,
            "Duration of each step of the control loop, by quantile.",
            loop.stages.flatMap { stage in
                quantiles.map { quantile, value in
                    (["stage": stage.name, "quantile": quantile], value(stage).value * 1e-6)
                }
            })
    }

    private mutating func faults(_ status: Status) {
        let faults = status.faults
        add("bus_errors_total", .counter, "Failed transfers on buses.", Double(faults.busErrors))
        add(
            "drops_total", .counter,
            "Entries that were dropped because a ring between two threads was full.",
            [
                (["ring": "samples"], Double(faults.sampleDrops)),
                (["ring": "commands"], Double(faults.commandDrops)),
                (["ring": "telemetry"], Double(faults.telemetryDrops)),
            ])
        add(
            "rejected_samples_total", .counter, "Rejected samples of the inertial sensor.",
            faults.rejectedSamples.sorted { $0.key < $1.key }.map {
                (["reason": $0.key], Double($0.value))
            })
        let recorder = status.recorder
        if recorder.isEnabled {
            add(
                "recorder_failed", .gauge,
                "1 if the flight recorder cannot write to the disk, otherwise 0.",
                recorder.problem == nil ? 0 : 1)
            add(
                "recorder_lost_chunks_total", .counter,
                "Gaps in continuous recordings, at most 0.5 s each.", Double(recorder.lostChunks))
        }
        let memory = status.memory
        add(
            "resident_memory_bytes", .gauge, "Resident memory of airframed.",
            memory.residentKb.known.map { $0 * 1024 })
        add(
            "locked_memory_bytes", .gauge, "Locked memory of airframed.",
            memory.lockedKb.known.map { $0 * 1024 })
        add(
            "major_faults_total", .counter, "Major page faults (read from a disk).",
            Double(memory.majorFaults))
    }

    private mutating func links(_ status: Status) {
        add(
            "clients", .gauge, "Connections to the diagnostics socket.",
            Double(status.clients.connected))
        add(
            "client_messages_dropped_total", .counter,
            "Stream messages that were dropped because a client was slow.",
            Double(status.clients.droppedMessages))
        add(
            "companion_healthy", .gauge,
            "1 if the companion program reports no problem, otherwise 0.",
            status.companions.map {
                (["name": $0.report.name], $0.check.level == .ok ? 1 : 0)
            })
    }

    private mutating func power(_ status: Status) {
        let battery = status.battery
        add(
            "battery_charge_ratio", .gauge, "Charge of the battery, 0 to 1.",
            battery?.percent.known.map { $0 / 100 })
        add(
            "battery_voltage_volts", .gauge, "Voltage of the battery.", battery?.voltageV.known)
        add(
            "battery_current_amperes", .gauge,
            "Current of the battery, positive while it is being discharged.",
            battery?.currentA.known)
        add(
            "wheels_ready", .gauge, "1 if the wheels can turn, otherwise 0.",
            status.drive.map { $0.problem == nil ? 1 : 0 })
        add(
            "wheels_errors_total", .counter, "Failed transfers to the wheels' motor board.",
            status.drive.map { Double($0.errors) })
    }

    private func axes(_ numbers: AxisNumbers) -> [([String: String], Double)] {
        [
            (["axis": "yaw"], numbers.yaw.value), (["axis": "roll"], numbers.roll.value),
            (["axis": "pitch"], numbers.pitch.value),
        ]
    }

    // MARK: Lines

    /// Adds a metric without labels; has no effect if the value is unknown.
    private mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Double?) {
        guard let value else { return }
        add(name, kind, help, [([:], value)])
    }

    /// Adds a metric, with one line for each set of labels with a known value.
    private mutating func add(
        _ name: String, _ kind: Kind, _ help: String, _ values: [([String: String], Double)]
    ) {
        let name = "airframe_" + name
        let known = values.filter { $0.1.isFinite }
        guard !known.isEmpty else { return }
        lines.append("# HELP \(name) \(Self.escaped(help, quotes: false))")
        lines.append("# TYPE \(name) \(kind.rawValue)")
        for (labels, value) in known {
            let text = labels.sorted { $0.key < $1.key }
                .map { "\($0.key)=\"\(Self.escaped($0.value, quotes: true))\"" }
                .joined(separator: ",")
            lines.append("\(name)\(text.isEmpty ? "" : "{\(text)}") \(value)")
        }
    }

    /// Escapes backslashes, line ends and, in labels, quotation marks.
    private static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
