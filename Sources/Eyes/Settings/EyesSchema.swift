public import Configuration

/// Declaration of one setting: its rule, and its property of `EyesSettings`.
public struct EyesSetting: Sendable {
    /// Key, range, unit and meaning of the setting.
    public let rule: SettingRule
    let read: @Sendable (EyesSettings) -> SettingValue
    let write: @Sendable (inout EyesSettings, SettingValue) -> Void
}

/// All settings of airframe-eyes, each declared once. The loader, `--print-config` and the sample
/// file read this table.
public enum EyesSchema {
    /// The settings, in the order of the sample file.
    public static let settings: [EyesSetting] = [
        bool(
            "video.enabled", \.video.enabled, .live,
            "Whether clients receive the stream; with false the camera stays off."),
        word(
            "video.source", \.video.source, .live,
            "Source of the pictures; auto uses libcamera, then V4L2, then the test picture."),
        text(
            "video.device", \.video.device, .text(maxLength: 255), .live,
            "Name or path of the camera, as `airframe-eyes cameras` lists it; auto uses the first."),
        integer("video.width", \.video.width, 160...1920, "px", .live, "Width of the stream."),
        integer("video.height", \.video.height, 120...1080, "px", .live, "Height of the stream."),
        integer("video.rate_hz", \.video.rateHz, 5...60, "Hz", .live, "Pictures per second."),
        integer(
            "video.bitrate_kbps", \.video.bitrateKbps, 100...20000, "kbit/s", .live,
            "Bit rate of the stream; a camera that encodes its pictures ignores it."),
        word(
            "video.encoder", \.video.encoder, .live,
            "Encoder; auto uses the board's encoder (v4l2), otherwise the processor (x264)."),
        bool(
            "video.always_on", \.video.alwaysOn, .live,
            "Whether the camera also runs while no client is connected; the first picture then comes sooner."
        ),
        bool(
            "video.record", \.video.record, .live,
            "Whether the stream is recorded as MP4, with the camera's motion as .gcsv for Gyroflow; the camera then runs without a client too."
        ),
        text(
            "video.record_directory", \.video.recordDirectory, .path(maxLength: 255), .live,
            "Directory of recordings."),
        text(
            "rtsp.listen", \.rtsp.listen, .endpoint, .restart,
            "Address and port of the RTSP server; 0.0.0.0:8554 serves every network.",
            hint: "Anyone who can reach the port can watch: the stream has no password."),
        text(
            "rtsp.path", \.rtsp.path, .path(maxLength: 64), .restart,
            "Path of the stream in its address, rtsp://ADDRESS:PORT/PATH."),
        integer(
            "rtsp.max_clients", \.rtsp.maxClients, 1...32, nil, .restart,
            "Largest number of clients at once; further ones are disconnected."),
        text(
            "gimbal.socket", \.gimbal.socket, .optionalPath(maxLength: 107), .restart,
            "Path of airframed's socket, for the test picture and for `airframectl status`."),
    ]

    /// Name and one-sentence summary of each TOML table.
    static let tables: [(name: String, summary: String)] = [
        ("video", "The camera and its encoder."),
        ("rtsp", "The server that players connect to."),
        ("gimbal", "The connection to airframed."),
    ]

    /// The setting with the given key; nil for an unknown key.
    public static func setting(_ key: String) -> EyesSetting? {
        settings.first { $0.rule.key == key }
    }

    private typealias Path<Value> = any WritableKeyPath<EyesSettings, Value> & Sendable

    private static func bool(
        _ key: String, _ path: Path<Bool>, _ applies: Setting.Applies, _ summary: String
    ) -> EyesSetting {
        EyesSetting(
            rule: SettingRule(
                key, .bool, applies, default: .bool(EyesSettings()[keyPath: path]), summary),
            read: { .bool($0[keyPath: path]) },
            write: { if case .bool(let value) = $1 { $0[keyPath: path] = value } })
    }

    private static func integer(
        _ key: String, _ path: Path<Int>, _ range: ClosedRange<Int>, _ unit: String?,
        _ applies: Setting.Applies, _ summary: String
    ) -> EyesSetting {
        EyesSetting(
            rule: SettingRule(
                key, .integer(range), unit: unit, applies,
                default: .integer(EyesSettings()[keyPath: path]), summary),
            read: { .integer($0[keyPath: path]) },
            write: { if case .integer(let value) = $1 { $0[keyPath: path] = value } })
    }

    private static func text(
        _ key: String, _ path: Path<String>, _ kind: Setting.Kind, _ applies: Setting.Applies,
        _ summary: String, hint: String? = nil
    ) -> EyesSetting {
        EyesSetting(
            rule: SettingRule(
                key, kind, applies, default: .text(EyesSettings()[keyPath: path]), summary,
                hint: hint),
            read: { .text($0[keyPath: path]) },
            write: { if case .text(let value) = $1 { $0[keyPath: path] = value } })
    }

    private static func word<Value: RawRepresentable<String> & CaseIterable & Sendable>(
        _ key: String, _ path: Path<Value>, _ applies: Setting.Applies, _ summary: String
    ) -> EyesSetting {
        EyesSetting(
            rule: SettingRule(
                key, .choice(Value.allCases.map(\.rawValue), unavailable: [:]), applies,
                default: .text(EyesSettings()[keyPath: path].rawValue), summary),
            read: { .text($0[keyPath: path].rawValue) },
            write: {
                if case .text(let word) = $1, let value = Value(rawValue: word) {
                    $0[keyPath: path] = value
                }
            })
    }
}

extension EyesSchema {
    /// The text of `etc/airframe-eyes.toml`: every setting with its default, commented out.
    public static var sampleFile: String {
        var lines = [
            "# airframe-eyes: the configuration file.",
            "#",
            "# Install as /etc/airframe/airframe-eyes.toml. Remove the # in front of a setting to change it.",
            "# `systemctl reload airframe-eyes` applies live settings without disconnecting clients.",
        ]
        for (table, summary) in tables {
            lines += ["", "# \(summary)", "[\(table)]"]
            for setting in settings where setting.rule.table == table {
                let rule = setting.rule
                let unit = rule.unit.map { " " + $0 } ?? ""
                let applies = rule.applies == .live ? "Changes live." : "Needs a restart."
                lines += ["", "# \(rule.summary)"]
                lines.append(
                    "# Allowed: \(rule.allowed)\(unit), default \(rule.defaultValue.tomlText). \(applies)"
                )
                if let hint = rule.hint { lines.append("# \(hint)") }
                lines.append("#\(rule.name) = \(rule.defaultValue.tomlText)")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
