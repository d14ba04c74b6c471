/// The configuration of a running process: values from files, saved values, and live changes.
///
/// Each layer overrides the layers before it: defaults, files, saved values, `--set`, live changes.
/// `--set` overrides saved values, because the user passed `--set` at the current start. A value
/// that is saved later overrides `--set` until the process ends. The store is a value type. The
/// store's owner, `Tuning`, decides when the loop receives a change.
public struct ParameterStore: Sendable {
    /// Values by key. Each value is a TOML text that parses to the identical value.
    public typealias Overlay = [String: String]

    /// A setting with a value that differs from its default or from its saved value.
    public struct Change: Sendable, Equatable {
        /// Dotted path of the setting.
        public let key: String
        /// The active value.
        public let value: SettingValue
        /// Default value, which can depend on other configured values.
        public let defaultValue: SettingValue
        /// The value without the unsaved changes.
        public let saved: SettingValue
        /// Origin of the active value.
        public let origin: Origin
    }

    /// Snapshot of the live values, for a rollback.
    public struct Snapshot: Sendable, Equatable {
        var live: [String: SettingValue]
        var cleared: Set<String>
    }

    /// The active values.
    public private(set) var settings: Settings

    /// Active values from files and command line.
    var loaded: LoadedConfiguration
    var saved: [String: SettingValue] = [:]
    /// Keys of the saved values that override `--set`, because they were saved after the start.
    var savedSinceStart: Set<String> = []
    var live: [String: SettingValue] = [:]
    /// Active values of the settings in `Schema.wiring`: the saved values at the start.
    var wiring: [String: SettingValue] = [:]
    /// Values of the settings in `Schema.wiring` that are saved now, for the next start.
    var nextWiring: [String: SettingValue] = [:]
    /// Saved entries without effect, because they are not valid with the present files. A save
    /// keeps these entries.
    var ignored: Overlay = [:]
    /// All saved entries at the last `load` or `adopt`. The disk can already contain a later change.
    var onDisk: Overlay = [:]
    /// Keys of saved values that have returned to their default; the next save removes these values.
    var cleared: Set<String> = []

    /// Creates a store from files and command line, without saved values.
    public init(_ loaded: LoadedConfiguration) {
        self.loaded = loaded
        settings = loaded.settings
    }

    /// The active configuration files, in the order of reading.
    public var files: [String] { loaded.files }

    /// Saved values by key, as TOML. Call `save()` on a copy of the store, then write the copy's
    /// value to the disk.
    public var savedOverlay: Overlay {
        ignored.merging(saved.merging(nextWiring) { $1 }.mapValues(\.tomlText)) { $1 }
    }

    /// Contents of a baseline: all run-time values in force, saved or not. Saved values that `--set`
    /// overrides are not included, because the restoration of the baseline would activate them.
    public var tuning: Overlay { merged.mapValues(\.tomlText) }

    /// Snapshot of the current values, for `restore`.
    public var snapshot: Snapshot { Snapshot(live: live, cleared: cleared) }

    private var merged: [String: SettingValue] {
        saved.filter { !cleared.contains($0.key) && !overridesSaved($0.key) }
            .merging(live) { $1 }
    }

    /// Default of a setting, adapted to the configured sensor, loop rate and pulse rate.
    public func defaultValue(of setting: Setting) -> SettingValue {
        setting.value(in: loaded.defaults)
    }

    /// Origin of the active value.
    public func origin(of key: String) -> Origin {
        if live[key] != nil { return .live }
        let configured = loaded.origin(of: key)
        if overridesSaved(key) { return configured }
        if wiring[key] != nil { return .saved }
        return saved[key] == nil || cleared.contains(key) ? configured : .saved
    }

    /// True if `--set` overrides the saved value of a setting.
    func overridesSaved(_ key: String) -> Bool {
        loaded.origin(of: key) == .commandLine && !savedSinceStart.contains(key)
    }

    /// Changes one setting. Without `save()`, the change is lost at the end of the process.
    ///
    /// - Parameters:
    ///   - key: Dotted path of the setting.
    ///   - text: TOML, or an unquoted word, which counts as a string.
    /// - Returns: The new active value.
    /// - Throws: `ConfigurationProblem`; nothing has changed.
    @discardableResult
    public mutating func set(
        _ key: String, to text: String
    ) throws(ConfigurationProblem) -> SettingValue {
        try set(key, to: RawValue(text: text), written: text)
    }

