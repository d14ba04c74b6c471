// Saved values at the start. Saved values that are not valid with the present files have no effect,
// but stay saved, so that they return when the files permit them again.
extension ParameterStore {
    /// Adopts saved values, normally once at the start. Entries that are not valid are ignored. As
    /// few entries as possible are ignored.
    ///
    /// - Parameter overlay: The saved entries.
    /// - Returns: The problems of the ignored entries.
    public mutating func load(saved overlay: Overlay) -> [ConfigurationProblem] {
        var problems: [ConfigurationProblem] = []
        onDisk = overlay
        saved = [:]
        wiring = [:]
        ignored = [:]
        for (key, text) in overlay.sorted(by: { $0.key < $1.key }) {
            do throws(ConfigurationProblem) {
                if Schema.wiring.contains(key) {
                    wiring[key] = try Self.wiringValue(key, text).1
                } else {
                    saved[key] = try Self.liveValue(key, text).1
                }
            } catch {
                problems.append(error)
                // The next save removes entries that this version cannot save.
                if Schema.wiring.contains(key) || Schema.setting(key)?.applies == .live {
                    ignored[key] = text
                }
            }
        }
        rebuild()
        problems += ignoreConflicts()
        nextWiring = wiring
        return problems
    }

    /// Keys of the saved values without effect, sorted.
    public var ignoredKeys: [String] { ignored.keys.sorted() }

    /// Sentence about the saved values without effect; nil if there are none.
    public var ignoredSentence: String? {
        guard !ignored.isEmpty else { return nil }
        return
            "These saved values have no effect, because they are not valid with the present configuration files: \(ignoredKeys.joined(separator: ", ")). They stay saved."
    }

    /// Ignores saved values until the values together satisfy all rules. Some values are valid only
    /// in combination, so the rules are checked for all values together. Of the keys of a violated
    /// rule, the first one is ignored first. Afterwards, each ignored value returns if it is valid
    /// with the others.
    ///
    /// - Returns: The problem of each ignored value, and the violations that no saved value causes.
    private mutating func ignoreConflicts() -> [ConfigurationProblem] {
        var removed: [(key: String, value: SettingValue)] = []
        while let key = conflict?.key, let value = wiring[key] ?? saved[key] {
            removed.append((key, value))
            replaceSaved(key, by: nil)
        }
        var problems: [ConfigurationProblem] = []
        for (key, value) in removed {
            replaceSaved(key, by: value)
            guard let problem = conflict?.problem else { continue }
            problems.append(problem)
            replaceSaved(key, by: nil)
            ignored[key] = value.tomlText
        }
        // No saved value causes the remaining violations.
        return problems
            + ConfigurationRule.all.compactMap { $0.problem(in: settings, origin: origin(of:)) }
    }

    /// The first violated rule about an effective saved value, with the rule's first such key.
    private var conflict: (key: String, problem: ConfigurationProblem)? {
        for rule in ConfigurationRule.all {
            guard let problem = rule.problem(in: settings, origin: origin(of:)),
                let key = rule.keys.first(where: { origin(of: $0) == .saved })
            else { continue }
            return (key, problem)
        }
        return nil
    }

    /// Replaces the saved value of a setting; nil removes the value.
    private mutating func replaceSaved(_ key: String, by value: SettingValue?) {
        if Schema.wiring.contains(key) { wiring[key] = value } else { saved[key] = value }
        rebuild()
    }
}
