internal import Configuration

/// Proposed configuration for the hardware in a report. The lines that are not comments are
/// certain: the sensor has reported its identity. The motors stay off (`motors = "none"`) until a
/// person has selected `motors.type`, because a motor driver does not report its motors, and the
/// pulses for a servo would burn a brushless motor.
struct HardwareProposal {
    private let report: HardwareReport

    init(_ report: HardwareReport) { self.report = report }

    var proposal: HardwareReport.Proposal {
        var proposal = HardwareReport.Proposal()
        proposal.lines = ["[hardware]", "backend = \"linux\"", "", "[hardware.linux]"]
        addSensor(&proposal)
        addMotors(&proposal)
        addEncoders(&proposal)
        if !report.gpio.isEmpty {
            proposal.unknown.append(
                "power_line: the GPIO line that switches the motors' supply, if there is one.")
        }
        proposal.profile = profile
        return proposal
    }

    // MARK: Sensors

    /// Inertial sensors on I2C, in the order of the buses.
    private var sensors: [(bus: String, chip: HardwareReport.Chip)] {
        report.i2c.flatMap { bus in
            bus.chips.filter { SensorChip(rawValue: $0.name) != nil }.map { (bus.path, $0) }
        }
    }

    private func addSensor(_ proposal: inout HardwareReport.Proposal) {
        if addSPISensor(&proposal) {
        } else if let (bus, chip) = sensors.first {
            proposal.lines += [
                "bus = \"\(bus)\"", "imu = \"\(chip.name)\"",
                "imu_address = \(HardwareInventory.hex(chip.addresses[0]))",
            ]
            if chip.addresses.count > 1 {
                proposal.lines.append(
                    "gyro_address = \(HardwareInventory.hex(chip.addresses[1]))")
            }
            proposal.unknown.append(
                "bus_khz: the clock of \(bus), on a Raspberry Pi i2c_arm_baudrate in config.txt.")
            if let (handleBus, handle) = sensors.dropFirst().first(where: {
                $0.chip.name != SensorChip.bmi088.rawValue
            }) {
                proposal.lines += [
                    "# A second sensor has answered. If it is on the handle:",
                    "#handle_imu = \"\(handle.name)\"", "#handle_bus = \"\(handleBus)\"",
                    "#handle_address = \(HardwareInventory.hex(handle.addresses[0]))",
                ]
            }
        } else if let sensor = report.iio.first(where: { $0.hasSuffix("with a buffer") }) {
            proposal.lines += ["# \(sensor)", "imu = \"iio\""]
        } else {
            proposal.unknown.append(
                "imu: no known sensor has answered. Check its supply and its wires, and `dtparam=i2c_arm=on` in config.txt."
            )
            return
        }
        proposal.unknown.append(
            "imu.mounting_deg: the orientation of the sensor; `airframectl calibrate mounting` measures it."
        )
    }

    /// Adds a sensor on SPI; false if there is none.
    private func addSPISensor(_ proposal: inout HardwareReport.Proposal) -> Bool {
        let found = report.spi.compactMap { bus in bus.chips.first.map { (bus.path, $0.name) } }
        func path(_ name: String) -> String? { found.first { $0.1 == name }?.0 }
        let whole = found.first { SensorChip(rawValue: $0.1) != nil }
        if let (place, name) = whole {
            proposal.lines += [
                "imu = \"\(name)\"", "imu_interface = \"spi\"", "imu_spi = \"\(place)\"",
            ]
            return true
        }
        guard let accel = path("bmi088_accel"), let gyro = path("bmi088_gyro") else {
            return false
        }
        proposal.lines += [
            "imu = \"bmi088\"", "imu_interface = \"spi\"", "imu_spi = \"\(accel)\"",
            "gyro_spi = \"\(gyro)\"",
        ]
        return true
    }

    // MARK: Motors

    private func addMotors(_ proposal: inout HardwareReport.Proposal) {
        proposal.lines.append("motors = \"none\"")
        let begin = proposal.lines.count
        var choices: [[String]] = []
        for bus in report.i2c {
            for chip in bus.chips where chip.name == "pca9685" {
                choices.append([
                    "motors = \"pca9685\"", "motor_bus = \"\(bus.path)\"",
                    "motor_address = \(HardwareInventory.hex(chip.addresses[0]))",
                ])
            }
        }
        choices += report.can.map { ["motors = \"can\"", "can_interface = \"\($0.path)\""] }
        choices += report.serial.map {
            ["motors = \"bus_servo\"", "motor_port = \"\($0.path)\""]
        }
        choices += report.pwm.map { ["motors = \"pwm\"", "pwm_chip = \"\($0.path)\""] }
        guard !choices.isEmpty else {
            proposal.unknown.append("motors: no motor driver has been found.")
            return
        }
        for (number, choice) in choices.enumerated() {
            if number > 0 { proposal.lines.append("# Or:") }
            proposal.lines += choice.map { "#\($0)" }
        }
        proposal.lines.insert(
            "# When motors.type is set, replace the line above with the lines of your motors:",
            at: begin)
        proposal.unknown.append(
            "motors.type: \"servo\", \"field\" or \"torque\". A motor driver does not report its motors; a wrong type can burn them."
        )
        if !report.can.isEmpty {
            proposal.unknown.append(
                "can_protocol and can_id: the drives' protocol and identifiers, from the vendor's tool."
            )
        }
        if let port = report.serial.first {
            proposal.unknown.append(
                "To find servo_id and motor_baud, run `airframectl motor scan --port \(port.path)`. For a board with SimpleFOC, set motors = \"board\"."
            )
        }
    }

    private func addEncoders(_ proposal: inout HardwareReport.Proposal) {
        let buses = report.i2c.filter { bus in bus.chips.contains { $0.name == "as5600" } }
        guard buses.count >= 3 else { return }
        proposal.lines.append(
            "# Encoders have answered; enter the buses in the order of the joints:")
        proposal.lines.append("#encoders = \"as5600\"")
        for (axis, bus) in zip(["yaw", "roll", "pitch"], buses) {
            proposal.lines.append("#encoder_bus_\(axis) = \"\(bus.path)\"")
        }
        proposal.unknown.append(
            "encoder_zero_deg and encoder_direction: the readings of the encoders at joint angle zero, and their directions."
        )
    }

    // MARK: Profile

    /// Name of the board's profile in etc/boards.
    private var profile: String? {
        [
            ("Raspberry Pi 5", "raspberry-pi-5.toml"), ("Raspberry Pi 4", "raspberry-pi-4.toml"),
            ("Raspberry Pi Zero 2", "raspberry-pi-zero-2w.toml"),
        ].first { report.board.hasPrefix($0.0) }?.1
    }
}
