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

// What links other than the socket change and save: what they ask for, never an engineer's trial on the socket.
extension Tuning {
    /// All apps together own a change, as all clients of the socket do: `save` may come over another connection.
    private static let appOwner: UInt64 = 1

    /// Changes settings together, all or none; those of apps revert after `airos.rollback_s` unless they are saved in time.
    ///
    /// - Parameters:
    ///   - updates: New values.
    ///   - link: The link that asks.
    ///   - who: For the log.
    /// - Throws: What is wrong with a value, or that somebody else's change waits; then nothing has changed.
    func change(
        _ updates: [SettingUpdate], from link: CommandSource.Link, by who: String
    ) throws(Refusal) {
        let result: Result<Bool, Refusal> = state.withLock { state in
            Result { () throws(Refusal) in
                let changed = try state.store.changed(updates)
                guard changed.settings != state.store.settings else { return false }
                let seconds = link == .airos ? state.store.settings.airos.rollbackS : 0
                if seconds > 0 {
                    try state.rollback.begin(
                        state.store.snapshot, owner: Self.appOwner, seconds: Double(seconds),
                        now: self.clock.now)
                } else {
                    // It outlasts whatever else waits.
                    state.rollback.amend { $0.adopt(updates.map(\.key), from: changed) }
                }
                state.store = changed
                self.publish(&state)
                return true
            }
        }
        guard try result.get() else { return }
        for update in updates { tell(who, "set \(update)") }
    }

    /// Saves some settings, and no others; a change of an app that waits is kept when an app saves.
    ///
    /// - Parameters:
    ///   - keys: Dotted paths.
    ///   - updates: New values of some of them.
    ///   - link: The link that asks.
    ///   - note: Who, and what is done, for the log.
    ///   - done: Hears of it, or what is wrong with a value, or that the disk refuses; then nothing has changed.
    func save(
        _ keys: [String], with updates: [SettingUpdate], from link: CommandSource.Link,
        _ note: (who: String, what: String), _ done: @escaping Later<Void>
    ) {
        let (who, what) = note
        let isApps = link == .airos
        let kept: Later<Void> = { result in
            if isApps, case .success = result {
                _ = self.state.withLock { $0.rollback.keep(owner: Self.appOwner) }
            }
            done(result)
        }
        let text: [String: String?]
        do throws(Refusal) {
            guard let unsaved = try unsaved(keys, updates) else {
                tell(who, what)
                return kept(.success(()))
            }
            text = unsaved
        } catch {
            return kept(.failure(error))
        }
        write(by: who, what) {
            $0.parameters.merge(change: text)
        } commit: { (state, saved) throws(Refusal) in
            // The files may say otherwise by now; what was asked for is on the disk all the same.
            var changed = (try? state.store.changed(updates)) ?? state.store
            changed.adopt(saved: saved.parameters)
            // Somebody else's change that waits takes back only what is its own.
            state.rollback.amend { $0.adopt(keys, from: changed) }
            state.store = changed
            self.publish(&state)
        } done: { result in
            if case .success = result { self.log.notice("\(who) \(what).") }
            kept(result)
        }
    }

    /// What has to be written; nil when the disk says it already, and the change is in force.
    private func unsaved(
        _ keys: [String], _ updates: [SettingUpdate]
    ) throws(Refusal) -> [String: String?]? {
        let result: Result<[String: String?]?, Refusal> = state.withLock { state in
            Result { () throws(Refusal) in
                let changed = try state.store.changed(updates)
                guard changed.hasUnsavedChanges(among: keys) else {
                    // What is in force may differ all the same: a change that was never saved.
                    state.rollback.amend { $0.adopt(keys, from: changed) }
                    state.store = changed
                    self.publish(&state)
                    return nil
                }
                guard state.appSaves.take(now: self.clock.now) else {
                    throw Refusal(.refused, "phones have saved too often; try again in 5 s")
                }
                return changed.unsaved(beside: self.keeper.saved.parameters, among: keys)
            }
        }
        return try result.get()
    }
}

extension ParameterStore {
    /// The same with new values, all or none.
    ///
    /// - Throws: What is wrong with one of them.
    func changed(_ updates: [SettingUpdate]) throws(Refusal) -> ParameterStore {
        var changed = self
        do throws(ConfigurationProblem) {
            for update in updates { try changed.set(update) }
        } catch {
            throw Refusal(error)
        }
        return changed
    }
}
