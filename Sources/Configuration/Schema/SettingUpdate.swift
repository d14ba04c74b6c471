import Port

/// A new value of one setting. The type of the value is that of the property, so no text is passed
/// between requester and store.
public struct SettingUpdate: Sendable, Equatable, CustomStringConvertible {
    /// Dotted path of the setting.
    public let key: String
    /// The new value, before the check of its range; nil for the built-in default, even if a file
    /// sets another value.
    public let value: SettingValue?
    /// The value as a person wrote it, for a refusal; nil if a program set it.
    private let written: String?

    /// Text for display: `airos.pid.yaw = [1, 0.1, 0.02]`.
    public var description: String { "\(key) = \(valueText)" }

    /// The value as TOML; "default" for the built-in one.
    public var valueText: String { value?.tomlText ?? "default" }

    /// Creates the return of one setting to its built-in default.
    ///
    /// - Parameter key: Its dotted path.
    public init(toDefault key: String) {
        self.key = key
        value = nil
        written = nil
    }

    /// Creates an update from a value in a text.
    init(_ key: String, _ value: SettingValue, written: String) {
        self.key = key
        self.value = value
        self.written = written
    }

    /// The value in the text of a refusal.
    var writtenText: String { written ?? valueText }

    /// Creates a change of one property.
    ///
    /// - Parameters:
    ///   - path: The property. A property that is not a setting ends the program, as a bug.
    ///   - value: New value of the property, in the unit of the setting.
    public init<Value>(_ path: any WritableKeyPath<Settings, Value> & Sendable, _ value: Value) {
        guard let setting = Schema.setting(at: path) else {
            preconditionFailure("no setting is at \(path)")
        }
        var settings = Settings()
        settings[keyPath: path] = value
        key = setting.key
        self.value = setting.read(settings)
        written = nil
    }
}

extension SettingUpdate {
    /// Writes the value into settings without a range check.
    public func write(_ settings: inout Settings) {
        guard let setting = Schema.setting(key) else { return }
        setting.write(&settings, value ?? setting.defaultValue)
    }
}

extension Schema {
    /// The setting of this property; nil if the property is not a setting.
    static func setting(at path: PartialKeyPath<Settings>) -> Setting? {
        settings.first { $0.path == path }
    }
}
