import Calibration
package import Configuration
import Logging
package import Persistence
package import Port
import Synchronization

// Saved progress of the set-up, and the settings of the motors' wiring, which take effect at the
// next start.
extension Tuning {
    /// Finished steps of the set-up, by name.
    package var setupSteps: [String: SavedState.Step] { stateOwner.saved.setup ?? [:] }

    /// Saves the result of a step of the set-up.
    ///
    /// - Parameters:
    ///   - name: Name of the step.
    ///   - result: State of the step: `done`, `skipped` or `restart`.
    ///   - updates: New values of settings of `Schema.wiring`, for the next start.
    ///   - who: Author of the change, for the log.
    ///   - done: Closure that receives success, or the reason why nothing was saved.
    package func finishSetup(
        _ name: String, _ result: String, _ updates: [SettingUpdate] = [], by who: String,
        _ done: @escaping Later<Void>
    ) {
        let change: ParameterStore.Overlay
        do throws(ConfigurationProblem) {
            change = try state.withLock { (state) throws(ConfigurationProblem) in
                try state.store.wiringChange(updates)
            }
        } catch {
            return done(.failure(Refusal(error)))
        }
        let list = updates.map(\.description).joined(separator: ", ")
        let what =
            updates.isEmpty
            ? "finished the set-up step \(name): \(result)" : "set \(list) for the next start"
        let sensor = calibrations.sensor
        write(by: who, what) { saved in
            // If the step runs again, `undo` still restores the values from before its first run
            // since the beginning of the set-up.
            let earlier = saved.setup?[name]
            let beginsAnew = earlier?.state == Self.open && !change.isEmpty
            var replaced = beginsAnew ? [:] : earlier?.replaced ?? [:]
            for key in change.keys where replaced[key] == nil {
                replaced[key] = saved.parameters[key] ?? ""
            }
            saved.parameters.merge(change) { $1 }
            saved.setup = (saved.setup ?? [:]).merging(
                [name: SavedState.Step(state: result, replaced: replaced, sensor: sensor)]
            ) { $1 }
        } commit: { state, saved in
            let keys = Set(change.keys)
            state.store.adopt(saved: saved.parameters, saving: keys, checked: keys)
            // A step can also change a live setting, such as the rest pose.
            self.publish(&state)
        } done: { result in
            if case .success = result { self.log.notice("\(who) \(what).") }
            done(result)
        }
    }

    /// Removes the results of set-up steps, and restores the saved settings from before the steps.
    /// Restored settings of the motors' wiring take effect at the next start, others at once.
    ///
    /// - Parameters:
    ///   - names: Names of the steps.
    ///   - who: Author of the change, for the log.
    ///   - done: Closure that receives success, or the reason why nothing was saved.
    package func undoSetup(_ names: [String], by who: String, _ done: @escaping Later<Void>) {
        write(by: who, "undid the set-up step \(names.joined(separator: ", "))") { saved in
            for name in names {
                for (key, text) in saved.setup?[name]?.replaced ?? [:] {
                    saved.parameters[key] = text.isEmpty ? nil : text
                }
                saved.setup?[name] = nil
            }
        } commit: { state, saved in
            state.store.adopt(saved: saved.parameters, saving: [], isUndo: true)
            self.publish(&state)
        } done: {
            done($0)
        }
    }

    /// State of a step that the set-up has not run again yet.
    fileprivate static let open = "open"

    /// Marks all steps as open, without changing the settings. The steps can still be undone, so that
    /// a person can remove the values that they have saved.
    package func forgetSetup(by who: String, _ done: @escaping Later<Void>) {
        write(by: who, "began the set-up again") {
            $0.setup = $0.setup?.filter { !$0.value.replaced.isEmpty }
                .mapValues { SavedState.Step(state: Self.open, replaced: $0.replaced) }
        } commit: { _, _ in
        } done: {
            done($0)
        }
    }
}

extension SavedState {
    /// Stores the saved settings that a step of the set-up has replaced. If the step runs again,
    /// the values from before its first run since the beginning of the set-up are kept.
    mutating func note(_ step: String, replaced before: [String: String]) {
        let earlier = setup?[step].flatMap { $0.state == Tuning.open ? nil : $0 }
        var entry = earlier ?? Step(state: "done")
        for key in Set(before.keys).union(parameters.keys)
        where before[key] != parameters[key] && entry.replaced[key] == nil {
            entry.replaced[key] = before[key] ?? ""
        }
        setup = (setup ?? [:]).merging([step: entry]) { $1 }
    }
}
