import Configuration
import GimbalCore
import Links
import Logging
import Persistence
import Realtime
import Synchronization
import Wire

/// The one door for parameters: whoever changes one asks here, and the loop hears of it through the mailbox at its next
/// tick. Live changes last until the process ends, until they are saved, or until their rollback takes them back.
///
/// Ordinary threads; time is an argument where it matters.
final class Tuning: Sendable {
    struct State: ~Copyable {
        var store: ParameterStore
        var saved: SavedTuning
        var correction: SensorCorrection
        var isCalibrating = false
        var mailbox: MailboxWriter<Stabilizer.Parameters>
        var rollback = TimedRollback<ParameterStore.Snapshot>()
        var needsRestart: [String] = []
        /// A tuning of the motors that is tried for a while instead of that of the settings.
        var trial: Stabilizer.Parameters?
        var loop: LoopReport
        /// A stranger's phone must not wear out the disk.
        var appSaves = TokenBucket(burst: 20, perSecond: 0.2)
    }

    let state: Mutex<State>
    private let source: ConfigurationSource
    private let commander: Commander
    private let logStore: LogStore
    /// Who changed what.
    let history: ChangeHistory
    let clock: LoopClock
    let log: Logger

    /// - Parameters:
    ///   - store: Files and saved values, already in force in the loop.
    ///   - source: What `reload` reads again.
    ///   - saved: The state directory.
    ///   - correction: What the loop applies to its samples already.
    ///   - mailbox: The loop's; nobody else may write to it.
    ///   - commander: Hears of its rules.
    ///   - logStore: Hears of the log level.
    ///   - clock: What rollbacks run on: the loop's.
    ///   - log: Who changed what.
    init(
        store: ParameterStore, source: ConfigurationSource, saved: SavedTuning,
        correction: SensorCorrection,
        mailbox: consuming MailboxWriter<Stabilizer.Parameters>, commander: Commander,
        logStore: LogStore, clock: LoopClock = .monotonic, log: Logger
    ) {
        state = Mutex(
            State(
                store: store, saved: saved, correction: correction, mailbox: mailbox,
                loop: LoopReport(store.settings.stabilizerParameters)))
        history = saved.history
        self.source = source
        self.commander = commander
        self.logStore = logStore
        self.clock = clock
        self.log = log
        logStore.setMinimum(store.settings.logLevel)
    }

    /// The values in force.
    var settings: Settings { state.withLock { $0.store.settings } }

    /// Effective gains and margins.
    var controlStatus: ControlStatus { state.withLock { $0.loop.status } }

    /// Files, unsaved changes and what waits for a restart.
    var configurationStatus: ConfigurationStatus {
        state.withLock { state in
            var status = ConfigurationStatus()
            status.files = state.store.files
            status.unsaved = state.store.diff(against: .saved).map(\.key)
            status.needsRestart = state.needsRestart
            return status
        }
    }

    /// Every setting with its value and origin.
    func list() -> [Wire.Setting] {
        state.withLock { state in
            let left = state.rollback.secondsLeft(now: self.clock.now)
            return Schema.settings.map { Wire.Setting($0, in: state.store, rollback: left) }
        }
    }

    /// Changes one live setting.
    ///
    /// - Parameters:
    ///   - key: Dotted path.
    ///   - value: A JSON value, or a string that holds TOML.
    ///   - rollback: Seconds after which the change is taken back unless it was saved.
    ///   - client: For the log.
    /// - Returns: The setting as it is now.
    /// - Throws: What is wrong with key or value; then nothing has changed.
    func set(
        key: String, value: JSONValue, rollback: Double?, client: DiagnosticsClient
    ) throws(RequestError) -> Wire.Setting {
        let text = value.tomlText(for: key)
        let result: Result<Wire.Setting, RequestError> = state.withLock { state in
            Result { () throws(RequestError) in
                try self.change(key, to: text, rollback: rollback, &state)
            }
        }
        let setting = try result.get()
        let undo = rollback.map { " for \(Int($0)) s unless saved" } ?? ""
        tell(client.description, "set \(key) = \(text)\(undo)")
        return setting
    }

