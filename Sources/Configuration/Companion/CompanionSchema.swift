/// Declaration of one setting of a companion program: its rule and its property of `Settings`.
public struct CompanionSetting<Settings: Sendable>: Sendable {
    /// Rule of the setting: its key, range, unit and meaning.
    public let rule: Setting
    /// Function that returns the value of the setting.
    public let read: @Sendable (Settings) -> SettingValue
    /// Function that changes the value of the setting. A value of the wrong type has no effect.
    public let write: @Sendable (inout Settings, SettingValue) -> Void
}

/// All settings of a companion program, each declared once. The loader, `--print-config` and the
/// sample file use this table.
public struct CompanionSchema<Settings: Sendable>: Sendable {
    /// Key path of a property of `Settings`.
    public typealias Path<Value> = any WritableKeyPath<Settings, Value> & Sendable

    /// Name of the program, such as `airframe-eyes`.
    public let program: String
    /// Default values of all settings.
    public let defaults: Settings
    /// Tables of the configuration file, in the order of the file, each with a summary of one
    /// sentence.
    public let tables: [(name: String, summary: String)]
    /// The settings, in the order of the sample file.
    public private(set) var settings: [CompanionSetting<Settings>] = []
    /// Keys of two files that the program needs together (either both are `off` or none), and the
    /// key of an address without which the program needs neither.
    private var pairs: [(String, String, address: String)] = []

    /// Creates a schema without settings.
    public init(
        program: String, defaults: Settings, tables: [(name: String, summary: String)]
    ) {
        self.program = program
        self.defaults = defaults
        self.tables = tables
    }

    /// The setting with the given key.
    public func setting(_ key: String) -> CompanionSetting<Settings>? {
        settings.first { $0.rule.key == key }
    }

    private mutating func add<Value>(
        _ key: String, _ path: Path<Value>, _ kind: Setting.Kind, _ unit: String?,
        _ applies: Setting.Applies, _ summary: String, _ hint: String?,
        wrap: @escaping @Sendable (Value) -> SettingValue,
        unwrap: @escaping @Sendable (SettingValue) -> Value?
    ) {
        settings.append(
            CompanionSetting(
                rule: Setting(
                    key, kind, unit, applies, default: wrap(defaults[keyPath: path]), summary,
                    hint),
                read: { wrap($0[keyPath: path]) },
                write: { if let value = unwrap($1) { $0[keyPath: path] = value } }))
    }

    /// Declares a Boolean setting.
    public mutating func bool(
        _ key: String, _ path: Path<Bool>, _ applies: Setting.Applies, _ summary: String
    ) {
        add(key, path, .bool, nil, applies, summary, nil, wrap: SettingValue.bool) {
            if case .bool(let value) = $0 { value } else { nil }
        }
    }

    /// Declares an integer setting.
    public mutating func integer(
        _ key: String, _ path: Path<Int>, _ range: ClosedRange<Int>, _ unit: String?,
        _ applies: Setting.Applies, _ summary: String
    ) {
        add(key, path, .integer(range), unit, applies, summary, nil, wrap: SettingValue.integer) {
            if case .integer(let value) = $0 { value } else { nil }
        }
    }

    /// Declares a text setting of the given kind.
    public mutating func text(
        _ key: String, _ path: Path<String>, _ kind: Setting.Kind, _ applies: Setting.Applies,
        _ summary: String, hint: String? = nil
    ) {
        add(key, path, kind, nil, applies, summary, hint, wrap: SettingValue.text) {
            if case .text(let value) = $0 { value } else { nil }
        }
    }

    /// Declares that the server at `address` needs two files together: the settings are either both
    /// `off`, or both are paths. If the address is `off`, the files have no effect.
    public mutating func requireTogether(_ first: String, _ second: String, at address: String) {
        pairs.append((first, second, address))
    }

    /// Problem of settings that contradict each other; nil if there is none.
    func conflict(in settings: Settings) -> ConfigurationProblem? {
        for (first, second, address) in pairs {
            let isOff = [first, second, address].map { setting($0)?.read(settings) == .text("off") }
            guard isOff[0] != isOff[1], !isOff[2] else { continue }
            let (missing, present) = isOff[0] ? (first, second) : (second, first)
            return ConfigurationProblem(
                .conflict, key: missing, value: "off", "is necessary because \(present) is set",
                hint: "Set both, or neither.")
        }
        return nil
    }

    /// Declares an enumeration setting.
    public mutating func word<Value: RawRepresentable<String> & CaseIterable & Sendable>(
        _ key: String, _ path: Path<Value>, _ applies: Setting.Applies, _ summary: String
    ) {
        add(
            key, path, .choice(Value.allCases.map(\.rawValue), unavailable: [:]), nil, applies,
            summary, nil, wrap: { .text($0.rawValue) }
        ) { if case .text(let word) = $0 { Value(rawValue: word) } else { nil } }
    }

    /// Text of a manual page: the tables, their settings, and the description of each setting.
    public var documentation:
        [(name: String, summary: String, settings: [(key: String, text: String)])]
    {
        tables.map { table in
            let rules = settings.map(\.rule).filter { $0.table == table.name }
            return (
                table.name, table.summary, rules.map { ($0.key, "\($0.summary) \($0.facts)") }
            )
        }
    }

    /// Creates the text of the sample file. In the sample file, each setting is commented out and
    /// has its default value.
    ///
    /// - Parameter advice: Last line of the sample file's header; it explains how changes take
    ///   effect.
    /// - Returns: The file's text.
    public func sampleFile(advice: String) -> String {
        var lines = [
            "# \(program): the configuration file.",
            "#",
            "# Install as /etc/airframe/\(program).toml. Remove the # in front of a setting to change it.",
            "# \(advice)",
        ]
        for (table, summary) in tables {
            lines += ["", "# \(summary)", "[\(table)]"]
            for setting in settings where setting.rule.table == table {
                let rule = setting.rule
                lines += ["", "# \(rule.summary)", "# \(rule.facts)"]
                if let hint = rule.hint { lines.append("# \(hint)") }
                lines.append("#\(rule.name) = \(rule.defaultValue.tomlText)")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension Setting {
    /// Creates the rule of a companion's setting, which has no property of the daemon's `Settings`.
    fileprivate init(
        _ key: String, _ kind: Kind, _ unit: String?, _ applies: Applies,
        default defaultValue: SettingValue, _ summary: String, _ hint: String?
    ) {
        self.init(
            key: key, kind: kind, unit: unit, applies: applies, summary: summary, hint: hint,
            path: \Settings.self, read: { _ in defaultValue }, write: { _, _ in })
    }

    /// Description of the setting's range, its default, and the time at which a change takes
    /// effect.
    public var facts: String {
        let unit = unit.map { " " + $0 } ?? ""
        let applies = applies == .live ? "Changes live." : "Needs a restart."
        return "Allowed: \(allowed)\(unit), default \(defaultValue.tomlText). \(applies)"
    }
}
