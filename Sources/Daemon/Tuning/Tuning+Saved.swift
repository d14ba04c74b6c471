import Configuration
import GimbalCore
import Links
import Logging
import Persistence
import Policy
import Port
import Realtime
import Synchronization
import Wire

// What waits for a disk: saving, baselines, reading the files again. The answer comes when it is done.
extension Tuning {
    /// What `close` waits for the disk, s.
    private static let patience = 1.0

    /// Writes live changes to the disk; a change that waited for its rollback is kept.
    func save(by who: String, _ done: @escaping Later<Acknowledgement>) {
        let change = state.withLock { $0.store.unsaved(beside: keeper.saved.parameters) }
        write(by: who, "saved the tuning") {
            $0.parameters.merge(change: change)
        } commit: { state, saved in
            state.store.adopt(saved: saved.parameters)
            let wasPending = state.rollback.keep()
            return Acknowledgement(
                "Saved \(saved.parameters.count) settings."
                    + (wasPending ? " The change that waited is kept." : ""))
        } done: { result in
            if case .success = result { self.log.notice("\(who) saved the tuning.") }
            done(result)
        }
    }

    /// Has something written, and puts in force what follows from it once it is on the disk.
    ///
    /// - Parameters:
    ///   - who: For the history.
    ///   - what: For the history.
    ///   - change: Of the saved state.
    ///   - commit: What follows, under the lock.
    ///   - done: Hears of its result, or why nothing was written; then nothing has changed.
    func write<Value: Sendable>(
        by who: String, _ what: String, change: @escaping StateKeeper.Change,
        commit: @escaping @Sendable (inout State, SavedState) throws(Refusal) -> Value,
        done: @escaping Later<Value>
    ) {
        state.withLock { $0.savesUnderWay += 1 }
        keeper.write(by: who, what, change) { result in
            let outcome: Result<Value, Refusal> = self.state.withLock { state in
                state.savesUnderWay -= 1
                return result.flatMap { saved in
                    Result { () throws(Refusal) in try commit(&state, saved) }
                }
            }
            done(outcome)
        }
    }

    /// Lists, stores, restores or deletes named baselines.
    func baseline(
        _ request: BaselineRequest, by who: String, _ done: @escaping Later<BaselineReport>
    ) {
        switch request {
        case .list: done(.success(report("")))
        case .store(let name):
            let tuning = state.withLock { $0.store.tuning }
            note(
                by: who, "stored baseline \(name)", done,
                "The present tuning is stored as baseline \(name)."
            ) {
                try $0.saveBaseline(name, tuning)
            }
        case .delete(let name):
            note(by: who, "deleted baseline \(name)", done, "Baseline \(name) is deleted.") {
                try $0.deleteBaseline(name)
            }
        case .restore(let name):
            done(
                Result { () throws(Refusal) in
                    let left = try restore(name)
                    tell(who, "restored baseline \(name)")
                    let rest = left.isEmpty ? "" : " Left out: " + left.joined(separator: " ")
                    return report("Baseline \(name) is active, not saved.\(rest)")
                })
        }
    }

    private func report(_ sentence: String) -> BaselineReport {
        BaselineReport(names: keeper.saved.baselineNames, sentence: sentence)
    }

    private func note(
        by who: String, _ what: String, _ done: @escaping Later<BaselineReport>,
        _ sentence: String, _ change: @escaping StateKeeper.Change
    ) {
        keeper.write(by: who, what, change) { result in
            if case .success = result { self.log.notice("\(who) \(what).") }
            done(
                result.map { _ in self.report(sentence) }
                    .mapError { Refusal(.refused, $0.message, field: "name") })
        }
    }

    private func restore(_ name: String) throws(Refusal) -> [String] {
        let overlay: [String: String]
        do {
            overlay = try keeper.saved.baseline(name)
        } catch {
            throw Refusal(.refused, "\(error)", field: "name")
        }
        let result: Result<[String], Refusal> = state.withLock { state in
            Result { () throws(Refusal) in
                var changed = state.store
                do throws(ConfigurationProblem) {
                    let problems = try changed.restore(tuning: overlay)
                    state.store = changed
                    _ = state.rollback.keep()
                    self.publish(&state)
                    return problems.map(\.description)
                } catch {
                    throw Refusal(error)
                }
            }
        }
        return try result.get()
    }

    /// Changes several settings together: keeps what was in force under a name, and takes the change back unless saved.
    ///
    /// - Parameters:
    ///   - changes: All of them, or nothing changes.
    ///   - baseline: The name.
    ///   - rollback: Seconds.
    ///   - done: Hears of it, or of what does not fit or cannot be stored.
    func apply(
        _ changes: [SettingUpdate], storing baseline: String, rollback: Double,
        _ done: @escaping Later<Void>
    ) {
        let tuning = state.withLock { $0.store.tuning }
        write(by: "autotune", "stored baseline \(baseline)") {
            try $0.saveBaseline(baseline, tuning)
        } commit: { (state, _) throws(Refusal) in
            let changed = try state.store.changed(changes)
            try state.rollback.begin(
                state.store.snapshot, owner: Self.socketOwner, seconds: rollback,
                now: self.clock.now)
            state.store = changed
            self.publish(&state)
        } done: { result in
            if case .success = result {
                let list = changes.map(\.description).joined(separator: ", ")
                self.tell("autotune", "set \(list) for \(Int(rollback)) s unless saved")
            }
            done(result)
        }
    }

    /// Reads the files again: what can change live does, what cannot is named, a bad file is rejected whole.
    func reload(by who: String, _ done: @escaping Later<Wire.ReloadReport>) {
        let isTaken = keeper.run {
            done(Result { () throws(Refusal) in try self.reload(by: who) })
        }
        if !isTaken { done(.failure(Refusal(.refused, "the disk is slow; try again later"))) }
    }

    private func reload(by who: String) throws(Refusal) -> Wire.ReloadReport {
        let loaded: LoadedConfiguration
        do {
            loaded = try ConfigurationLoader.load(source)
        } catch {
            throw Refusal(.refused, "nothing has changed: \(error)")
        }
        let report = state.withLock { state in
            let report = state.store.reload(loaded)
            state.needsRestart = report.needsRestart.map(\.key)
            publish(&state)
            return Wire.ReloadReport(report)
        }
        history.note(who, "read the files again: \(report.sentence)")
        return report
    }

    /// Saves what the history has and the disk has not. At the end.
    func close() { keeper.close(within: Self.patience) }
}
