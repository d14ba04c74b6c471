package import Configuration
import Logging
import Persistence
import PlainText
package import Port
import Realtime
import Synchronization
import SystemPackage

// Methods that wait for a disk: saving, baselines, and reloading the files. `done` receives the
// result when the job is complete.
extension Tuning {
    /// Longest time for which `close` waits for the disk, s.
    private static let patience = 1.0

    /// Writes live changes to the disk, and makes a temporary change of a person or an app
    /// permanent.
    ///
    /// - Parameters:
    ///   - withAssistants: True to make an assistant's temporary change permanent, too. If false,
    ///     the assistant's change is not written, and still reverts.
    ///   - step: Name of the set-up step that saves, if any. The replaced values are stored with the
    ///     step, so that `undoSetup` can restore them.
    ///   - who: Author of the change, for the log.
    ///   - done: Closure that receives a message for the user, or the reason why nothing was
    ///     written.
    package func save(
        withAssistants: Bool = false, as step: String? = nil, by who: String,
        _ done: @escaping Later<String>
    ) {
        let (change, keys, beginnings) = state.withLock {
            $0.savesUnderWay += 1
            let store = withAssistants ? $0.store : $0.lasting
            return (store.unsaved(), store.changedKeys(), $0.rollback.beginnings)
        }
        writeAnnounced(by: who, "saved the tuning") {
            let before = $0.parameters
            $0.parameters.merge(change: change)
            if let step { $0.note(step, replaced: before) }
        } commit: { state, saved in
            state.store.adopt(saved: saved.parameters, saving: keys)
            let notes = [state.store.ignoredSentence, state.store.overriddenSentence]
            let count =
                "Saved \(Format.counted(saved.parameters.count, "setting"))."
                + notes.compactMap(\.self).map { " " + $0 }.joined()
            let isNew = state.rollback.beginnings != beginnings
            let isAssistants = !withAssistants && state.hasAssistantsChange
            guard isNew || isAssistants else {
                let wasPending = state.rollback.keep()
                return count
                    + (wasPending
                        ? " The last change is now permanent, and no longer reverts." : "")
            }
            // The saved values must stay in force after the temporary change reverts.
            let reverted = state.reverted(to: state.rollback.snapshot)
            var clean = reverted
            clean.discardUnsaved()
            state.rollback.amend {
                $0 = reverted.snapshot
                $0.adopt(Array(change.keys), from: clean)
            }
            return count
                + (isAssistants
                    ? " An assistant's temporary change is not saved, and will revert. To keep this change, run `airframectl save --assistant`."
                    : " A temporary change that began during the save is not saved, and will revert.")
        } done: { result in
            if case .success = result { self.log.notice("\(who) saved the tuning.") }
            done(result)
        }
    }

    /// Writes a change of the saved state. The change takes effect after the state is on the disk.
    ///
    /// - Parameters:
    ///   - who: Author of the change, for the history.
    ///   - what: Description of the change, for the history.
    ///   - change: Change of the saved state.
    ///   - commit: Action after the write, executed while the lock is held.
    ///   - done: Closure that receives the result of `commit`, or the reason why nothing has
    ///     changed.
    func write<Value: Sendable>(
        by who: String, _ what: String, change: @escaping StateOwner.Change,
        commit: @escaping @Sendable (inout State, SavedState) throws(Refusal) -> Value,
        done: @escaping Later<Value>
    ) {
        state.withLock { $0.savesUnderWay += 1 }
        writeAnnounced(by: who, what, change: change, commit: commit, done: done)
    }

    /// Writes a change of the saved state, as `write`. The caller has increased `savesUnderWay`, in
    /// the lock in which it has read the values of the change. A temporary change that reverted
    /// between the two would nevertheless be saved.
    private func writeAnnounced<Value: Sendable>(
        by who: String, _ what: String, change: @escaping StateOwner.Change,
        commit: @escaping @Sendable (inout State, SavedState) throws(Refusal) -> Value,
        done: @escaping Later<Value>
    ) {
        stateOwner.write(by: who, what, change) { result in
            let outcome: Result<Value, Refusal> = self.state.withLock { state in
                state.savesUnderWay -= 1
                return result.flatMap { saved in
                    Result { () throws(Refusal) in try commit(&state, saved) }
                }
            }
            done(outcome)
        }
    }

