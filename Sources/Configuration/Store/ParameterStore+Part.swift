// Methods for clients with access to only a part of the settings, such as apps.
extension ParameterStore {
    /// Marks the current values of the given settings as saved. Other values remain unsaved. Call
    /// this method on a copy of the store, like `save()`.
    ///
    /// - Parameter keys: Dotted paths.
    public mutating func save(only keys: [String]) {
        for key in keys {
            if let value = live.removeValue(forKey: key) {
                saved[key] = value
                savedSinceStart.insert(key)
            } else if cleared.contains(key) {
                saved[key] = nil
            } else {
                continue
            }
            ignored[key] = nil
            cleared.remove(key)
        }
        rebuild()
    }

    /// Replaces the store's saved values by the values that are now on the disk. Active values do
    /// not change. If a live value equals the value on the disk, its origin becomes `saved`. An
    /// entry without effect stays without effect until it changes.
    ///
    /// - Parameters:
    ///   - overlay: All saved entries; invalid entries are ignored.
    ///   - keys: Keys of the live values that were saved (see `changedKeys`); nil if all were saved.
    ///     Another live value can be equal to a saved value that `--set` overrides. It stays live.
    ///   - checked: Keys of entries that `wiringChange` has just checked.
    ///   - isUndo: True if an undo has restored earlier saved values. If a live change has not
    ///     replaced the value of `--set`, this value is active and stays so.
    public mutating func adopt(
        saved overlay: Overlay, saving keys: Set<String>? = nil, checked: Set<String> = [],
        isUndo: Bool = false
    ) {
        let (before, earlier) = (ignored, saved)
        onDisk = overlay
        saved = [:]
        nextWiring = [:]
        ignored = [:]
        for (key, text) in overlay {
            if before[key] == text, live[key]?.tomlText != text, !checked.contains(key) {
                ignored[key] = text
            } else if Schema.wiring.contains(key) {
                nextWiring[key] = try? Self.wiringValue(key, text).1
            } else {
                saved[key] = Self.savedValue(key, text)
            }
        }
        // Without these keys, the active value of a setting would change back to that of `--set`.
        // While a temporary change is active, a value that was just saved is not in `live`.
        for (key, value) in saved
        where live[key] == value && keys?.contains(key) ?? true || earlier[key] != value {
            if isUndo, live[key] == nil, !cleared.contains(key) { continue }
            savedSinceStart.insert(key)
        }
        live = live.filter { saved[$0.key] != $0.value || overridesSaved($0.key) }
        cleared = cleared.filter { saved[$0] != nil || ignored[$0] != nil }
        rebuild()
    }

    /// Sentence about the values that were saved after the start, and that `--set` overrides at the
    /// next start; nil if there are none.
    public var overriddenSentence: String? {
        let keys = savedSinceStart.filter {
            guard let value = saved[$0] else { return false }
            return loaded.fromCommandLine[$0].map { $0.value != value } ?? false
        }
        guard !keys.isEmpty else { return nil }
        return
            "At the next start, --set overrides the saved values of \(keys.sorted().joined(separator: ", ")). Remove --set from the command line of airframed."
    }

    /// Changes to the saved entries, so that a restart restores all run-time values. Entries that
    /// were written to the disk after the last `load` or `adopt` do not change.
    ///
    /// - Parameter keys: Dotted paths; nil for all settings.
    /// - Returns: New values by key; nil for an entry that must be removed.
    public func unsaved(among keys: [String]? = nil) -> [String: String?] {
        var wanted = self
        if let keys { wanted.save(only: keys) } else { wanted.save() }
        let target = wanted.savedOverlay
        var change: [String: String?] = [:]
        // A value can equal the value of the last adoption, while another value is written.
        for key in keys.map(Set.init) ?? Set(onDisk.keys).union(target.keys)
        where keys != nil || onDisk[key] != target[key] || live[key] != nil {
            change.updateValue(target[key], forKey: key)
        }
        return change
    }

    /// Finds the settings with a live value.
    ///
    /// - Parameter keys: Dotted paths; nil for all settings.
    /// - Returns: Dotted paths of those settings that have a live value.
    public func changedKeys(among keys: [String]? = nil) -> Set<String> {
        Set(live.keys).intersection(keys ?? Array(live.keys))
    }

    /// True if a restart would lose the run-time value of one of the given settings.
    public func hasUnsavedChanges(among keys: [String]) -> Bool {
        keys.contains { live[$0] != nil && live[$0] != saved[$0] || cleared.contains($0) }
    }
}

extension Dictionary where Key == String, Value == String {
    /// Applies the changes from `ParameterStore.unsaved`.
    public mutating func merge(change: [String: String?]) {
        for (key, value) in change { self[key] = value }
    }
}

extension ParameterStore.Snapshot {
    /// Copies the given settings from a store into this snapshot. Therefore a rollback does not
    /// change these settings.
    ///
    /// - Parameters:
    ///   - keys: Dotted paths.
    ///   - store: Source of the values.
    public mutating func adopt(_ keys: [String], from store: ParameterStore) {
        for key in keys {
            live[key] = store.live[key]
            if store.cleared.contains(key) { cleared.insert(key) } else { cleared.remove(key) }
        }
    }

    /// True if the restoration of this snapshot changes the setting in the given store.
    public func changes(_ key: String, in store: ParameterStore) -> Bool {
        live[key] != store.live[key] || cleared.contains(key) != store.cleared.contains(key)
    }
}
