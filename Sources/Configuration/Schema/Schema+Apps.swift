import GimbalCore
import Port

extension Schema {
    /// Settings of the service for AirOS apps, `[airos]`.
    static let airos: [Setting] = [
        .choice(
            "airos.inactive", \.airos.inactive, .live,
            "Response to an AirOS app that selects inactive: motors off, or mode neutral."),
        .number(
            "airos.notify_hz", \.airos.notifyHz, 1...50, unit: "Hz", .live,
            "Rate of notifications of each angle and of the status.",
            hint: "The apps expect 10."),
        .signs(
            "airos.sign", \.airos.sign, .live,
            "Sign of each axis for an app; 1 is pitch down, roll right, yaw right.",
            hint: "The order is the app's: pitch, roll, yaw."),
        .integer(
            "airos.rollback_s", \.airos.rollbackS, 0...3600, unit: "s", .live,
            "Time after which an app's PID and Kalman values revert unless it saves; 0 = never."),
        gains("airos.pid.pitch", \.airos.pid.pitch, "pitch"),
        gains("airos.pid.roll", \.airos.pid.roll, "roll"),
        gains("airos.pid.yaw", \.airos.pid.yaw, "yaw"),
    ]

    private static func gains(
        _ key: String, _ path: Setting.Path<PIDTriple>, _ axis: String
    ) -> Setting {
        .pid(
            key, path, p: 0...5, i: 0...1, d: 0...0.5, .live,
            "Gains of \(axis): the default means the axis's own tuning, higher values are stronger, lower values weaker.",
            hint: "The effect stays within the loop's margins; `airframectl status` shows it.")
    }

    /// Settings of the serial service, `[rbl]`.
    static let rbl: [Setting] = [
        .choice(
            "rbl.role", \.rbl.role,
            .restart,
            "Function of the service: off hides it, auto selects mavlink or robot by a client's first byte, loopback returns every byte."
        ),
        .text(
            "rbl.name", \.rbl.name, maxLength: 20, .live,
            "Advertised name of the service; a client may change it, and the change is saved.",
            hint:
                "Both services share one address: with two names a phone may show either name for both."
        ),
        .choice(
            "rbl.baud", \.rbl.baud, RBLBaud.allCases.map { ("\($0.bitsPerSecond)", $0) }, .live,
            "Speed of the service's serial port; a client may change it, and the change is saved."
        ),
        .path(
            "rbl.device", \.rbl.device, maxLength: 107, .restart,
            "Serial port for role serial, such as a telemetry radio's."),
        .bool(
            "rbl.tap", \.rbl.tap, .restart,
            "Whether the gimbal adds its own MAVLink frames to those from the serial port."),
        .number(
            "rbl.attitude_hz", \.rbl.attitudeHz, 10...50, unit: "Hz", .restart,
            "Rate of the attitude for a flight display in role mavlink."),
    ]
}
