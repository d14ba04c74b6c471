import Persistence
package import Port
import Realtime
import Synchronization

// Profiles: baselines between which users switch.
extension Tuning {
    /// Name of the baseline that was restored last; nil if no baseline has been restored since the
    /// start, or if the restored baseline has been deleted.
    package var profile: String? {
        state.withLock { state in
            state.profile.flatMap { stateOwner.saved.baselineNames.contains($0) ? $0 : nil }
        }
    }

    /// Names of the baselines, in alphabetical order.
    package var profileNames: [String] { stateOwner.saved.baselineNames }

    /// Applies the values of a baseline for a link, see `SettingsPort`.
    package func useProfile(
        _ name: String, from source: CommandSource, by who: String
    ) throws(Refusal) -> String {
        try commander.admit(source, now: clock.now)
        return try useProfile(name, by: who)
    }

    /// Applies the values of a baseline. All values reach the loop in the same tick.
    ///
    /// - Parameters:
    ///   - name: Name of the baseline; nil selects the next baseline in the order of the names.
    ///   - owner: Owner of the change.
    ///   - who: Author of the change, for the log.
    /// - Returns: Message with the name of the baseline, and with the settings that were not restored.
    /// - Throws: `Refusal` if no baseline has this name, or if the values of the baseline would
    ///   violate a rule.
    package func useProfile(
        _ name: String?, owner: ChangeOwner = .people, by who: String
    ) throws(Refusal) -> String {
        let names = stateOwner.saved.baselineNames
        let place = profile.flatMap { names.firstIndex(of: $0) }
        let next = names.isEmpty ? nil : names[place.map { ($0 + 1) % names.count } ?? 0]
        guard let chosen = name ?? next else {
            throw Refusal(
                .refused,
                "there are no profiles; `airframectl profile store NAME` stores the present settings",
                field: "name")
        }
        let left = try restoreBaseline(chosen, owner: owner, by: who)
        let rest =
            left.isEmpty ? "" : " These settings were not restored: " + left.joined(separator: " ")
        return "The tuning \(chosen) is active, but not saved.\(rest)"
    }
}