    /// Saves only the given settings, see `SettingsPort`. When one app saves, the temporary changes
    /// of all apps become permanent. The temporary change of another client is not saved.
    package func save(
        _ keys: [String], with updates: [SettingUpdate], from source: CommandSource,
        _ note: (who: String, what: String), _ done: @escaping Later<Void>
    ) throws(Refusal) {
        try commander.admit(source, now: clock.now)
        let (who, what) = note
        let isApps = source.link == .airos
        let beginnings = state.withLock { $0.rollback.beginnings }
        let kept: Later<Void> = { result in
            if isApps, case .success = result {
                self.state.withLock {
                    // A change that began during the write still reverts.
                    guard $0.rollback.beginnings == beginnings else { return }
                    _ = $0.rollback.keep(owner: ChangeOwner.apps.rawValue)
                }
            }
            done(result)
        }
        let text: [String: String?]
        let changed: Set<String>
        do throws(Refusal) {
            guard let unsaved = try unsaved(keys, updates, source.link) else {
                tell(who, what)
                return kept(.success(()))
            }
            text = unsaved.text
            changed = unsaved.changed
        } catch {
            return kept(.failure(error))
        }
        writeAnnounced(by: who, what) {
            $0.parameters.merge(change: text)
        } commit: { (state, saved) throws(Refusal) in
            // The configuration files can have changed since the process read them. Therefore the
            // method `changed` can fail at this point, although the requested values are on the
            // disk.
            func updated(_ store: ParameterStore) -> ParameterStore {
                var store = (try? store.changed(updates)) ?? store
                store.adopt(saved: saved.parameters, saving: changed)
                return store
            }
            // The rollback of a temporary change that is not saved must not revert the values that
            // are saved here. A change that began during the write is not saved.
            let isNew = state.rollback.beginnings != beginnings
            var lasting = updated(
                isNew
                    ? state.reverted(to: state.rollback.snapshot)
                    : state.lasting(for: source.link))
            if isNew { lasting.discardUnsaved() }
            state.store = updated(state.store)
            state.rollback.amend { $0.adopt(keys, from: lasting) }
            self.publish(&state)
        } done: { result in
            if case .success = result { self.log.notice("\(who) \(what).") }
            kept(result)
        }
    }

    /// Finds the change that must be written and the keys of the live values that it saves, and
    /// announces the write in `savesUnderWay`; nil if all values are already active and on the disk.
    private func unsaved(
        _ keys: [String], _ updates: [SettingUpdate], _ link: CommandSource.Link
    ) throws(Refusal) -> (text: [String: String?], changed: Set<String>)? {
        try state.withLock { (state) throws(Refusal) in
            let (lasting, changed): (ParameterStore, ParameterStore)
            do throws(ConfigurationProblem) {
                lasting = try state.lasting(for: link).changed(updates)
                changed = try state.store.changed(updates)
            } catch {
                throw Refusal(error)
            }
            // During another save, the disk can soon contain other values.
            guard state.savesUnderWay > 0 || lasting.hasUnsavedChanges(among: keys) else {
                // The values in force can differ from the saved values, because of a change that
                // was not saved.
                state.rollback.amend { $0.adopt(keys, from: lasting) }
                state.store = changed
                publish(&state)
                return nil
            }
            guard state.appSaves.take(now: clock.now) else {
                throw Refusal(.busy, "phones have saved settings too often; try again in 5 s")
            }
            state.savesUnderWay += 1
            return (
                text: lasting.unsaved(among: keys),
                changed: lasting.changedKeys(among: keys)
            )
        }
    }

    /// Stores the active tuning as a baseline. The baseline of a person or an app does not contain
    /// an assistant's temporary change. An assistant cannot overwrite a baseline; its name is
    /// checked in the write, after all earlier changes.
    package func storeBaseline(
        _ name: String, owner: ChangeOwner = .people, by who: String, _ done: @escaping Later<Void>
    ) {
        let tuning = state.withLock {
            (owner == .assistants ? $0.store : $0.lasting).tuning
        }
        note(by: who, "stored baseline \(name)", done) {
            if owner == .assistants, $0.baselineNames.contains(name) {
                throw Refusal(
                    .permissionDenied,
                    "Baseline \(name) exists, and an assistant cannot overwrite it. Choose another name."
                )
            }
            try $0.saveBaseline(name, tuning)
        }
    }

    /// Deletes a baseline.
    package func deleteBaseline(_ name: String, by who: String, _ done: @escaping Later<Void>) {
        note(by: who, "deleted baseline \(name)", done) { try $0.deleteBaseline(name) }
    }

    private func note(
        by who: String, _ what: String, _ done: @escaping Later<Void>,
        _ change: @escaping StateOwner.Change
    ) {
        stateOwner.write(by: who, what, change) { result in
            if case .success = result { self.log.notice("\(who) \(what).") }
            done(
                result.map { _ in }.mapError { Refusal($0.code, $0.message, field: "name") })
        }
    }

