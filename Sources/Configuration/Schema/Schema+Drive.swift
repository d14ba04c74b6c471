extension Schema {
    /// `[drive]`
    static let drive: [Setting] = [
        .choice(
            "drive.board", \.drive.board, .restart,
            "The I2C board at 0x16 that drives two wheels: rider writes register 0x00, vendor 0x01; simulated is none."
        ),
        .path(
            "drive.bus", \.drive.bus, maxLength: 107, .restart, "The I2C bus of that board.",
            hint:
                "A bus that it shares with the sensor loses 0.13 ms of each 20 ms to it at 400 kHz."
        ),
        .number(
            "drive.limit", \.drive.limit, 0...1, .restart, "Largest share of full speed."),
        .number(
            "drive.acceleration", \.drive.acceleration, 0.1...100, unit: "1/s", .restart,
            "Share of full speed gained in a second."),
        .number(
            "drive.deceleration", \.drive.deceleration, 0.1...100, unit: "1/s", .restart,
            "Share of full speed lost in a second."),
        .number(
            "drive.dead_man_s", \.drive.deadManS, 0.05...10, unit: "s", .restart,
            "Age at which a request to drive dies and the wheels brake."),
    ]
}
