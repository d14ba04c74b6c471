@testable import Configuration

/// Expected content of `etc/airframed.toml`, generated from the schema.
enum SampleFile {
    static var text: String {
        var lines = introduction
        for (table, summary) in Schema.tables {
            let settings = Schema.settings.filter { $0.table == table }
            lines += ["", "# " + summary, "[\(table)]"]
            for setting in settings {
                lines.append("")
                lines += wrapped(setting.summary)
                lines += wrapped(facts(of: setting))
                lines.append("#\(setting.name) = \(setting.defaultValue.tomlText)")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Text such as `Range 50...4000 Hz, default 1000. Needs a restart.`
    static func facts(of setting: Setting) -> String {
        let unit = setting.unit.map { " " + $0 } ?? ""
        let range =
            switch setting.kind {
            case .bool, .choice: "One of \(setting.allowed)"
            case .text, .path, .optionalPath, .uriPath, .endpoint, .requiredEndpoint:
                "Allowed: \(setting.allowed)"
            default: "Range \(setting.allowed)\(unit)"
            }
        let applies = setting.applies == .live ? "Changes live." : "Needs a restart."
        let hint = setting.hint.map { " " + $0 } ?? ""
        return "\(range), default \(setting.defaultValue.tomlText). \(applies)\(hint)"
    }

    private static let introduction = """
        # airframed: the configuration file.
        #
        # Install this file as /etc/airframe/airframed.toml. It lists every setting with its default, commented out: remove the #
        # in front of a setting to change it. Files in conf.d/ in the same directory, in the order of their names, and
        # `airframed --set KEY=VALUE` override it. A key is the table and the name, such as loop.rate_hz.
        #
        #   airframed --check-config    lists every mistake, with its line
        #   airframed --print-config    shows the values and their sources, without saved values
        #   airframectl get             shows the effective values
        #   airframectl reload          applies live settings, and lists settings that need a restart
        #
        # Three numbers in brackets are yaw, roll, pitch unless stated otherwise. Ranges include both ends.
        """.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)

    private static func wrapped(_ sentence: String) -> [String] {
        var lines: [String] = []
        var line = "#"
        for word in sentence.split(separator: " ") {
            if line.unicodeScalars.count + word.unicodeScalars.count + 1 > 100 {
                lines.append(line)
                line = "#"
            }
            line += " " + word
        }
        return lines + [line]
    }
}
