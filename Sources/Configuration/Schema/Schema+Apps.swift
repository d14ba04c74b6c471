import GimbalCore

extension Schema {
    /// What AirOS apps get and may change.
    static let airos: [Setting] = [
        .choice(
            "airos.inactive", \.airos.inactive, .live,
            "What an AirOS app gets that asks for inactive: the motors off, or mode neutral."),
        .number(
            "airos.notify_hz", \.airos.notifyHz, 1...50, unit: "Hz", .live,
            "How often a subscribed app hears each angle and the status.",
            hint: "The apps expect 10."),
        .signs(
            "airos.sign", \.airos.sign, .live,
            "Which way round an app sees an axis and tracks about it; 1 is pitch down, roll right, yaw right.",
            hint: "The order is that of the app: pitch, roll, yaw."),
        .integer(
            "airos.rollback_s", \.airos.rollbackS, 0...3600, unit: "s", .live,
            "Time after which PID and Kalman of an app revert unless it saves; 0 = never."),
        gains("airos.pid.pitch", \.airos.pid.pitch, "pitch"),
        gains("airos.pid.roll", \.airos.pid.roll, "roll"),
        gains("airos.pid.yaw", \.airos.pid.yaw, "yaw"),
    ]

    private static func gains(
        _ key: String, _ path: Setting.Path<PIDTriple>, _ axis: String
    ) -> Setting {
        .pid(
            key, path, p: 0...5, i: 0...1, d: 0...0.5, .live,
            "Gains of \(axis): at the default the axis's own tuning, above it stronger, below it weaker.",
            hint: "The effect stays within the loop's margins; `airframectl status` shows it.")
    }

    /// What clients of the serial service get.
    static let rbl: [Setting] = [
        .choice(
            "rbl.role", \.rbl.role,
            .restart,
            "What stands behind the service; off does not offer it, auto is mavlink or robot by a client's first byte, loopback sends back what comes."
        ),
        .text(
            "rbl.name", \.rbl.name, maxLength: 20, .live,
            "The service's advertised name; a client may change it, and the change is saved.",
            hint: "Both services have one address: with two names a phone may show either for both."
        ),
        .choice(
            "rbl.baud", \.rbl.baud, RBLBaud.allCases.map { ("\($0.bitsPerSecond)", $0) }, .live,
            "Speed of the serial port behind the service; a client may change it, and the change is saved."
        ),
        .path(
            "rbl.device", \.rbl.device, maxLength: 107, .restart,
            "Serial port of role serial, such as that of a telemetry radio."),
        .bool(
            "rbl.tap", \.rbl.tap, .restart,
            "Whether the gimbal's own MAVLink goes between the frames that come from that port."),
        .number(
            "rbl.attitude_hz", \.rbl.attitudeHz, 10...50, unit: "Hz", .restart,
            "How often a flight display of role mavlink gets the attitude."),
    ]
}
