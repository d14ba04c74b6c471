extension Schema {
    /// Settings of servos and boards on a serial port.
    static let serial: [Setting] = [
        .path(
            "hardware.linux.motor_port", \.hardware.linux.motorPort, maxLength: 107, .restart,
            "Serial port of the motors, for motors = \"bus_servo\" or \"board\".",
            hint:
                "The names in /dev/serial/by-id stay the same when another adapter is connected."),
        .integer(
            "hardware.linux.motor_baud", \.hardware.linux.motorBaud, 9600...4_000_000,
            unit: "bit/s", .restart,
            "Baud rate of motor_port, which limits the number of exchanges per second.",
            hint:
                "New Feetech servos have 1000000, new Dynamixel servos 57600: `airframectl motor baud` changes the baud rate of a servo. The sketch for motor boards uses 921600."
        ),
        .choice(
            "hardware.linux.servo_protocol", \.hardware.linux.servoProtocol, .restart,
            "Protocol of the servos on a serial bus: \"feetech\" (series STS, SMS and HLS) or \"dynamixel2\" (X series)."
        ),
        .triple(
            "hardware.linux.servo_id", \.hardware.linux.servoId, -1...253, .restart,
            "Identifier of each joint's servo on the serial bus; -1 = the joint has no servo.",
            hint: "`airframectl motor id` gives each servo its own identifier."),
        .number(
            "hardware.linux.servo_nm_per_a", \.hardware.linux.servoNmPerA, 0.01...20,
            unit: "N·m/A", .restart,
            "Torque of a Dynamixel servo per ampere, for motors.type = \"torque\": its stall torque divided by its stall current.",
            hint: "XL330-M288: 0.35; XC330-M288: 0.52; XM430-W350: 1.8."),
        .number(
            "hardware.linux.servo_current_step_ma", \.hardware.linux.servoCurrentStepMa, 0.1...10,
            unit: "mA", .restart,
            "Unit of the current in a Dynamixel servo's registers: 1 for XL330 and XC330, 2.69 for XM430."
        ),
    ]

    /// Settings of `[supply]`.
    static let supply: [Setting] = [
        .number(
            "supply.low_v", \.supply.lowV, 0...100, unit: "V", .restart,
            "Voltage of the motors' supply below which the camera follows requests at half the rate; 0 = no limit. The source of the voltage is supply.source.",
            hint: "For a lithium battery: 3.5 V per cell."),
        .number(
            "supply.empty_v", \.supply.emptyV, 0...100, unit: "V", .restart,
            "Voltage of the motors' supply below which the camera moves to its rest pose, and airframed then turns the motors off; 0 = no limit.",
            hint: "For a lithium battery: 3.2 V per cell."),
        .choice(
            "supply.source", \.supply.source, .restart,
            "Source of the motors' supply voltage: \"motors\" = the voltage that drives, servos or a motor board report, \"battery\" = the voltage of the battery in [battery]."
        ),
        .number(
            "supply.nominal_v", \.supply.nominalV, 0...100, unit: "V", .restart,
            "Supply voltage at which brushless motors on a PCA9685, and GM6020 motors with voltage commands, have their configured strength and torque. airframed corrects the motors' voltages by nominal_v divided by the measured voltage, from 0.5 to 1.5 times; 0 = no correction.",
            hint: "For a lithium battery: 3.7 V per cell. Set supply.source = \"battery\"."),
    ]
}
