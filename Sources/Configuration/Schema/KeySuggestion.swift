import PlainText

/// Suggestion of a setting for an unknown key.
enum KeySuggestion {
    /// Finds the most likely intended setting of airframed for an unknown key.
    static func setting(for key: String) -> String? {
        nearest(to: key, in: Schema.settings.map(\.key))
    }

    /// Finds the most likely intended key for an unknown key. The first candidate is a key with
    /// the same name in another table. The second candidate is the most similar full key. The third
    /// candidate is the key with the most similar name, or with a name that continues the given
    /// name, such as `video.rate_hz` for `rate`. If two or three keys have this name, the result
    /// contains all of them.
    static func nearest(to key: String, in keys: [String]) -> String? {
        let wanted = name(of: key)
        let sameName = keys.filter { name(of: $0) == wanted }
        if sameName.count == 1 { return sameName[0] }
        if let sibling = Suggestion.nearest(to: key, in: sameName) { return sibling }
        if let close = Suggestion.nearest(to: key, in: keys) { return close }
        let last = Suggestion.nearest(to: wanted, in: keys.map(name(of:)))
        let owners = keys.filter { other in
            last.map { name(of: other) == $0 } ?? name(of: other).hasPrefix(wanted + "_")
        }
        return (1...3).contains(owners.count) ? owners.joined(separator: " or ") : nil
    }

    /// Part of a key after the last dot.
    private static func name(of key: String) -> String {
        key.split(separator: ".").last.map(String.init) ?? key
    }

    /// Finds the setting that the user probably meant after an assignment to a table. The key of
    /// the intended setting begins with the table's name and an underscore. If several settings
    /// with this prefix accept the value, or none, the result is nil. For example, `robot.slider =
    /// "rate"` means `robot.slider_motion`.
    static func setting(beside table: String, taking value: RawValue) -> String? {
        let fitting = Schema.settings.filter {
            $0.key.hasPrefix(table + "_") && (try? $0.check(value, written: "", at: nil)) != nil
        }
        return fitting.count == 1 ? fitting[0].key : nil
    }
}

extension Schema {
    /// Settings of earlier versions, with the remedy for a configuration that still contains them.
    /// The name of another setting can be similar by chance, so no setting is suggested.
    static let removed: [String: String] = [
        "estimator.cross_sigma": removal, "estimator.stride_aiding": removal,
        "imu.frozen_samples":
            "imu.frozen_ms has replaced this setting of an earlier version; its unit is ms.",
        "servo.learn_strides": removal,
    ]

    private static let removal =
        "An earlier version had this setting. Remove it from the configuration."
    /// Hint about a removed setting in the saved state, which people do not edit.
    static let removedSince =
        "An earlier version had this setting, so the saved value has no effect."
}
