extension Schema {
    /// Settings of `[drive]`.
    static let drive: [Setting] = [
        .choice(
            "drive.board", \.drive.board, .restart,
            "Type of the wheels' board: \"rider\" = I2C address 0x16, speeds in register 0x00; \"vendor\" = I2C address 0x16, speeds in register 0x01; \"xgo\" = an XGO robot at a serial port; \"simulated\" = no board."
        ),
        .path(
            "drive.bus", \.drive.bus, maxLength: 107, .restart, "I2C bus of the wheels' board.",
            hint:
                "If the inertial sensor is on the same bus, the wheels' board occupies the bus for 0.13 ms in every 20 ms at 400 kHz."
        ),
        .path(
            "drive.port", \.drive.port, maxLength: 107, .restart,
            "Serial port of an XGO robot (115200 bit/s); used with drive.board = \"xgo\"."),
        .number(
            "drive.limit", \.drive.limit, 0...1, .restart,
            "Highest speed of the wheels, as a fraction of full speed."),
        .number(
            "drive.acceleration", \.drive.acceleration, 0.1...100, unit: "1/s", .restart,
            "Highest acceleration of the wheels, as a fraction of full speed per second."),
        .number(
            "drive.deceleration", \.drive.deceleration, 0.1...100, unit: "1/s", .restart,
            "Highest deceleration of the wheels, as a fraction of full speed per second."),
        .number(
            "drive.dead_man_s", \.drive.deadManS, 0.05...10, unit: "s", .restart,
            "Time after which the wheels brake if a client does not repeat its drive request."),
        .bool(
            "drive.balance.level", \.drive.balance.level, .live,
            "If true, the XGO robot's own controller keeps the body level on uneven ground."),
        .number(
            "drive.balance.height_percent", \.drive.balance.heightPercent, 0...100, unit: "%",
            .live,
            "Height of the XGO robot's body, from 0 (lowest) to 100 (highest); 50 is the robot's own default."
        ),
        .number(
            "drive.balance.roll_deg", \.drive.balance.rollDeg, -20...20, unit: "deg", .live,
            "Roll of the XGO robot's body, with the robot's own sign convention; without effect while drive.balance.level is true.",
            hint: "A rider rolls by at most 17 degrees, a Mini or Lite by 20."),
    ]
}
