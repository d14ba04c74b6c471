// Somebody who may change only a part of the settings, such as an app, saves only that part.
extension ParameterStore {
    /// Makes what is set among these settings what is saved; everything else stays unsaved. Like `save()`: on a copy.
    ///
    /// - Parameter keys: Dotted paths.
    public mutating func save(only keys: [String]) {
        for key in keys {
            if let value = live.removeValue(forKey: key) {
                saved[key] = value
            } else if cleared.contains(key) {
                saved[key] = nil
            }
            cleared.remove(key)
        }
        rebuild()
    }

    /// Whether a restart would lose something that was set among these settings.
    public func hasUnsavedChanges(among keys: [String]) -> Bool {
        keys.contains { live[$0] != nil && live[$0] != saved[$0] || cleared.contains($0) }
    }

    /// Returns one setting to its built-in default, whatever the files say.
    ///
    /// - Parameter key: Dotted path.
    /// - Throws: `unknownKey`, `notLive`, or the rule that the default would break; then nothing has changed.
    public mutating func setToDefault(_ key: String) throws(ConfigurationProblem) {
        guard let setting = Schema.setting(key) else { throw .unknownKey(key) }
        var changed = self
        try changed.reset(key)
        if setting.value(in: changed.settings) != setting.defaultValue {
            try changed.set(key, to: setting.defaultValue.tomlText)
        }
        self = changed
    }
}

extension ParameterStore.Snapshot {
    /// Takes these settings over as they stand in a store: returning to this snapshot leaves them as they are there.
    ///
    /// - Parameters:
    ///   - keys: Dotted paths.
    ///   - store: Where they stand.
    public mutating func adopt(_ keys: [String], from store: ParameterStore) {
        for key in keys {
            live[key] = store.live[key]
            if store.cleared.contains(key) { cleared.insert(key) } else { cleared.remove(key) }
        }
    }
}