    private func change(
        _ key: String, to text: String, rollback: Double?, _ state: inout State
    ) throws(RequestError) -> Wire.Setting {
        var changed = state.store
        do {
            try changed.set(key, to: text)
        } catch {
            throw RequestError(error)
        }
        if let rollback {
            do {
                try state.rollback.begin(
                    state.store.snapshot, owner: Self.socketOwner, seconds: rollback,
                    now: self.clock.now)
            } catch {
                throw RequestError(.refused, "\(error)", field: "rollback")
            }
        }
        state.store = changed
        publish(&state)
        guard let setting = Schema.setting(key) else {
            throw RequestError(.unknownKey, "there is no setting \(key)", field: "key")
        }
        var reading = Wire.Setting(
            setting, in: changed, rollback: state.rollback.secondsLeft(now: self.clock.now))
        if setting.affectsMargins { reading.warning = state.loop.warning }
        return reading
    }

    /// Tries a tuning of the motors without touching the settings; nil returns to those.
    func setTrial(_ trial: Stabilizer.Parameters?) {
        state.withLock { state in
            state.trial = trial
            publish(&state)
        }
    }

    /// Changes several settings together: keeps what was in force under a name, and takes the change back unless saved.
    ///
    /// - Parameters:
    ///   - proposals: All of them, or nothing changes.
    ///   - baseline: The name.
    ///   - rollback: Seconds.
    /// - Throws: What does not fit, or cannot be stored.
    func apply(
        _ proposals: [SettingProposal], storing baseline: String, rollback: Double
    ) throws(RequestError) {
        let result: Result<Void, RequestError> = state.withLock { state in
            Result { () throws(RequestError) in
                var changed = state.store
                do throws(ConfigurationProblem) {
                    for proposal in proposals { try changed.set(proposal.key, to: proposal.value) }
                } catch {
                    throw RequestError(error)
                }
                do {
                    try state.saved.store(
                        baseline: baseline, state.store.tuning, by: "autotune")
                    try state.rollback.begin(
                        state.store.snapshot, owner: Self.socketOwner, seconds: rollback,
                        now: self.clock.now)
                } catch {
                    throw RequestError(.refused, "\(error)")
                }
                state.store = changed
                self.publish(&state)
            }
        }
        try result.get()
        tell(
            "autotune",
            "set \(proposals.map { "\($0.key) = \($0.value)" }.joined(separator: ", ")) for \(Int(rollback)) s unless saved"
        )
    }

    /// What differs from the defaults, and what is not saved.
    func diff() -> [SettingChange] {
        state.withLock { state in
            let unsaved = Set(state.store.diff(against: .saved).map(\.key))
            let left = state.rollback.secondsLeft(now: self.clock.now).map { Number($0) }
            return state.store.diff(against: .defaults).map { difference in
                let isUnsaved = unsaved.contains(difference.key)
                return SettingChange(
                    key: difference.key, defaultValue: JSONValue(difference.reference),
                    value: JSONValue(difference.value), origin: difference.origin.description,
                    isUnsaved: isUnsaved, rollbackS: isUnsaved ? left : nil)
            }
        }
    }

    /// Writes live changes to the disk; a change that waited for its rollback is kept.
    func save(by who: String) throws(RequestError) -> Acknowledgement {
        let result: Result<Acknowledgement, RequestError> = state.withLock { state in
            var changed = state.store
            changed.save()
            do {
                try state.saved.save(
                    parameters: changed.savedOverlay, by: who, "saved the tuning")
            } catch {
                return .failure(RequestError(.refused, "\(error)"))
            }
            state.store = changed
            let wasPending = state.rollback.keep()
            return .success(
                Acknowledgement(
                    "Saved \(changed.savedOverlay.count) settings."
                        + (wasPending ? " The change that waited is kept." : "")))
        }
        let acknowledgement = try result.get()
        log.notice("\(who) saved the tuning.")
        return acknowledgement
    }

