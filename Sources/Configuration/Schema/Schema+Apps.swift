import GimbalCore
import Port

extension Schema {
    /// Settings of the service for AirOS apps, `[airos]`.
    static let airos: [Setting] = [
        .choice(
            "airos.inactive", \.airos.inactive, .live,
            "Response when an AirOS app selects the mode \"inactive\": \"off\" = airframed turns the motors off, \"neutral\" = airframed selects the mode \"neutral\"."
        ),
        .number(
            "airos.notify_hz", \.airos.notifyHz, 1...50, unit: "Hz", .live,
            "Rate at which each angle and the status are sent to the app.",
            hint: "AirOS apps expect a rate of 10 Hz."),
        .signs(
            "airos.sign", \.airos.sign, .live,
            "Sign of each axis for an AirOS app; 1 means that pitch down, roll right or yaw right is positive.",
            hint: "The order of the values is pitch, roll, yaw, as in the app."),
        .integer(
            "airos.rollback_s", \.airos.rollbackS, 0...3600, unit: "s", .live,
            "Time after which an app's PID and Kalman values revert unless the app saves them; 0 = never."
        ),
        gains("airos.pid.pitch", \.airos.pid.pitch, "pitch"),
        gains("airos.pid.roll", \.airos.pid.roll, "roll"),
        gains("airos.pid.yaw", \.airos.pid.yaw, "yaw"),
    ]

    private static func gains(
        _ key: String, _ path: Setting.Path<PIDTriple>, _ axis: String
    ) -> Setting {
        .pid(
            key, path, p: 0...5, i: 0...1, d: 0...0.5, .live,
            "PID values of the axis \(axis) from an AirOS app. The default values leave the controller's gains unchanged. Higher values raise the gains, and lower values reduce them.",
            hint:
                "airframed limits the change of the gains so that the control loop remains stable; `airframectl status` shows the limited change."
        )
    }

    /// Settings of the serial service, `[rbl]`.
    static let rbl: [Setting] = [
        .choice(
            "rbl.role", \.rbl.role,
            .restart,
            "Function of the serial service: \"off\" hides the service, \"auto\" selects \"mavlink\" or \"robot\" by the first byte from a client, \"loopback\" returns every byte."
        ),
        .text(
            "rbl.name", \.rbl.name, maxLength: 20, .live,
            "Advertised name of the serial service; a client can change the name, and airframed saves the change.",
            hint:
                "The serial service and the AirOS service have the same Bluetooth address: if their names differ, a phone can show either name for both services."
        ),
        .choice(
            "rbl.baud", \.rbl.baud, RBLBaud.allCases.map { ("\($0.bitsPerSecond)", $0) }, .live,
            "Baud rate of the service's serial port; a client can change the baud rate, and airframed saves the change."
        ),
        .path(
            "rbl.device", \.rbl.device, maxLength: 107, .restart,
            "Serial port for role = \"serial\", such as the port of a telemetry radio."),
        .bool(
            "rbl.tap", \.rbl.tap, .restart,
            "If true, the gimbal adds its own MAVLink frames to the frames from the serial port."),
        .number(
            "rbl.attitude_hz", \.rbl.attitudeHz, 10...50, unit: "Hz", .restart,
            "Rate of attitude messages to a flight display in role \"mavlink\"."),
    ]
}
