import PlainText
import Wire

/// Checks of `doctor` that need only one status report. With an earlier report, some checks also
/// examine the time since this report. Each warning or failure contains a remedy. The functions
/// read neither files nor clocks.
struct Doctor {
    let status: Status
    /// Report of at most some seconds before `status`; nil if there is none.
    var earlier: Status?

    /// All checks of the status report, with the most basic check first.
    var checks: [DoctorCheck] {
        [
            samples, sensor, sensorSettings, handleSensor, dataReady, lateness, drops, bus, can,
            watchdogs, serial, supply, motion, cutOff, recorder,
        ].compactMap(\.self) + drives
    }

    private var samples: DoctorCheck {
        let refused = status.faults.rejectedSamples.filter { $0.value > 0 }
            .sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return refused.isEmpty
            ? DoctorCheck("samples", .ok, "\(status.imu.samples) samples, none rejected")
            : DoctorCheck(
                "samples", .warn,
                "rejected samples since the start: \(refused.joined(separator: ", "))",
                remedy:
                    "Watch these counters in `airframectl status`; if they grow, shorten or shield the sensor's cable."
            )
    }

    private var sensor: DoctorCheck {
        if let failure = status.imu.setUpFailure {
            return DoctorCheck(
                "sensor", .fail, "the sensor \(failure)",
                remedy: failure.hasPrefix("failed the self-test")
                    ? "Hold the camera still: airframed repeats the self-test until it succeeds. If the self-test also fails while the camera is still, the sensor is damaged or a copy; hardware.linux.imu_self_test = false omits the self-test."
                    : "Check hardware.linux.imu, the sensor's address or chip select, and its wiring."
            )
        }
        let faults = status.imu.faults.filter { $0.value > 0 && $0.key != Self.lateEdge }
            .sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return faults.isEmpty
            ? DoctorCheck("sensor", .ok, "no fault")
            : DoctorCheck(
                "sensor", .warn, "faults so far: \(faults.joined(separator: ", "))",
                remedy:
                    "If these numbers grow, shorten the wires, lower the bus clock, and check the sensor's supply."
            )
    }

    /// Check of the settings of a sensor with a driver in the kernel; nil if the driver uses all of
    /// them.
    private var sensorSettings: DoctorCheck? {
        status.imu.ignoredSettings.map { keys in
            let remedies = keys.map { key in
                key == "hardware.iio.low_pass_hz"
                    ? "The driver uses its own low-pass filter: set hardware.iio.low_pass_hz to 0, and imu.filter_delay_ms to the delay of this filter."
                    : "Remove \(key) from the configuration."
            }
            return DoctorCheck(
                "sensor settings", .warn,
                "the sensor's driver cannot use \(keys.joined(separator: " and "))",
                remedy: remedies.joined(separator: " "))
        }
    }

    /// Check of the sensor on the handle; nil if it is not configured. Its failed transfers are not
    /// errors of the bus, because the camera is also held without this sensor.
    private var handleSensor: DoctorCheck? {
        guard !status.imu.handleFaults.isEmpty else { return nil }
        guard status.notices.contains(where: { $0.name == "handle_imu_missing" }) else {
            return DoctorCheck("handle sensor", .ok, "delivers samples")
        }
        return DoctorCheck(
            "handle sensor", .fail,
            "the sensor on the handle \(status.imu.handleSetUpFailure ?? "delivers no samples")",
            remedy:
                "Check hardware.linux.handle_imu, handle_bus and handle_address, and the sensor's wiring; `airframectl hardware` lists the chips that answer."
        )
    }

    /// Counter of the periods without an edge of the sensor's data-ready line.
    private static let lateEdge = "late_edge"

    /// Check of the sensor's data-ready line; nil if no edge was late.
    private var dataReady: DoctorCheck? {
        guard status.imu.faults[Self.lateEdge] ?? 0 > 0 else { return nil }
        return rare(
            "data ready", "periods began without an edge of the data-ready line",
            remedy:
                "Check hardware.linux.data_ready_chip and data_ready_line, the wire to the sensor's interrupt pin, and that the user of airframed is in the group gpio; gpioinfo lists the lines and their users. Without edges, the computer's clock starts the periods."
        ) { $0.imu.faults[Self.lateEdge] ?? 0 }
    }