    /// Lists, stores or restores named baselines.
    func baseline(_ request: BaselineRequest, by who: String) throws(RequestError) -> BaselineReport
    {
        let result: Result<BaselineReport, RequestError> = state.withLock { state in
            Result { () throws(RequestError) in
                switch request {
                case .list:
                    return BaselineReport(names: state.saved.baselineNames, sentence: "")
                case .store(let name):
                    do {
                        try state.saved.store(baseline: name, state.store.tuning, by: who)
                    } catch {
                        throw RequestError(.refused, "\(error)", field: "name")
                    }
                    return BaselineReport(
                        names: state.saved.baselineNames,
                        sentence: "The present tuning is baseline \(name) now.")
                case .restore(let name):
                    let left = try self.restore(name, &state)
                    let rest = left.isEmpty ? "" : " Left out: " + left.joined(separator: " ")
                    return BaselineReport(
                        names: state.saved.baselineNames,
                        sentence: "Baseline \(name) is in force, not saved.\(rest)")
                }
            }
        }
        let report = try result.get()
        switch request {
        case .list: break
        case .store(let name): log.notice("\(who) stored baseline \(name).")
        case .restore(let name): tell(who, "restored baseline \(name)")
        }
        return report
    }

    private func restore(_ name: String, _ state: inout State) throws(RequestError) -> [String] {
        let overlay: [String: String]
        do {
            overlay = try state.saved.baseline(name)
        } catch {
            throw RequestError(.refused, "\(error)", field: "name")
        }
        var changed = state.store
        do {
            let problems = try changed.restore(tuning: overlay)
            state.store = changed
            _ = state.rollback.keep()
            publish(&state)
            return problems.map(\.description)
        } catch {
            throw RequestError(error)
        }
    }

    /// Reads the files again: what can change live does, what cannot is named, a bad file is rejected whole.
    func reload(by who: String) throws(RequestError) -> Wire.ReloadReport {
        let loaded: LoadedConfiguration
        do {
            loaded = try ConfigurationLoader.load(source)
        } catch {
            throw RequestError(.refused, "nothing has changed: \(error)")
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

    /// Takes back what nobody has kept in time. Call often.
    func advance(now: Instant) {
        let reverted = state.withLock { state in
            guard let snapshot = state.rollback.expire(now: now) else { return false }
            do {
                try state.store.restore(snapshot)
            } catch {
                // The files have changed underneath; what they say now is the safe place to return to.
                state.store.discardUnsaved()
            }
            publish(&state)
            return true
        }
        guard reverted else { return }
        log.warning("Nobody kept the last change: it is taken back.")
        history.note("airframed", "took the last change back, as nobody had kept it")
    }

    /// Begins afresh with what files and state directory say, as after a start.
    func restart() {
        state.withLock { state in
            _ = state.rollback.keep()
            state.store.discardUnsaved()
            state.isCalibrating = false
            state.correction =
                state.store.settings.stabilizerParameters(calibrated: state.saved.calibrations)
                .correction
            publish(&state)
        }
    }

    /// Everybody who lives from settings hears of them.
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
        logStore.setMinimum(settings.logLevel)
    }

    /// Saves what the history has and the disk has not. At the end.
    func close() {
        do {
            try state.withLock { try $0.saved.saveHistory() }
        } catch {
            log.warning("The history of changes is not saved: \(error)")
        }
    }

    /// Into the log, and into the history.
    func tell(_ who: String, _ what: String) {
        log.notice("\(who) \(what).")
        history.note(who, what)
    }

    /// All clients of the socket together own a change: `set` and `save` are commands of different connections.
    private static let socketOwner: UInt64 = 0
}
