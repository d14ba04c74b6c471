import Port

/// A new value of one setting. The update writes a typed value to the property of the setting, so
/// the value is not converted to text and back.
public struct SettingUpdate: Sendable, CustomStringConvertible {
    /// Dotted path of the setting.
    public let key: String
    /// Writes the new value into settings, without a check of its range.
    public let write: @Sendable (inout Settings) -> Void
    /// True if the new value is the built-in default, even if a file sets another value.
    let isDefault: Bool
    /// The value as the user wrote it, for the text of a refusal; nil if a program set it.
    private let written: String?

    /// Text for display, such as `airos.pid.yaw = [1, 0.1, 0.02]`.
    public var description: String { "\(key) = \(valueText)" }

    /// The value as TOML; "default" for the built-in default.
    public var valueText: String {
        guard !isDefault, let setting = Schema.setting(key) else { return "default" }
        var settings = Settings()
        write(&settings)
        return setting.value(in: settings).tomlText
    }

    /// Text of the value in the error message for a refused update.
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

    /// Creates an update from a value in a text.
    init(_ setting: Setting, _ value: SettingValue, written: String) {
        key = setting.key
        write = { setting.write(&$0, value) }
        isDefault = false
        self.written = written
    }

    /// Creates a change of one property.
    ///
    /// - Parameters:
    ///   - path: The property. If the property does not belong to a setting, the process traps,
    ///     because this is a programming error.
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
