import Port

/// A new value of one setting. The update contains a typed value, so no conversion to text and back
/// is necessary.
public struct SettingUpdate: Sendable, CustomStringConvertible {
    /// Dotted path of the setting.
    public let key: String
    /// Writes the new value to `settings` without a range check.
    public let write: @Sendable (inout Settings) -> Void
    /// True if the update resets the setting to its built-in default, even if a file sets another
    /// value.
    let isDefault: Bool
    /// The user's text for the value, for the message about a refusal; nil for a value from a
    /// program.
    private let written: String?

    /// The update as text for display, such as `airos.pid.yaw = [1, 0.1, 0.02]`.
    public var description: String { "\(key) = \(valueText)" }

    /// The value as TOML; `default` for the built-in default.
    public var valueText: String {
        guard !isDefault, let setting = Schema.setting(key) else { return "default" }
        var settings = Settings()
        write(&settings)
        return setting.value(in: settings).tomlText
    }

    /// Text of the value, for the error message about a refused update.
    var writtenText: String { written ?? valueText }

    /// Creates an update that returns one setting to its built-in default.
    ///
    /// - Parameter key: Dotted path of the setting.
    public init(toDefault key: String) {
        self.key = key
        write = { settings in
            guard let setting = Schema.setting(key) else { return }
            setting.write(&settings, setting.defaultValue)
        }
        isDefault = true
        written = nil
    }

    /// Creates an update from the text of a value.
    init(_ setting: Setting, _ value: SettingValue, written: String) {
        key = setting.key
        write = { setting.write(&$0, value) }
        isDefault = false
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
        key = setting.key
        write = { $0[keyPath: path] = value }
        isDefault = false
        written = nil
    }
}
