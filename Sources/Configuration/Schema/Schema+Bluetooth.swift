extension Schema {
    /// Settings of `[bluetooth]`.
    static let bluetooth: [Setting] = [
        .bool(
            "bluetooth.enabled", \.bluetooth.enabled, .restart,
            "If true, airframed offers its services over Bluetooth; all other functions work without Bluetooth."
        ),
        .text(
            "bluetooth.adapter", \.bluetooth.adapter, maxLength: 15, .restart,
            "Bluetooth adapter, such as hci0; \"auto\" = the first adapter."),
        .choice(
            "bluetooth.security", \.bluetooth.security, .restart,
            "Access over Bluetooth: \"open\" = every phone in range can read and steer, \"encrypted\" = only phones paired with `airframectl pair`.",
            hint: "Existing apps work with both values; iOS asks for the passkey automatically."),
        .integer(
            "bluetooth.max_centrals", \.bluetooth.maxCentrals, 1...16, .restart,
            "Largest number of connected phones; a further phone is disconnected at once."),
        .number(
            "bluetooth.max_writes_hz", \.bluetooth.maxWritesHz, 10...5000, unit: "Hz", .restart,
            "Highest rate of writes from one phone; further writes are refused and counted.",
            hint: "A serial port at 115,200 baud needs 576 writes of 20 bytes per second."),
    ]
}
