import Port

/// A new value of one setting. It writes a typed value to its property, so no text is passed from
/// the requester to the store.
public struct SettingUpdate: Sendable, CustomStringConvertible {
    /// Dotted path of the setting.
    public let key: String
    /// Writes the new value into settings, without a check of its range.
    public let write: @Sendable (inout Settings) -> Void
    /// Whether the new value is the built-in default, even if a file sets another value.
    let isDefault: Bool
    /// The value as a person wrote it, for a refusal; nil if a program set it.
    private let written: String?

    /// Text for display: `airos.pid.yaw = [1, 0.1, 0.02]`.
    public var description: String { "\(key) = \(valueText)" }

    /// The value as TOML; "default" for the built-in default.
    public var valueText: String {
        guard !isDefault, let setting = Schema.setting(key) else { return "default" }
        var settings = Settings()
        write(&settings)
        return setting.value(in: settings).tomlText
    }

    /// The value as the text of a refusal shows it.
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
    ///   - path: The property. A property that is not a setting ends the program, as a bug.
    ///   - value: New value of the property, in the unit of the setting.
    public init<Value: Sendable>(
        _ path: any WritableKeyPath<Settings, Value> & Sendable, _ value: Value
    ) {
        guard let setting = Schema.settings.first(where: { $0.path == path }) else {
            preconditionFailure("no setting is at \(path)")
        }
        key = setting.key
        write = { $0[keyPath: path] = value }
        isDefault = false
        written = nil
    }
}
