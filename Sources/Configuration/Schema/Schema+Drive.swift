extension Schema {
    /// Settings of `[drive]`.
    static let drive: [Setting] = [
        .choice(
            "drive.board", \.drive.board, .restart,
            "I2C board at 0x16 that drives two wheels: rider writes register 0x00, vendor 0x01; simulated drives no board."
        ),
        .path(
            "drive.bus", \.drive.bus, maxLength: 107, .restart, "I2C bus of that board.",
            hint:
                "On the sensor's bus it takes 0.13 ms of each 20 ms at 400 kHz."
        ),
        .number(
            "drive.limit", \.drive.limit, 0...1, .restart, "Speed limit as a share of full speed."),
        .number(
            "drive.acceleration", \.drive.acceleration, 0.1...100, unit: "1/s", .restart,
            "Acceleration in full speeds per second."),
        .number(
            "drive.deceleration", \.drive.deceleration, 0.1...100, unit: "1/s", .restart,
            "Deceleration in full speeds per second."),
        .number(
            "drive.dead_man_s", \.drive.deadManS, 0.05...10, unit: "s", .restart,
            "Age at which a drive request expires and the wheels brake."),
    ]
}
