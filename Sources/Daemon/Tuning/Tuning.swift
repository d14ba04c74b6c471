import Calibration
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

/// The one way to parameters: whoever changes one asks here, and the loop hears of it through the mailbox at its next
/// tick. Live changes last until the process ends, until they are saved, or until their rollback takes them back.
///
/// What has to be on the disk is written by the `StateKeeper`, outside the lock, and put in force once it is there; meanwhile
/// everything goes on. Ordinary threads; time is an argument where it matters.
final class Tuning: Sendable {
    struct State: ~Copyable {
        var store: ParameterStore
        /// Every calibration in force.
        var calibrations: CalibrationBook
        var correction: SensorCorrection
        var isCalibrating = false
        var mailbox: MailboxWriter<Stabilizer.Parameters>
        var rollback = TimedRollback<ParameterStore.Snapshot>()
        /// Saves on their way to the disk: a change that is being saved is not taken back.
        var savesUnderWay = 0
        var needsRestart: [String] = []
        /// A tuning of the motors that is tried for a while instead of that of the settings.
        var trial: Stabilizer.Parameters?
        var loop: LoopReport
        /// A stranger's phone must not wear out the disk.
        var appSaves = TokenBucket(burst: 20, perSecond: 0.2)
    }

    let state: Mutex<State>
    let source: ConfigurationSource
    let keeper: StateKeeper
    private let commander: Commander
    private let logStore: LogStore
    let clock: LoopClock
    let log: Logger

    /// - Parameters:
    ///   - store: Files and saved values, already in force in the loop.
    ///   - source: What `reload` reads again.
    ///   - keeper: The state directory.
    ///   - correction: What the loop applies to its samples already.
    ///   - mailbox: The loop's; nobody else may write to it.
    ///   - commander: Hears of its rules.
    ///   - logStore: Hears of the log level.
    ///   - clock: What rollbacks run on: the loop's.
    ///   - log: Who changed what.
    init(
        store: ParameterStore, source: ConfigurationSource, keeper: StateKeeper,
        correction: SensorCorrection,
        mailbox: consuming MailboxWriter<Stabilizer.Parameters>, commander: Commander,
        logStore: LogStore, clock: LoopClock = .monotonic, log: Logger
    ) {
        state = Mutex(
            State(
                store: store, calibrations: keeper.calibrations,
                correction: correction, mailbox: mailbox,
                loop: LoopReport(store.settings.stabilizerParameters)))
        self.source = source
        self.keeper = keeper
        self.commander = commander
        self.logStore = logStore
        self.clock = clock
        self.log = log
        logStore.setMinimum(store.settings.logLevel)
    }

    /// Who changed what.
    var history: ChangeHistory { keeper.history }

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
    ) throws(Refusal) -> Wire.Setting {
        let text = value.tomlText(for: key)
        let result: Result<Wire.Setting, Refusal> = state.withLock { state in
            Result { () throws(Refusal) in
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
    ) throws(Refusal) -> Wire.Setting {
        var changed = state.store
        do {
            try changed.set(key, to: text)
        } catch {
            throw Refusal(error)
        }
        if let rollback {
            try state.rollback.begin(
                state.store.snapshot, owner: Self.socketOwner, seconds: rollback,
                now: self.clock.now)
        }
        state.store = changed
        publish(&state)
        guard let setting = Schema.setting(key) else {
            throw Refusal(.unknownKey, "there is no setting \(key)", field: "key")
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

    /// Takes back what nobody has kept in time. Call often.
    func advance(now: Instant) {
        let reverted = state.withLock { state in
            guard state.savesUnderWay == 0, let snapshot = state.rollback.expire(now: now) else {
                return false
            }
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
        log.warning("The last change was not saved, and is reverted.")
        history.note("airframed", "reverted the last change, which was not saved")
    }

    /// Begins afresh with what files and state directory say, as after a start.
    func restart() {
        state.withLock { state in
            _ = state.rollback.keep()
            state.store.discardUnsaved()
            state.isCalibrating = false
            state.correction =
                state.store.settings.stabilizerParameters(calibrated: state.calibrations)
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

    /// Into the log, and into the history.
    func tell(_ who: String, _ what: String) {
        log.notice("\(who) \(what).")
        history.note(who, what)
    }

    /// All clients of the socket together own a change: `set` and `save` are commands of different connections.
    static let socketOwner: UInt64 = 0
}
