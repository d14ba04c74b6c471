/// A new value of one setting, which only fits the property that it is for: no text lies between the asker and the store.
public struct SettingUpdate: Sendable, Equatable, CustomStringConvertible {
    /// Dotted path of the setting.
    public let key: String
    /// The new value; its range is not checked yet.
    public let value: SettingValue

    /// `airos.pid.yaw = [1, 0.1, 0.02]`, for people.
    public var description: String { "\(key) = \(value.tomlText)" }

    /// A change of one property.
    ///
    /// - Parameters:
    ///   - path: The property. One that is no setting is a mistake in the program, which ends.
    ///   - value: Its new value, in the unit of the setting.
    public init<Value>(_ path: any WritableKeyPath<Settings, Value> & Sendable, _ value: Value) {
        guard let setting = Schema.setting(at: path) else {
            preconditionFailure("no setting is at \(path)")
        }
        var settings = Settings()
        settings[keyPath: path] = value
        key = setting.key
        self.value = setting.value(in: settings)
    }
}

extension SettingUpdate {
    /// Puts the value into settings, whatever its range.
    public func write(_ settings: inout Settings) {
        Schema.setting(key)?.write(&settings, value)
    }
}

extension Schema {
    /// The setting that is this property; nil for a property that is none.
    static func setting(at path: PartialKeyPath<Settings>) -> Setting? {
        settings.first { $0.path == path }
    }
}
