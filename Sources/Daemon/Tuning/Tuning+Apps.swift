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

// What apps over Bluetooth may change, and save by themselves: never an engineer's trial on the socket.
extension Tuning {
    /// What an AirOS app may change: the triples it shows, and the mode that it wants to find again.
    static let airOSKeys = [
        "airos.pid.pitch", "airos.pid.roll", "airos.pid.yaw", "estimator.kalman_q_angle",
        "estimator.kalman_q_bias", "estimator.kalman_r_measure", "mode.boot",
    ]

    /// All apps together own a change, as all clients of the socket do: `save` may come over another connection.
    private static let appOwner: UInt64 = 1

    /// Changes settings together, all or none; with `airos.rollback_s` they revert unless they are saved in time.
    ///
    /// - Parameters:
    ///   - changes: New values.
    ///   - who: For the log.
    /// - Throws: What is wrong with a value, or that somebody else's change waits; then nothing has changed.
    func change(_ changes: [SettingUpdate], by who: String) throws(Refusal) {
        try change(changes, by: who, rollback: settings.airos.rollbackS)
    }

    private func change(
        _ changes: [SettingUpdate], by who: String, rollback: Int
    ) throws(Refusal) {
        let result: Result<Bool, Refusal> = state.withLock { state in
            Result { () throws(Refusal) in
                var changed = state.store
                do throws(ConfigurationProblem) {
                    for change in changes { try changed.set(change) }
                } catch {
                    throw Refusal(error)
                }
                guard changed.settings != state.store.settings else { return false }
                try self.arrangeReturn(
                    from: changed, of: changes.map(\.key), after: rollback, &state)
                state.store = changed
                self.publish(&state)
                return true
            }
        }
        guard try result.get() else { return }
        for change in changes { tell(who, "set \(change)") }
    }

    /// Writes what an app may change to the disk, with the mode that it is in; a change of an app that waits is kept.
    ///
    /// - Parameters:
    ///   - mode: For the next start; nil leaves what is said about it.
    ///   - who: For the log.
    ///   - done: Hears of it, or that the disk refuses; then nothing has changed.
    func save(mode: Mode?, by who: String, _ done: @escaping Later<Void>) {
        let what = "saved mode, PID and Kalman"
        saveAirOS(by: who, what, done) { (store) throws(ConfigurationProblem) in
            if let mode, mode != store.settings.mode.boot {
                try store.set(SettingUpdate(\.mode.boot, mode))
            }
        }
    }

    /// Returns what an app may change to the built-in defaults, which the app shows from then on, and saves that.
    ///
    /// - Parameters:
    ///   - who: For the log.
    ///   - done: Hears of it, or that the disk refuses; then nothing has changed.
    func restoreAirOSDefaults(by who: String, _ done: @escaping Later<Void>) {
        let what = "returned mode, PID and Kalman to their defaults"
        saveAirOS(by: who, what, done) { (store) throws(ConfigurationProblem) in
            for key in Self.airOSKeys { try store.setToDefault(key) }
        }
    }

    /// Changes one setting until the process ends, or until it is saved; a pending rollback leaves it alone.
    ///
    /// - Parameters:
    ///   - change: The new value; the one in force changes nothing, and is no news.
    ///   - who: For the log.
    /// - Throws: What is wrong with the value; then nothing has changed.
    func set(_ change: SettingUpdate, by who: String) throws(Refusal) {
        try self.change([change], by: who, rollback: 0)
    }

    /// Saves some settings, and no others.
    ///
    /// - Parameters:
    ///   - keys: Dotted paths.
    ///   - who: For the log.
    ///   - what: What is done, for the log.
    ///   - done: Hears of it, or that the disk refuses; then nothing has changed.
    func save(_ keys: [String], by who: String, _ what: String, _ done: @escaping Later<Void>) {
        save(keys, by: who, what, done) { _ in }
    }

    /// Changes one setting and saves it alone, at once.
    ///
    /// - Parameters:
    ///   - change: The new value.
    ///   - who: For the log.
    ///   - done: Hears of it, or what is wrong with the value, or that the disk refuses; then nothing has changed.
    func keep(_ change: SettingUpdate, by who: String, _ done: @escaping Later<Void>) {
        save([change.key], by: who, "set \(change), saved", done) {
            (store) throws(ConfigurationProblem) in
            try store.set(change)
        }
    }

    /// A change of a copy of the store.
    private typealias StoreChange =
        @Sendable (inout ParameterStore) throws(ConfigurationProblem) -> Void

    private func saveAirOS(
        by who: String, _ what: String, _ done: @escaping Later<Void>,
        _ change: @escaping StoreChange
    ) {
        let kept: Later<Void> = { result in
            if case .success = result {
                _ = self.state.withLock { $0.rollback.keep(owner: Self.appOwner) }
            }
            done(result)
        }
        save(Self.airOSKeys, by: who, what, kept, change)
    }

    /// What has to be written; nil when the disk says it already, and the change is in force.
    private func unsaved(
        _ keys: [String], _ change: StoreChange
    ) throws(Refusal) -> [String: String?]? {
        let result: Result<[String: String?]?, Refusal> = state.withLock { state in
            Result { () throws(Refusal) in
                var changed = state.store
                do throws(ConfigurationProblem) {
                    try change(&changed)
                } catch {
                    throw Refusal(error)
                }
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

    private func save(
        _ keys: [String], by who: String, _ what: String, _ done: @escaping Later<Void>,
        _ change: @escaping StoreChange
    ) {
        func tell() { log.notice("\(who) \(what).") }
        let text: [String: String?]
        do throws(Refusal) {
            guard let unsaved = try unsaved(keys, change) else {
                history.note(who, what)
                tell()
                return done(.success(()))
            }
            text = unsaved
        } catch {
            return done(.failure(error))
        }
        write(by: who, what) {
            $0.parameters.merge(change: text)
        } commit: { (state, saved) throws(Refusal) in
            var changed = state.store
            // The files may say otherwise by now; what was asked for is on the disk all the same.
            try? change(&changed)
            changed.adopt(saved: saved.parameters)
            // Somebody else's change that waits takes back only what is its own.
            state.rollback.amend { $0.adopt(keys, from: changed) }
            state.store = changed
            self.publish(&state)
        } done: { result in
            if case .success = result { self.log.notice("\(who) \(what).") }
            done(result)
        }
    }

    /// With a rollback the change waits to be kept; without, it outlasts whatever else waits.
    private func arrangeReturn(
        from changed: ParameterStore, of keys: [String], after seconds: Int, _ state: inout State
    ) throws(Refusal) {
        guard seconds > 0 else { return state.rollback.amend { $0.adopt(keys, from: changed) } }
        try state.rollback.begin(
            state.store.snapshot, owner: Self.appOwner, seconds: Double(seconds), now: clock.now)
    }
}
