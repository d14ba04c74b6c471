import Port

/// A new value of one setting. The update contains a typed value, so no conversion to text and back
/// is necessary.
public struct SettingUpdate: Sendable, CustomStringConvertible {
    /// Dotted path of the setting.
    public let key: String
    /// The new value, without a range check. Nil resets the setting to its built-in default, even
    /// if a file sets another value.
    public let value: SettingValue?
    /// The user's text for the value, for the message about a refusal; nil for a value from a
    /// program.
    private let written: String?

    /// The update as text for display, such as `airos.pid.yaw = [1, 0.1, 0.02]`.
    public var description: String { "\(key) = \(valueText)" }

    /// The value as TOML; `default` for the built-in default.
    public var valueText: String { value?.tomlText ?? "default" }

    /// Text of the value, for the error message about a refused update.
    var writtenText: String { written ?? valueText }

    /// Creates an update that returns one setting to its built-in default.
    ///
    /// - Parameter key: Dotted path of the setting.
    public init(toDefault key: String) {
        self.key = key
        value = nil
        written = nil
    }

    /// Creates an update from a value that a user has entered as the text `written`.
    init(_ setting: Setting, _ value: SettingValue, written: String) {
        key = setting.key
        self.value = value
        self.written = written
    }

    /// Creates an update of one property.
    ///
    /// - Parameters:
    ///   - path: The property. A property without a setting is a programming error, so the process
    ///     traps.
    ///   - value: New value of the property, in the unit of the setting.
    public init<Value: Sendable>(
        _ path: any WritableKeyPath<Settings, Value> & Sendable, _ value: Value
    ) {
        guard let setting = Schema.settings.first(where: { $0.path == path }) else {
            preconditionFailure("the schema contains no setting for the property \(path)")
        }
        var settings = Settings()
        settings[keyPath: path] = value
        key = setting.key
        self.value = setting.value(in: settings)
        written = nil
    }
}
