extension Schema {
    /// Settings of `[drive]`.
    static let drive: [Setting] = [
        .choice(
            "drive.board", \.drive.board, .restart,
            "Type of the I2C board at address 0x16 that drives two wheels: rider has its speeds in register 0x00, vendor in register 0x01; simulated needs no board."
        ),
        .path(
            "drive.bus", \.drive.bus, maxLength: 107, .restart, "I2C bus of the wheels' board.",
            hint:
                "On the inertial sensor's bus, the board takes 0.13 ms of each 20 ms at 400 kHz."
        ),
        .number(
            "drive.limit", \.drive.limit, 0...1, .restart, "Speed limit as a share of full speed."),
        .number(
            "drive.acceleration", \.drive.acceleration, 0.1...100, unit: "1/s", .restart,
            "Acceleration limit, as a share of full speed per second."),
        .number(
            "drive.deceleration", \.drive.deceleration, 0.1...100, unit: "1/s", .restart,
            "Deceleration limit, as a share of full speed per second."),
        .number(
            "drive.dead_man_s", \.drive.deadManS, 0.05...10, unit: "s", .restart,
            "Age at which a drive request expires and the wheels brake."),
    ]
}
