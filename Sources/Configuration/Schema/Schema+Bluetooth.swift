extension Schema {
    /// `[bluetooth]`
    static let bluetooth: [Setting] = [
        .bool(
            "bluetooth.enabled", \.bluetooth.enabled, .restart,
            "Whether phones find the gimbal; nothing else depends on the radio."),
        .text(
            "bluetooth.adapter", \.bluetooth.adapter, maxLength: 15, .restart,
            "Adapter to use, such as hci0; auto takes the first one."),
        .choice(
            "bluetooth.security", \.bluetooth.security, .restart,
            "Who may read and steer: open is everybody in range, encrypted are phones paired with `airframectl pair`.",
            hint: "Existing apps work with both; iOS asks for the passkey by itself."),
        .integer(
            "bluetooth.max_centrals", \.bluetooth.maxCentrals, 1...16, .restart,
            "Phones connected at the same time; the next one is disconnected at once."),
        .number(
            "bluetooth.max_writes_hz", \.bluetooth.maxWritesHz, 10...5000, unit: "Hz", .restart,
            "Writes of one phone per second; more are refused and counted.",
            hint: "A serial port of 115,200 baud needs 576 writes of 20 bytes."),
    ]
}