    /// Changes one setting, as the method above, to a parsed value. `written` is the value as text,
    /// for messages; the value is nil if this text cannot be parsed.
    @discardableResult
    package mutating func set(
        _ key: String, to raw: RawValue?, written: String
    ) throws(ConfigurationProblem) -> SettingValue {
        let (setting, value) = try ConfigurationLoader.value(
            of: key, raw, written: written, at: nil)
        self = try changed([SettingUpdate(setting, value, written: written)])
        return value
    }

    /// Returns a store with new values. Either all values change, or none. Without `save()`, the
    /// change is lost at the end of the process.
    ///
    /// - Parameter updates: The settings and their values. A setting without a value returns to its
    ///   default, even if a file sets another value.
    /// - Returns: The changed store.
    /// - Throws: A `ConfigurationProblem` if a value is invalid or needs a restart, or if the
    ///   values together violate a rule.
    public func changed(
        _ updates: [SettingUpdate]
    ) throws(ConfigurationProblem) -> ParameterStore {
        var changed = self
        for update in updates {
            guard let setting = Schema.setting(update.key) else { throw .unknownKey(update.key) }
            let value = update.value ?? defaultValue(of: setting)
            try setting.check(value, written: update.writtenText)
            guard setting.applies == .live else {
                // A value that is already active needs no restart. Therefore an exported file can
                // be loaded completely.
                if value == setting.value(in: settings) { continue }
                throw ConfigurationProblem(
                    .notLive, key: setting.key, value: update.writtenText,
                    "cannot change while airframed runs", hint: restartHint(setting))
            }
            setting.write(&changed.settings, value)
            changed.live[setting.key] = value
            guard update.value == nil else { continue }
            // A default is not stored if it is also the value from the files.
            if value == setting.value(in: loaded.settings) { changed.live[setting.key] = nil }
            if saved[setting.key] != nil || ignored[setting.key] != nil {
                changed.cleared.insert(setting.key)
            }
        }
        try changed.obeyRules(besides: self)
        return changed
    }

    /// Restores the values of an earlier snapshot. A live value of the snapshot is discarded if it
    /// violates a rule together with the other restored values. A violation is possible after a
    /// change of the files, and for a value that was set while another value was active. If an
    /// unsaved return to a default causes a violation, all unsaved changes are discarded. A
    /// violation of the files and saved values alone discards nothing.
    ///
    /// - Parameter snapshot: The earlier snapshot.
    /// - Returns: Keys of the discarded values, sorted.
    @discardableResult
    public mutating func restore(_ snapshot: Snapshot) -> [String] {
        live = snapshot.live
        cleared = snapshot.cleared
        rebuild()
        var lasting = self
        lasting.discardUnsaved()
        while let rule = violation(besides: lasting)?.rule {
            if let key = rule.keys.first(where: { live[$0] != nil }) {
                live[key] = nil
                rebuild()
            } else {
                discardUnsaved()
                break
            }
        }
        return snapshot.live.keys.filter { live[$0] == nil }.sorted()
    }

    /// The first violation of a rule about several settings that another store does not contain;
    /// nil if there is none.
    private func violation(
        besides other: ParameterStore?
    ) -> (rule: ConfigurationRule, problem: ConfigurationProblem)? {
        for rule in ConfigurationRule.all {
            guard let problem = rule.problem(in: settings, origin: origin(of:)) else { continue }
            let known = other.flatMap { rule.problem(in: $0.settings, origin: $0.origin(of:)) }
            if problem != known { return (rule, problem) }
        }
        return nil
    }

