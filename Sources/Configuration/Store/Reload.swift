/// Result of a reload.
public struct ReloadReport: Sendable, Equatable {
    /// Keys of the settings with a changed active value.
    public var applied: [String] = []
    /// Keys of the settings with a new value that waits for a restart.
    public var needsRestart: [String] = []
    /// Keys of the settings with a new value that has no effect, because a saved value overrides it.
    public var overridden: [String] = []
    /// Keys of the settings with a new value that has no effect, because an unsaved change overrides
    /// it.
    public var overriddenLive: [String] = []
    /// Keys of the settings with a new value in a file that has no effect, because `--set` overrides
    /// it.
    public var overriddenAtStart: [String] = []

    /// The report as text, one to four sentences.
    public var sentence: String {
        var parts: [String] = []
        if !applied.isEmpty {
            parts.append("effective now: \(applied.joined(separator: ", "))")
        }
        if !needsRestart.isEmpty {
            parts.append("effective after a restart: \(needsRestart.joined(separator: ", "))")
        }
        if !overridden.isEmpty {
            parts.append("overridden by saved values: \(overridden.joined(separator: ", "))")
        }
        if !overriddenLive.isEmpty {
            parts.append(
                "overridden by unsaved changes: \(overriddenLive.joined(separator: ", "))")
        }
        if !overriddenAtStart.isEmpty {
            parts.append("overridden by --set: \(overriddenAtStart.joined(separator: ", "))")
        }
        var report =
            parts.isEmpty
            ? "The files were read again; nothing has changed."
            : "The files were read again; \(parts.joined(separator: "; "))."
        if !overriddenLive.isEmpty { report += " Replace unsaved changes with `airframectl set`." }
        if !overriddenAtStart.isEmpty {
            report += " Remove --set from the command line of airframed, and restart airframed."
        }
        return overridden.isEmpty
            ? report
            : "\(report) Change saved values with `airframectl set` and `airframectl save`; `airframectl setup undo motors` and `airframectl setup undo joints` remove the values that the set-up has saved."
    }
}

extension ParameterStore {
    /// Applies the values of newly loaded files. Live settings change immediately; other settings
    /// wait for a restart.
    ///
    /// A live setting also waits for a restart if its new value is valid only together with another
    /// waiting value. If a file has a problem, the loader refuses all files.
    ///
    /// - Parameter new: Configuration from `ConfigurationLoader`.
    /// - Returns: The changes.
    public mutating func reload(_ new: LoadedConfiguration) -> ReloadReport {
        let before = self
        let saved = saved.filter { !cleared.contains($0.key) }.merging(nextWiring) { $1 }
        var waiting = Set(
            Schema.settings.filter {
                $0.applies == .restart
                    && $0.value(in: new.settings) != $0.value(in: loaded.settings)
            }.map(\.key))
        while true {
            loaded = before.loaded.taking(new, except: waiting)
            rebuild()
            let broken = ConfigurationRule.all.filter {
                $0.problem(in: settings, origin: origin(of:)) != nil
            }
            let more = Set(broken.flatMap(\.keys)).subtracting(waiting)
            if more.isEmpty { break }
            waiting.formUnion(more)
        }
        var report = ReloadReport()
        for setting in Schema.settings {
            if setting.value(in: settings) != setting.value(in: before.settings) {
                report.applied.append(setting.key)
            }
            let (old, value) = (
                setting.value(in: before.loaded.settings), setting.value(in: new.settings)
            )
            if let argument = new.fromCommandLine[setting.key]?.value {
                // `--set` hides the file's value in `settings`, so the files are compared.
                let written = new.fromFiles[setting.key]?.value
                if let written, written != argument,
                    written != before.loaded.fromFiles[setting.key]?.value
                {
                    report.overriddenAtStart.append(setting.key)
                }
            } else if let change = live[setting.key], !waiting.contains(setting.key) {
                if value != old, value != change { report.overriddenLive.append(setting.key) }
            } else if let saved = saved[setting.key] {
                if value != old, value != saved { report.overridden.append(setting.key) }
            } else if waiting.contains(setting.key), value != setting.value(in: loaded.settings) {
                report.needsRestart.append(setting.key)
            }
        }
        return report
    }
}

extension LoadedConfiguration {
    /// Combines two configurations. The entries for `keys` are from this configuration; all other
    /// entries are from `new`.
    func taking(_ new: LoadedConfiguration, except keys: Set<String>) -> LoadedConfiguration {
        var result = new
        for key in keys {
            result.fromFiles[key] = fromFiles[key]
            result.fromCommandLine[key] = fromCommandLine[key]
        }
        return result
    }
}
