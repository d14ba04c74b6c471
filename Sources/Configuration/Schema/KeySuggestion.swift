import PlainText

/// Suggestion of a setting for an unknown key.
enum KeySuggestion {
    /// Finds the most likely intended setting for an unknown key. The first candidate is a setting
    /// with the same name in another table. The second candidate is the setting with the most
    /// similar full key. The third candidate is the setting with the most similar name. If two
    /// settings have this name, the result contains both keys.
    static func setting(for key: String) -> String? {
        let name = key.split(separator: ".").last.map(String.init) ?? key
        let sameName = Schema.settings.filter { $0.name == name }.map(\.key)
        if sameName.count == 1 { return sameName[0] }
        if let sibling = Suggestion.nearest(to: key, in: sameName) { return sibling }
        if let close = Suggestion.nearest(to: key, in: Schema.settings.map(\.key)) { return close }
        let last = Suggestion.nearest(to: name, in: Schema.settings.map(\.name))
        let owners = Schema.settings.filter { $0.name == last }.map(\.key)
        return (1...2).contains(owners.count) ? owners.joined(separator: " or ") : nil
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
