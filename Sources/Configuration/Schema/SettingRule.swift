/// Rule for a setting of another program of this package, such as airframe-eyes. Like a `Setting`,
/// a rule has a key, allowed values and a meaning, but it has no property of `Settings`. Therefore
/// another program can check its values with the daemon's code, and report problems in the same
/// format.
public struct SettingRule: Sendable {
    private let setting: Setting

    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - key: Dotted path, such as `video.rate_hz`.
    ///   - kind: Allowed values.
    ///   - unit: Unit for display; nil for a value without a unit.
    ///   - applies: Time at which a change takes effect.
    ///   - defaultValue: The built-in value.
    ///   - summary: Description in one sentence.
    ///   - hint: Remedy in the message about an invalid value; nil if the message states only the
    ///     range.
    public init(
        _ key: String, _ kind: Setting.Kind, unit: String? = nil, _ applies: Setting.Applies,
        default defaultValue: SettingValue, _ summary: String, hint: String? = nil
    ) {
        setting = Setting(
            key: key, kind: kind, unit: unit, applies: applies, summary: summary, hint: hint,
            path: \Settings.self, read: { _ in defaultValue }, write: { _, _ in })
    }

    /// Dotted path.
    public var key: String { setting.key }
    /// Name of the table, for example `video` for `video.rate_hz`.
    public var table: String { setting.table }
    /// Name within the table, for example `rate_hz` for `video.rate_hz`.
    public var name: String { setting.name }
    /// Allowed values.
    public var kind: Setting.Kind { setting.kind }
    /// Allowed values, in one phrase.
    public var allowed: String { setting.allowed }
    /// Unit for display; nil for a value without a unit.
    public var unit: String? { setting.unit }
    /// Time at which a change takes effect.
    public var applies: Setting.Applies { setting.applies }
    /// Description in one sentence.
    public var summary: String { setting.summary }
    /// Remedy in the message about an invalid value.
    public var hint: String? { setting.hint }
    /// The built-in value.
    public var defaultValue: SettingValue { setting.defaultValue }

    /// Parses and checks the text of a value.
    ///
    /// - Parameters:
    ///   - text: TOML, or an unquoted word, which counts as a string.
    ///   - place: Location of the text, for the message.
    /// - Returns: The value, converted to the setting's type, such as a number or a Boolean.
    /// - Throws: `ConfigurationProblem` if the value is not allowed.
    public func value(of text: String, at place: Place?) throws(ConfigurationProblem)
        -> SettingValue
    {
        try setting.value(LiteralReader.read(text), written: text, at: place)
    }
}

extension ConfigurationProblem {
    /// Creates the problem for an unknown key.
    ///
    /// - Parameters:
    ///   - key: The unknown key.
    ///   - value: Value of the key as text.
    ///   - place: Location of the key.
    ///   - guess: Key that the user probably meant; nil if no key is similar.
    /// - Returns: The problem.
    public static func unknown(
        _ key: String, value: String?, at place: Place?, guess: String?
    ) -> ConfigurationProblem {
        ConfigurationProblem(
            .unknownKey, at: place, key: shortened(key), value: value, "is not a known key",
            hint: guess.map { "Did you mean \($0)?" })
    }

    /// Creates the problem for an argument `KEY=VALUE` without a value.
    ///
    /// - Parameters:
    ///   - text: The argument.
    ///   - place: `commandLine` for an argument of `--set`; nil for a request.
    ///   - example: Correct `KEY=VALUE`, for the message.
    /// - Returns: The problem.
    public static func withoutValue(
        _ text: String, at place: Place?, example: String
    ) -> ConfigurationProblem {
        let option = place == .commandLine ? "--set " : ""
        return ConfigurationProblem(
            .syntax, at: place, key: shortened(text), "has no value",
            hint: "Write \(option)KEY=VALUE, such as \(option)\(example).")
    }
}

extension ConfigurationFailure {
    /// Creates a failure from one or more problems.
    public init(_ problems: [ConfigurationProblem]) { self.init(problems: problems) }
}
