extension Schema {
    /// Settings of `[drive]`.
    static let drive: [Setting] = [
        .choice(
            "drive.board", \.drive.board, .restart,
            "Type of the I2C board at address 0x16 that drives two wheels: \"rider\" (speeds in register 0x00), \"vendor\" (speeds in register 0x01) or \"simulated\" (no board)."
        ),
        .path(
            "drive.bus", \.drive.bus, maxLength: 107, .restart, "I2C bus of the wheels' board.",
            hint:
                "If the inertial sensor is on the same bus, the wheels' board occupies the bus for 0.13 ms in every 20 ms at 400 kHz."
        ),
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
    ]
}