    /// Restores a baseline. The settings in the baseline get the baseline's values. All other
    /// settings get the values from files and command line. The change is not saved until `save()`.
    /// `save()` keeps the saved values that `--set` overrides, because a baseline does not contain
    /// such values.
    ///
    /// - Parameter overlay: Values of the baseline, as returned by the property `tuning` when the
    ///   baseline was stored.
    /// - Returns: The problems of ignored entries, which are no longer valid.
    /// - Throws: A `ConfigurationProblem` if the valid entries together violate a rule. After an
    ///   error, no value has changed.
    public mutating func restore(
        tuning overlay: Overlay
    ) throws(ConfigurationProblem) -> [ConfigurationProblem] {
        var changed = self
        var problems: [ConfigurationProblem] = []
        changed.live = [:]
        changed.cleared = Set(saved.keys.filter { !overridesSaved($0) }).union(ignored.keys)
            .subtracting(Schema.wiring)
        for (key, text) in overlay.sorted(by: { $0.key < $1.key }) {
            do throws(ConfigurationProblem) {
                changed.live[key] = try Self.liveValue(key, text).1
            } catch {
                problems.append(error)
            }
        }
        changed.rebuild()
        try changed.obeyRules(besides: self)
        self = changed
        return problems
    }

    /// Discards all unsaved changes of settings.
    public mutating func discardUnsaved() {
        live = [:]
        cleared = []
        rebuild()
    }

    /// Discards all unsaved changes, and lets `--set` override all saved values, as at the start of
    /// the process.
    public mutating func restart() {
        savedSinceStart = []
        discardUnsaved()
    }

    /// Marks all values that were set at run time as saved. Call this method on a copy, and write
    /// the copy's `savedOverlay` to the disk. Replace the store by the copy only after the write to
    /// the disk has succeeded. Otherwise values would be marked as saved although the disk is full.
    public mutating func save() { save(only: Array(live.keys) + cleared) }

    /// Keys of the settings with an unsaved change, in the order of the schema. Changes that wait
    /// for a restart are not included.
    public var unsavedKeys: [String] {
        let saved = savedSettings
        return Schema.settings.filter { $0.value(in: settings) != $0.value(in: saved) }.map(\.key)
    }

    /// The values without the unsaved changes.
    private var savedSettings: Settings {
        var other = self
        other.discardUnsaved()
        return other.settings
    }

    /// The settings whose active value differs from the default or from the saved value, in the
    /// order of the schema.
    public var changes: [Change] { changes(with: []) }

    /// The settings of `changes`, and the settings with the given keys, in the order of the schema.
    public func changes(with keys: Set<String>) -> [Change] {
        let (defaults, saved) = (loaded.defaults, savedSettings)
        return Schema.settings.compactMap { setting in
            let change = Change(
                key: setting.key, value: setting.value(in: settings),
                defaultValue: setting.value(in: defaults), saved: setting.value(in: saved),
                origin: origin(of: setting.key))
            let isPlain = change.value == change.defaultValue && change.value == change.saved
            return isPlain && !keys.contains(setting.key) ? nil : change
        }
    }

    /// The value of a saved entry; nil if it is not valid.
    static func savedValue(_ key: String, _ text: String) -> SettingValue? {
        try? liveValue(key, text).1
    }

    static func liveValue(
        _ key: String, _ text: String
    ) throws(ConfigurationProblem) -> (Setting, SettingValue) {
        let (setting, value) = try ConfigurationLoader.value(of: key, text: text, at: .saved)
        guard setting.applies == .live else {
            throw ConfigurationProblem(
                .notLive, at: .saved, key: key, value: text,
                "belongs in the configuration file, so the saved value is ignored")
        }
        return (setting, value)
    }

    /// Checks the rules about several settings. A violation that is already active in `other` is
    /// permitted, because it must not prevent changes of other settings. It is possible after the
    /// undo of a step of the set-up, until the restored range of the joints takes effect.
    func obeyRules(besides other: ParameterStore? = nil) throws(ConfigurationProblem) {
        if let violation = violation(besides: other) { throw violation.problem }
    }

    mutating func rebuild() {
        settings = loaded.settings
        for (key, value) in wiring where loaded.origin(of: key) != .commandLine {
            Schema.setting(key)?.write(&settings, value)
        }
        for (key, value) in saved where !overridesSaved(key) && !cleared.contains(key) {
            Schema.setting(key)?.write(&settings, value)
        }
        for (key, value) in live { Schema.setting(key)?.write(&settings, value) }
    }
}