    /// Applies the values of a baseline, without writing them to the disk. If an assistant is the
    /// owner, the change reverts, and settings that the assistant cannot change keep their values.
    ///
    /// - Returns: Messages about the entries that are ignored, because they are no longer valid or
    ///   because an assistant cannot change them.
    /// - Throws: `Refusal` if no baseline has this name, or if the values of the baseline would
    ///   violate a rule; nothing has changed.
    package func restoreBaseline(
        _ name: String, owner: ChangeOwner = .people, by who: String
    ) throws(Refusal) -> [String] {
        let overlay: [String: String]
        do throws(BaselineError) {
            overlay = try stateOwner.saved.baseline(name)
        } catch {
            throw Refusal(error)
        }
        let problems = try state.withLock { (state) throws(Refusal) in
            var changed = owner == .assistants ? state.store : state.lasting
            var problems: [ConfigurationProblem]
            var kept: [String] = []
            do throws(ConfigurationProblem) {
                if owner == .assistants {
                    (problems, kept) = try changed.restore(
                        tuning: overlay, forAssistant: state.lasting)
                } else {
                    problems = try changed.restore(tuning: overlay)
                }
            } catch {
                throw Refusal(error)
            }
            try state.admit(changed.settings)
            if owner == .assistants {
                try owner.begin(
                    &state.rollback, state.store.snapshot,
                    seconds: state.store.settings.mcp.rollbackS, now: clock.now)
            } else {
                _ = state.rollback.keep()
                state.profile = name
            }
            state.store = changed
            publish(&state)
            return problems.map(\.description)
                + kept.map { "\($0) keeps its value, because an assistant cannot change it." }
        }
        tell(who, "restored baseline \(name)")
        return problems
    }

    /// Changes several settings together. The previous values are stored under a name, and the
    /// change reverts unless it is saved.
    ///
    /// - Parameters:
    ///   - changes: The changes. Either all changes are applied, or none.
    ///   - baseline: Name of the baseline that stores the previous values.
    ///   - rollback: Time until the change reverts, s.
    ///   - owner: Owner of the change.
    ///   - who: Author of the change, for log and history.
    ///   - done: Closure that receives success, or the error. The error is an invalid value or a
    ///     failure of the storage.
    package func apply(
        _ changes: [SettingUpdate], storing baseline: String, rollback: Double, owner: ChangeOwner,
        by who: String, _ done: @escaping Later<Void>
    ) {
        let tuning = state.withLock {
            (owner == .assistants ? $0.store : $0.lasting).tuning
        }
        write(by: who, "stored baseline \(baseline)") {
            try $0.saveBaseline(baseline, tuning)
        } commit: { (state, _) throws(Refusal) in
            let changed: ParameterStore
            do throws(ConfigurationProblem) {
                changed = try (owner == .assistants ? state.store : state.lasting)
                    .changed(changes)
            } catch {
                throw Refusal(error)
            }
            try owner.begin(
                &state.rollback, state.store.snapshot, seconds: rollback, now: self.clock.now)
            state.store = changed
            self.publish(&state)
        } done: { result in
            if case .success = result {
                let list = changes.map(\.description).joined(separator: ", ")
                self.tell(who, "set \(list); reverts after \(Int(rollback)) s unless saved")
            }
            done(result)
        }
    }

    /// Reads the files again. The method changes live settings, and lists the settings that need a
    /// restart. If a file contains an error, nothing changes.
    package func reload(by who: String, _ done: @escaping Later<ReloadReport>) {
        let isTaken = stateOwner.run {
            done(Result { () throws(Refusal) in try self.reload(by: who) })
        }
        if !isTaken { done(.failure(Refusal(.refused, "the disk is slow; try again later"))) }
    }

    private func reload(by who: String) throws(Refusal) -> ReloadReport {
        let loaded: LoadedConfiguration
        do {
            loaded = try ConfigurationLoader.load(source)
        } catch {
            throw Refusal(.refused, "nothing has changed: \(error)")
        }
        let report = state.withLock { state in
            let report = state.store.reload(loaded)
            state.needsRestart = report.needsRestart
            publish(&state)
            return report
        }
        history.note(who, "reloaded the configuration: \(report.sentence)")
        return report
    }

    /// Findings about the files and `--set`, if airframed started now. `problem`: the first problem
    /// that would prevent the start. `unusedChips`: `LoadedConfiguration.unusedChips`. The method
    /// reads the files, so the caller can wait for the disk.
    package func startFindings() -> (problem: String?, unusedChips: String?) {
        // A read of standard input could wait for a person.
        guard source.mainFile.string != "/dev/stdin" else { return (nil, nil) }
        do throws(ConfigurationFailure) {
            return (nil, try ConfigurationLoader.load(source).unusedChips)
        } catch {
            return (error.problems.first?.description, nil)
        }
    }

    /// Saves the unsaved entries of the history at the end of the process.
    package func close() { stateOwner.close(within: Self.patience) }
}
