/// Rule for a setting of another program of this package: key, allowed values and meaning, as
/// `Setting` has them, but without a property of `Settings`. A companion program checks its values
/// with the same code and reports them in the same words as the daemon.
public struct SettingRule: Sendable {
    private let setting: Setting

    /// A rule.
    ///
    /// - Parameters:
    ///   - key: Dotted path, such as `video.rate_hz`.
    ///   - kind: Allowed values.
    ///   - unit: Unit for display; nil without one.
    ///   - applies: Time at which a change takes effect.
    ///   - defaultValue: The built-in value.
    ///   - summary: Description in one sentence.
    ///   - hint: Hint for the message about a bad value; nil if the range is enough.
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
    /// `video` of `video.rate_hz`.
    public var table: String { setting.table }
    /// `rate_hz` of `video.rate_hz`.
    public var name: String { setting.name }
    /// Allowed values.
    public var kind: Setting.Kind { setting.kind }
    /// Allowed values, in one phrase.
    public var allowed: String { setting.allowed }
    /// Unit for display; nil without one.
    public var unit: String? { setting.unit }
    /// Time at which a change takes effect.
    public var applies: Setting.Applies { setting.applies }
    /// Description in one sentence.
    public var summary: String { setting.summary }
    /// Hint for the message about a bad value.
    public var hint: String? { setting.hint }
    /// The built-in value.
    public var defaultValue: SettingValue { setting.defaultValue }

    /// The value that a text contains.
    ///
    /// - Parameters:
    ///   - text: TOML, or a bare word taken as a string.
    ///   - place: Place of the text, for the message.
    /// - Returns: A value of the rule's kind.
    /// - Throws: The problem, if the value is not allowed.
    public func value(of text: String, at place: Place?) throws(ConfigurationProblem)
        -> SettingValue
    {
        guard let raw = LiteralReader.read(text) else {
            throw ConfigurationProblem(
                .syntax, at: place, key: key, value: text, "is not a TOML value",
                allowed: allowed, hint: "Expected: \(allowed).")
        }
        return try setting.check(raw, written: text, at: place)
    }
}

extension ConfigurationProblem {
    /// Problem of a key that is not among the rules.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - value: Its value as text.
    ///   - place: Its place.
    ///   - guess: The key that was probably meant; nil without one.
    /// - Returns: The problem.
    public static func unknown(
        _ key: String, value: String?, at place: Place?, guess: String?
    ) -> ConfigurationProblem {
        ConfigurationProblem(
            .unknownKey, at: place, key: shortened(key), value: value, "is not a known key",
            hint: guess.map { "Did you mean \($0)?" })
    }

    /// Problem of an argument of `--set` without a value.
    public static func withoutValue(_ text: String, example: String) -> ConfigurationProblem {
        ConfigurationProblem(
            .syntax, at: .commandLine, key: shortened(text), "has no value",
            hint: "Write --set KEY=VALUE, such as --set \(example).")
    }
}

extension ConfigurationFailure {
    /// A failure with these problems, at least one.
    public init(_ problems: [ConfigurationProblem]) { self.init(problems: problems) }
}
