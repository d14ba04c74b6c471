import Calibration
package import Configuration
package import GimbalCore
package import Logging
package import Port
package import Realtime
import Synchronization

/// Owner of the active settings and calibrations. All changes go through this class. A mailbox
/// passes the changes to the loop for its next tick. Live changes last until the process ends,
/// until they are saved, or until their rollback time has passed.
///
/// The `StateOwner` writes to the disk outside the lock. A change that must be saved takes effect
/// after the write. A slow disk delays no other method. Any ordinary thread can call the methods.
package final class Tuning: Sendable {
    struct State: ~Copyable {
        var store: ParameterStore
        /// All active calibrations.
        var calibrations: ActiveCalibrations
        var correction: SensorCorrection
        var isCalibrating = false
        var mailbox: MailboxWriter<Stabilizer.Parameters>
        var rollback = TimedRollback<ParameterStore.Snapshot>()
        /// Number of saves that are in progress; during a save, a temporary change does not revert.
        var savesUnderWay = 0
        var needsRestart: [String] = []
        /// Name of the baseline that was restored last.
        var profile: String?
        /// Temporary tuning of the motors, which overrides the tuning from the settings; nil
        /// without a temporary tuning.
        var trial: Stabilizer.Parameters?
        var loop: LoopReport
        /// Rate limit of saves by phones; it prevents an unauthorised phone from wearing out the
        /// disk.
        var appSaves = TokenBucket(burst: 20, perSecond: 0.2)

        /// True if an assistant's temporary change is active.
        var hasAssistantsChange: Bool {
            rollback.snapshot(of: ChangeOwner.assistants.rawValue) != nil
        }

        /// The settings without an assistant's temporary change. Saves, baselines and temporary
        /// changes of people and apps are based on these settings.
        var lasting: ParameterStore {
            reverted(to: rollback.snapshot(of: ChangeOwner.assistants.rawValue))
        }

        /// The settings that a save from this link stores: without a temporary change, unless the
        /// apps' own change is saved.
        func lasting(for link: CommandSource.Link) -> ParameterStore {
            let isOwn = link == .airos && rollback.snapshot(of: ChangeOwner.apps.rawValue) != nil
            return isOwn ? store : reverted(to: rollback.snapshot)
        }

        /// The settings after a temporary change has reverted to `snapshot`; the present settings
        /// if `snapshot` is nil.
        func reverted(to snapshot: ParameterStore.Snapshot?) -> ParameterStore {
            var reverted = store
            if let snapshot { reverted.restore(snapshot) }
            return reverted
        }

        /// Checks that the loop can use changed settings at once. While a temporary tuning of the
        /// motors is active, a change of the tuning in the settings would have no effect.
        ///
        /// - Throws: `refused` if the temporary tuning overrides the change.
        func admit(_ changed: Settings) throws(Refusal) {
            guard trial != nil else { return }
            let (old, new) = (store.settings.stabilizerParameters, changed.stabilizerParameters)
            guard old.controller == new.controller, old.field == new.field, old.servo == new.servo
            else {
                throw Refusal(
                    .refused,
                    "An autotune has replaced the tuning of the motors; repeat the change when the autotune has ended. `airframectl autotune cancel` ends it."
                )
            }
        }
    }

    /// Snapshot of all settings and of their pending changes.
    package struct Standing: Sendable {
        /// All layers of the settings.
        package let store: ParameterStore
        /// Seconds until the temporary change reverts; nil without a temporary change.
        let rollbackS: Double?
        /// State before the temporary change; nil without a temporary change.
        let before: ParameterStore.Snapshot?
        /// Settings whose new values take effect after a restart.
        package let needsRestart: [String]
        /// The settings without an assistant's temporary change.
        package let lasting: ParameterStore

        /// Seconds until the temporary change of a setting reverts; nil without a temporary change
        /// of this setting.
        package func rollbackS(of key: String) -> Double? {
            before?.changes(key, in: store) == true ? rollbackS : nil
        }

        /// Keys of the settings whose values in `settings` change when the temporary change reverts.
        package func reverting(in settings: Settings) -> Set<String> {
            guard let before else { return [] }
            var reverted = store
            reverted.restore(before)
            return Set(
                Schema.settings.filter {
                    $0.value(in: settings) != $0.value(in: reverted.settings)
                }.map(\.key))
        }
    }

    let state: Mutex<State>
    let source: ConfigurationSource
    /// Owner of the state directory.
    package let stateOwner: StateOwner
    let commander: Commander
    private let onChange: @Sendable (Settings) -> Void
    /// Clock of the loop.
    package let clock: LoopClock
    let log: Logger

    /// Creates a tuning.
    ///
    /// - Parameters:
    ///   - store: Values from files, and saved values; the loop already uses these values.
    ///   - source: Files that `reload` reads again.
    ///   - stateOwner: Owner of the state directory.
    ///   - correction: The loop's present correction of samples.
    ///   - mailbox: The loop's mailbox, to which only `Tuning` writes.
    ///   - commander: Commander that receives the rules from the settings.
    ///   - clock: Clock of the loop, used for rollbacks.
    ///   - log: Log to which the changes are written.
    ///   - onChange: Function that receives the settings immediately and after each change. The
    ///     function must not call `Tuning`.
    package init(
        store: ParameterStore, source: ConfigurationSource, stateOwner: StateOwner,
        correction: SensorCorrection,
        mailbox: consuming MailboxWriter<Stabilizer.Parameters>, commander: Commander,
        clock: LoopClock = .monotonic, log: Logger,
        onChange: @escaping @Sendable (Settings) -> Void
    ) {
        state = Mutex(
            State(
                store: store, calibrations: stateOwner.calibrations,
                correction: correction, mailbox: mailbox,
                loop: LoopReport(store.settings.stabilizerParameters)))
        self.source = source
        self.stateOwner = stateOwner
        self.commander = commander
        self.onChange = onChange
        self.clock = clock
        self.log = log
        onChange(store.settings)
    }

    /// The history of changes.
    package var history: ChangeHistory { stateOwner.history }

    /// The active values of the settings.
    package var settings: Settings { state.withLock { $0.store.settings } }

    /// Report on the effective gains and the stability margins of the tuning.
    package var report: LoopReport { state.withLock { $0.loop } }

    /// The settings with their origins, and the changes that are temporary or take effect after a
    /// restart.
    package var standing: Standing {
        state.withLock { state in
            Standing(
                store: state.store, rollbackS: state.rollback.secondsLeft(now: clock.now),
                before: state.rollback.snapshot, needsRestart: state.needsRestart,
                lasting: state.lasting)
        }
    }

    /// Changes one live setting.
    ///
    /// - Parameters:
    ///   - key: Dotted path.
    ///   - value: The new value; nil if the text that a user has entered is not a value.
    ///   - written: The value as text, for messages and the history.
    ///   - rollback: Time until an unsaved change reverts, s; nil means that the change does not
    ///     revert, not even at the end of an earlier temporary change.
    ///   - owner: Owner of the change.
    ///   - who: Author of the change, for the log.
    /// - Throws: An error about the key or the value, or `permissionDenied` if an assistant cannot
    ///   make the change; nothing has changed.
    package func set(
        _ key: String, to value: RawValue?, written: String, rollback: Double?,
        owner: ChangeOwner = .people, by who: String
    ) throws(Refusal) {
        let endsAssistants = try state.withLock { (state) throws(Refusal) in
            let ends =
                rollback != nil && owner != .assistants && state.hasAssistantsChange
            var changed = ends ? state.lasting : state.store
            do throws(ConfigurationProblem) {
                try changed.set(key, to: value, written: written)
            } catch {
                throw Refusal(error)
            }
            if owner == .assistants {
                try Self.admitAssistant(key, changed.settings, lasting: state.lasting.settings)
            }
            try state.admit(changed.settings)
            if let rollback {
                try owner.begin(
                    &state.rollback, state.store.snapshot, seconds: rollback, now: clock.now)
            } else {
                state.rollback.amend { $0.adopt([key], from: changed) }
            }
            state.store = changed
            publish(&state)
            return ends
        }
        if endsAssistants { tell(who, "ended an assistant's temporary change, which has reverted") }
        // The only permitted value of a setting that needs a restart is its active value.
        guard Schema.setting(key)?.applies == .live else { return }
        let undo = rollback.map { "; reverts after \(Int($0)) s unless saved" } ?? ""
        tell(who, "set \(key) = \(written)\(undo)")
    }

    /// Checks that an assistant can change a setting to its new value.
    ///
    /// - Throws: `permissionDenied` if the schema does not permit the change.
    private static func admitAssistant(
        _ key: String, _ changed: Settings, lasting: Settings
    ) throws(Refusal) {
        guard let setting = Schema.setting(key) else {
            throw Refusal(.permissionDenied, "An assistant cannot change \(key).", field: "key")
        }
        let limit = setting.value(in: lasting)
        guard !setting.assistantAccess.admits(setting.value(in: changed), lasting: limit) else {
            return
        }
        throw Refusal(
            .permissionDenied, setting.assistantRefusal(lasting: limit), field: "key")
    }

    /// Changes settings together, see `SettingsPort`.
    package func change(
        _ updates: (Settings) -> [SettingUpdate], from source: CommandSource, by who: String
    ) throws(Refusal) {
        try commander.admit(source, now: clock.now)
        let news = try state.withLock { (state) throws(Refusal) -> [SettingUpdate] in
            let seconds = source.link == .airos ? state.store.settings.airos.rollbackS : 0
            let base = seconds > 0 ? state.lasting : state.store
            let news = updates(base.settings)
            let changed: ParameterStore
            do throws(ConfigurationProblem) {
                changed = try base.changed(news)
            } catch {
                throw Refusal(error)
            }
            var lasting: ParameterStore?
            // True if a value that is already active would otherwise revert.
            var isKept = false
            if seconds == 0, let snapshot = state.rollback.snapshot {
                // A pending rollback of other values must not revert this change, but must revert
                // the other parts of the same settings.
                let reverted = state.reverted(to: snapshot)
                let kept = (try? reverted.changed(updates(reverted.settings))) ?? changed
                isKept = kept.settings != reverted.settings
                lasting = kept
            }
            guard isKept || changed.settings != state.store.settings else { return [] }
            try state.admit(changed.settings)
            if seconds > 0 {
                try ChangeOwner.apps.begin(
                    &state.rollback, state.store.snapshot, seconds: Double(seconds),
                    now: clock.now)
            } else if let lasting {
                state.rollback.amend { $0.adopt(news.map(\.key), from: lasting) }
            }
            state.store = changed
            publish(&state)
            return news
        }
        for update in news { tell(who, "set \(update)") }
    }

    /// Activates a temporary tuning of the motors, without changing the settings; nil restores the
    /// tuning from the settings.
    package func setTrial(_ trial: Stabilizer.Parameters?) {
        state.withLock { state in
            state.trial = trial
            publish(&state)
        }
    }

    /// Reverts a temporary change that was not made permanent in time. Call this method at least
    /// every 0.1 s.
    package func advance(now: Instant) {
        let discarded: [String]? = state.withLock { state in
            guard state.savesUnderWay == 0, let snapshot = state.rollback.expire(now: now) else {
                return nil
            }
            let before = state.store.settings
            let discarded = state.store.restore(snapshot)
            publish(&state)
            // After a permanent change of the same settings, no value is reverted.
            return state.store.settings == before ? nil : discarded
        }
        guard let discarded else { return }
        log.warning("The last change was not saved in time, so airframed has reverted it.")
        history.note("airframed", "reverted the last change, which was not saved in time")
        guard !discarded.isEmpty else { return }
        let keys = discarded.joined(separator: ", ")
        log.warning(
            "These unsaved values are not valid with the reverted settings, so airframed has discarded them: \(keys)."
        )
        history.note(
            "airframed", "discarded unsaved values that are not valid any more: \(keys)")
    }

    /// Reads files and state directory again, as after a start of the process.
    package func restart() {
        state.withLock { state in
            _ = state.rollback.keep()
            state.store.restart()
            state.isCalibrating = false
            state.correction =
                state.store.settings.stabilizerParameters(calibrated: state.calibrations)
                .correction
            publish(&state)
        }
    }

    /// Passes the settings to all components that use them.
    func publish(_ state: inout State) {
        let settings = state.store.settings
        var parameters = settings.stabilizerParameters
        parameters.correction = state.correction
        parameters.isCalibrating = state.isCalibrating
        if let trial = state.trial {
            parameters.controller = trial.controller
            parameters.field = trial.field
            parameters.servo = trial.servo
        }
        state.mailbox.publish(parameters)
        state.loop = LoopReport(parameters)
        commander.apply(settings.commanderRules)
        onChange(settings)
    }

    /// Adds an entry to the log and to the history.
    func tell(_ who: String, _ what: String) {
        log.notice("\(who) \(what).")
        history.note(who, what)
    }
}
