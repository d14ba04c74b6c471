extension Schema {
    /// Settings of the computer's battery, `[battery]`.
    static let battery: [Setting] = [
        .choice(
            "battery.source", \.battery.source, .restart,
            "Source of the battery's values: power_supply for a fuel gauge or charger, hwmon for a voltage and current monitor such as an INA226, drive for the battery of an XGO robot (drive.board = \"xgo\"), none = no battery.",
            hint: "`airframectl doctor` lists the kernel's devices."),
        .text(
            "battery.device", \.battery.device, maxLength: 64, .restart,
            "Name of the battery in /sys/class/power_supply, or of the device in /sys/class/hwmon; \"auto\" = the first suitable device."
        ),
        .text(
            "battery.voltage_channel", \.battery.voltageChannel, maxLength: 16, .restart,
            "Voltage channel of the hwmon device; used with battery.source = \"hwmon\"."),
        .text(
            "battery.current_channel", \.battery.currentChannel, maxLength: 16, .restart,
            "Current channel of the hwmon device; used with battery.source = \"hwmon\"."),
        .number(
            "battery.empty_v", \.battery.emptyV, 0...100, unit: "V", .live,
            "Voltage of the empty battery, from which airframed estimates the state of charge; 0 = no estimate."
        ),
        .number(
            "battery.full_v", \.battery.fullV, 0...100, unit: "V", .live,
            "Voltage of the full battery, from which airframed estimates the state of charge; 0 = no estimate."
        ),
        .number(
            "battery.low_percent", \.battery.lowPercent, 0...100, unit: "%", .live,
            "State of charge below which airframed reports a low battery."),
    ]
}
