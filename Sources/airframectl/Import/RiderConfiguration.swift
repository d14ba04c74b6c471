import Configuration
import PlainText

/// Converter from the file `config.yaml` of yahboom-iphone-controller, the public driver of the
/// Yahboom Rider, to settings of airframed.
///
/// The file has two known layouts: `network`, `motors`, … and the older `robot`, `motor`, ….
struct RiderConfiguration {
    /// Key without a corresponding setting, with the reason.
    struct Ignored: Equatable {
        /// Dotted path of the key.
        var key: String
        /// Line of the key.
        var line: Int
        /// Reason, and the setting that replaces the key, if there is one.
        var reason: String
    }

    /// The settings, in the order of the file.
    private(set) var pairs: [SettingsFile.Pair] = []
    /// The keys that have no effect, in the order of the file.
    private(set) var ignored: [Ignored] = []

    /// Converts the entries of a file.
    init(_ entries: [YAMLFile.Entry]) {
        // An address without a port has no effect, because the port enables the remote control.
        let address = entries.first { $0.path == "network.bind_address" }
        let hasPort = entries.contains { $0.path.hasSuffix("udp_port") }
        for entry in entries {
            switch entry.path {
            case "network.motor_udp_port", "motor.udp_port":
                let host = address?.value ?? "0.0.0.0"
                set(
                    "rider.listen",
                    quoted(
                        host.contains(":") ? "[\(host)]:\(entry.value)" : "\(host):\(entry.value)"),
                    entry)
            case "network.bind_address" where hasPort: break
            case "motors.i2c_bus":
                if let bus = UInt8(entry.value) {
                    set("drive.bus", quoted("/dev/i2c-\(bus)"), entry)
                } else {
                    ignore(entry, "the value must be the number of an I2C bus, such as 1")
                }
            case "motors.i2c_address":
                if Self.number(entry.value) == 0x16 {
                    set("drive.board", quoted("rider"), entry)
                } else {
                    ignore(entry, "airframed supports only the address 0x16 of the motor board")
                }
            case "motors.speed_limit", "motor.max_speed":
                scale("drive.limit", dividedBy: 100, entry)
            // The driver does not use its own setting of the acceleration, 0 to 100. The driver's
            // default of 50 becomes airframed's default of 2 1/s.
            case "motors.acceleration": scale("drive.acceleration", dividedBy: 25, entry)
            case "motors.command_timeout", "motor.timeout":
                scale("drive.dead_man_s", dividedBy: 1, entry)
            default: ignore(entry, Self.reason(entry))
            }
        }
    }

    private mutating func set(_ key: String, _ value: String, _ entry: YAMLFile.Entry) {
        pairs.append(SettingsFile.Pair(key: key, value: value, line: entry.line))
    }

    private mutating func ignore(_ entry: YAMLFile.Entry, _ reason: String) {
        ignored.append(Ignored(key: entry.path, line: entry.line, reason: reason))
    }

    private mutating func scale(_ key: String, dividedBy divisor: Double, _ entry: YAMLFile.Entry) {
        // A value that is not a number is sent unchanged; airframed then refuses the value with an
        // explanation.
        let number = Self.number(entry.value)
        set(key, number.map { Format.plain($0 / divisor) } ?? quoted(entry.value), entry)
    }

    private func quoted(_ text: String) -> String {
        let escaped = text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
        return "\"\(escaped)\""
    }

    /// A number in decimal or hexadecimal notation.
    private static func number(_ text: String) -> Double? {
        if text.hasPrefix("0x") { return Int(text.dropFirst(2), radix: 16).map(Double.init) }
        return Double(text).flatMap { $0.isFinite ? $0 : nil }
    }

    private static func reason(_ entry: YAMLFile.Entry) -> String {
        let table = entry.path.prefix { $0 != "." }
        switch (table, entry.path) {
        case (_, "motors.invert_left"), (_, "motors.invert_right"):
            return "swap the two wires of the motor instead"
        case (_, "network.rtsp_port"), ("rtsp", _), ("camera", _):
            return
                "a setting of airframe-eyes (rtsp.listen, rtsp.path, [video] in airframe-eyes.toml)"
        case (_, "network.bind_address"): return "there is no UDP port"
        case ("logging", _):
            return "airframed writes to the journal; log.level sets the lowest severity"
        case ("safety", _):
            return "the emergency stop and the dead-man time (drive.dead_man_s) are always on"
        case ("motor", _): return "the driver's text protocol on a serial port is not supported"
        case ("performance", _), ("advanced", _), ("robot", _):
            return "airframed needs no such setting"
        default: return "the key is unknown"
        }
    }
}