    private var lateness: DoctorCheck {
        rare(
            "deadline", "samples arrived late",
            remedy:
                "The bus is too slow, or the loop does not run in real time: see the check \"real time\", or lower loop.rate_hz."
        ) { $0.loop.lateSamples }
    }

    /// Check of an event that is not a problem in fewer than 1 % of the periods since the start.
    /// After weeks, 1 % of the periods are hours. Therefore the check also warns if the event
    /// happened in at least 10 % of the periods since the earlier report.
    private func rare(
        _ name: String, _ event: String, remedy: String, count: (Status) -> Int
    ) -> DoctorCheck {
        let (events, periods) = (count(status), status.loop.ticks)
        var text = "\(events) of \(periods) \(event)"
        var isFrequent = events * 100 >= max(periods, 1)
        if let earlier {
            let (new, newest) = (events - count(earlier), periods - earlier.loop.ticks)
            if newest > 0, new * 10 >= newest {
                text += ", \(new) of the last \(newest)"
                isFrequent = true
            }
        }
        return DoctorCheck(name, isFrequent ? .warn : .ok, text, remedy: isFrequent ? remedy : "")
    }

    private var recorder: DoctorCheck? {
        guard status.recorder.isEnabled else { return nil }
        if let problem = status.recorder.problem {
            return DoctorCheck("recorder", .warn, "cannot write", remedy: problem)
        }
        return DoctorCheck(
            "recorder", .ok,
            "\(Int(status.recorder.heldS.known ?? 0)) s in memory, \(Format.counted(status.recorder.files, "file")) on disk"
        )
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
                remedy:
                    "The computer was overloaded at least once since the start. Stop other programs on this computer."
            )
    }

    /// Names of the conditions that result from failed transfers. If none of these conditions
    /// holds, transfers succeed again. If transfers succeed again, the check reports the earlier
    /// failures without a warning.
    private static let busFaults: Set<String> = [
        "bus_error", "imu_missing", "imu_stale", "encoder_missing",
    ]

    private var bus: DoctorCheck {
        guard status.faults.busErrors > 0 else { return DoctorCheck("bus", .ok, "no error") }
        let last = status.faults.lastError.map { "; last: \($0)" } ?? ""
        let isPresent = status.inhibitions.contains { Self.busFaults.contains($0.name) }
        return DoctorCheck(
            "bus", isPresent ? .fail : .warn, "\(status.faults.busErrors) failed transfers\(last)",
            remedy: status.faults.remedy ?? "Check pull-ups, cable length and the bus clock.")
    }

    private var can: DoctorCheck? {
        status.can.map { can in
            DoctorCheck(
                "can", can.isDown ? .fail : can.isFaultless ? .ok : .warn, can.summary,
                remedy: can.isFaultless
                    ? ""
                    : "Check the wires, the two 120 Ω terminators and the bit rate; `ip -details -statistics link show \(can.interface)` shows the controller."
            )
        }
    }

    /// Watchdogs of drives on a CAN bus. airframed does not read the watchdogs that it does not set;
    /// a switch in the motors' supply replaces them.
    private var watchdogs: DoctorCheck? {
        status.can.map { can in
            guard can.setsWatchdogs else {
                let hasLine = status.motors.cutOff?.hasPrefix("line ") ?? false
                return DoctorCheck(
                    "watchdogs", hasLine ? .ok : .warn,
                    "airframed neither sets nor reads the watchdogs of the \(can.protocolName) drives",
                    remedy: hasLine
                        ? ""
                        : "The manual page can.md, section Watchdogs, describes the settings for each protocol. Drives without a watchdog need hardware.linux.power_line."
                )
            }
            let unguarded = can.drives.filter { can.unguarded.contains($0.axis) }
            let (silent, answering) = (
                unguarded.filter(\.isSilent), unguarded.filter { !$0.isSilent }
            )
            let names = answering.map { drive in
                "\(drive.axis)" + (drive.firmware.map { " (firmware \($0))" } ?? "")
            }
            guard !names.isEmpty else {
                guard silent.isEmpty else {
                    return DoctorCheck(
                        "watchdogs", .warn,
                        "these drives are silent, so airframed cannot set their watchdogs: \(silent.map(\.axis).joined(separator: ", "))",
                        remedy: "Correct the problem that the checks of these drives report.")
                }
                return DoctorCheck("watchdogs", .ok, "airframed has set the drives' watchdogs")
            }
            return DoctorCheck(
                "watchdogs", .fail,
                "these drives have not confirmed the time of their watchdogs: \(names.joined(separator: ", "))",
                remedy:
                    "Update the drives' firmware. For ODrives, set hardware.linux.odrive_firmware and the two numbers for this firmware. With hardware.linux.can_watchdog_ms = 0, the motors also run without confirmed watchdogs."
            )
        }
    }

    /// Check of the voltage of the motors' supply; nil if no setting uses the voltage. GM6020 motors,
    /// CyberGear drives and drives with protocol mit report no voltage.
    private var supply: DoctorCheck? {
        status.supply.map { supply in
            guard supply.voltageV.known == nil else {
                return DoctorCheck("supply", .ok, supply.summary)
            }
            return DoctorCheck(
                "supply", .warn,
                "the voltage of the motors' supply is unknown, so the settings in [supply] have no effect",
                remedy: supply.source == "battery"
                    ? "Set battery.device, and battery.voltage_channel with battery.source = \"hwmon\", to a device that measures the voltage: see the check \"battery\"."
                    : "Drives with the protocols gm6020, mit and cybergear, and motor boards that do not measure the voltage, do not report it: measure the voltage of the battery ([battery]), and set supply.source = \"battery\". Other motors report the voltage as soon as they answer."
            )
        }
    }

    private var serial: DoctorCheck? {
        status.serial.map { serial in
            if serial.isFaultless, serial.replies > 0, serial.latencyProblem != nil {
                return DoctorCheck(
                    "serial", .warn, serial.summary,
                    remedy:
                        "The adapter's driver has refused the low-latency mode, so replies can arrive up to 16 ms late. Write 1 to the adapter's latency_timer in sysfs, or use another adapter."
                )
            }
            return DoctorCheck(
                "serial", serial.isFaultless ? (serial.replies > 0 ? .ok : .warn) : .fail,
                serial.summary,
                remedy: serial.isFaultless
                    ? (serial.replies > 0
                        ? ""
                        : "Check the supply of the servos, the wires and hardware.linux.motor_baud; `airframectl motor scan` finds servos while airframed is stopped.")
                    : "Check the adapter and hardware.linux.motor_port.")
        }
    }

    /// One check for each drive, servo or motor of a board.
    private var drives: [DoctorCheck] {
        ((status.can?.drives ?? []) + (status.serial?.motors ?? [])).map { drive in
            DoctorCheck(
                "\(drive.axis) drive", drive.isFaultless ? .ok : .fail, drive.summary,
                remedy: drive.isFaultless
                    ? ""
                    : "Check the drive's supply, its wires, and its identifier in hardware.linux. Check the drive's configuration with the vendor's tool."
            )
        }
    }

    private var cutOff: DoctorCheck? {
        guard let words = status.motors.cutOff else { return nil }
        return words == MotorStatus.noCutOff
            ? DoctorCheck(
                "cut-off", .warn, "the motors \(words)",
                remedy:
                    "Connect the enable pin of the motors' driver, or the switch of the motors' supply, to a GPIO, and set hardware.linux.power_line."
            )
            : DoctorCheck("cut-off", .ok, words)
    }

    private var motion: DoctorCheck {
        guard let first = status.inhibitions.first else {
            return DoctorCheck("motion", .ok, "the motors are on, mode \(status.mode)")
        }
        let names = status.inhibitions.map(\.name).joined(separator: ", ")
        return DoctorCheck(
            "motion", status.inhibitions.contains(where: \.isProblem) ? .fail : .warn,
            "the motors are off: \(names)", remedy: first.sentence)
    }
}
