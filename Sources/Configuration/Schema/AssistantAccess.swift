import GimbalCore

/// Permission of assistants to change a setting temporarily. The schema declares the permission of
/// each setting; a setting without a declaration has the permission `none`.
public enum AssistantAccess: String, Sendable, CaseIterable {
    /// Assistants cannot change the setting: it moves a joint or a robot directly, protects the
    /// motors, grants access, or belongs to a person's device.
    case none
    /// Assistants can lower the value: it limits a rate, an acceleration, a torque or a time.
    /// Numbers and arrays of three numbers can have this permission.
    case lower
    /// Assistants can raise the value, because a higher value makes the gimbal slower. Numbers and
    /// arrays of three numbers can have this permission.
    case raise
    /// Assistants can set every value in the setting's range: the value tunes the gimbal, but does
    /// not limit a rate, a range of motion, a torque, the motors' power or access.
    case any

    /// Checks whether an assistant can set a value.
    ///
    /// - Parameters:
    ///   - value: The new value.
    ///   - lasting: The value without assistants' temporary changes. Assistants can always restore
    ///     this value.
    /// - Returns: True if the assistant can set the value.
    public func admits(_ value: SettingValue, lasting: SettingValue) -> Bool {
        if value == lasting { return true }
        switch self {
        case .none: return false
        case .any: return true
        case .lower: return Self.isAtMost(value, lasting)
        case .raise: return Self.isAtMost(lasting, value)
        }
    }

    /// True if each number of `value` is at most the corresponding number of `limit`.
    private static func isAtMost(_ value: SettingValue, _ limit: SettingValue) -> Bool {
        switch (value, limit) {
        case (.number(let value), .number(let limit)): value <= limit
        case (.triple(let value), .triple(let limit)):
            GimbalAxis.allCases.allSatisfy { value[$0] <= limit[$0] }
        default: false
        }
    }
}

extension Setting {
    /// The setting with the given permission of assistants.
    func assistants(_ access: AssistantAccess) -> Setting {
        var setting = self
        setting.assistantAccess = access
        return setting
    }

    /// The sentence about the permission of assistants, for the manual; nil for `none`.
    public var assistantSentence: String? {
        switch assistantAccess {
        case .none: nil
        case .lower: "An assistant can lower the value temporarily."
        case .raise: "An assistant can raise the value temporarily."
        case .any: "An assistant can change the value temporarily."
        }
    }

    /// Explains why an assistant cannot set a value.
    ///
    /// - Parameter lasting: The value without assistants' temporary changes.
    /// - Returns: The message, with the remedy.
    public func assistantRefusal(lasting: SettingValue) -> String {
        let limit = lasting.tomlText + (unit.map { " " + $0 } ?? "")
        return switch assistantAccess {
        // The permission `any` admits every value, so it needs no refusal.
        case .none, .any:
            "An assistant cannot change \(key). A person can change it with airframectl set."
        case .lower:
            "An assistant can lower \(key), but cannot raise it above \(limit). A person can raise it with airframectl set."
        case .raise:
            "An assistant can raise \(key), but cannot lower it below \(limit). A person can lower it with airframectl set."
        }
    }
}

extension ParameterStore {
    /// Restores a baseline for an assistant, as `restore(tuning:)`. The settings whose values in
    /// the baseline the assistant cannot set get the values from `lasting`.
    ///
    /// - Parameters:
    ///   - overlay: Values of the baseline.
    ///   - lasting: The store without assistants' temporary changes.
    /// - Returns: The problems of entries that are no longer valid, and the keys of the settings
    ///   that kept their values because the assistant cannot change them.
    /// - Throws: A `ConfigurationProblem` if the values together violate a rule; nothing has
    ///   changed.
    public mutating func restore(
        tuning overlay: Overlay, forAssistant lasting: ParameterStore
    ) throws(ConfigurationProblem) -> (problems: [ConfigurationProblem], kept: [String]) {
        var changed = self
        let problems = try changed.restore(tuning: overlay)
        let kept = Schema.settings.filter {
            let value = lasting.value(of: $0)
            return !$0.assistantAccess.admits(changed.value(of: $0), lasting: value)
        }
        guard !kept.isEmpty else {
            self = changed
            return (problems, [])
        }
        var permitted = overlay
        for setting in kept {
            let value = lasting.value(of: setting)
            // A value from the files needs no entry.
            permitted[setting.key] =
                value == setting.value(in: loaded.settings) ? nil : value.tomlText
        }
        _ = try restore(tuning: permitted)
        return (problems, kept.map(\.key))
    }

    private func value(of setting: Setting) -> SettingValue { setting.value(in: settings) }
}
