import Configuration
import GimbalCore
import Identification
import PlainText
import Policy
import Port
import Realtime
import Synchronization
import Wire

/// Service that runs one autotune at a time. The service passes the loop's records to
/// `AutotuneRun`, and the actions of the run to `Commander` and `Tuning`.
///
/// The thread that drains the telemetry calls `feed` and `advance`. `feed` only records; `advance`
/// executes the actions, and evaluates the measurements.
final class AutotuneService: Sendable {
    private struct State {
        var run: AutotuneRun?
        var owner: CommandSource?
        var author = (name: "", owner: ChangeOwner.people)
        var isToApply = false
        /// Tuning at the start of the run.
        var present: Stabilizer.Parameters?
        /// True if the result of the autotune is being written to the disk.
        var isSaving = false
        var actions: [AutotuneRun.Action] = []
        var lastID: UInt32 = 0
        var began = Instant(nanoseconds: 0)
        var report = AutotuneReport()
    }

    /// Timeout of an applied tuning, s; then the tuning reverts unless the user has saved it.
    static let rollbackSeconds = 120.0
    /// Longest duration of an autotune run, s.
    private static let longestSeconds = 240.0

    private let tuning: Tuning
    private let commander: Commander
    private let calibration: CalibrationService
    private let state = Mutex(State())

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - tuning: Receiver of the temporary gains and the results.
    ///   - commander: Receiver of the excitation, which it passes to the loop.
    ///   - calibration: Service of the calibrations; an autotune and a calibration must not run at
    ///     the same time.
    init(tuning: Tuning, commander: Commander, calibration: CalibrationService) {
        self.tuning = tuning
        self.commander = commander
        self.calibration = calibration
    }

    /// Starts an autotune run.
    ///
    /// - Parameters:
    ///   - axes: Axes to tune.
    ///   - apply: True to apply the result.
    ///   - owner: The requesting connection; the run ends when this connection ends.
    ///   - author: Name and kind of the client, for the history and the temporary change.
    ///   - now: Current time on the loop's clock.
    /// - Returns: State of the autotune run.
    /// - Throws: `Refusal` that states why the autotune cannot start.
    func start(
        axes: [GimbalAxis], apply: Bool, owner: CommandSource,
        author: (name: String, owner: ChangeOwner), now: Instant
    ) throws(Refusal) -> AutotuneReport {
        let settings = tuning.settings
        try check(now: now)
        let parameters = settings.stabilizerParameters
        let report: AutotuneReport? = state.withLock { state in
            guard state.run == nil else { return nil }
            state = State()
            state.run = AutotuneRun(
                axes: axes, present: parameters, tickRate: Double(settings.loop.rateHz))
            state.owner = owner
            state.author = author
            state.isToApply = apply
            state.present = parameters
            state.began = now
            state.report.state = AutotuneReport.State.running.rawValue
            return state.report
        }
        guard let report else {
            throw Refusal(
                .refused, "An autotune is running; `airframectl autotune cancel` ends it.")
        }
        return report
    }

    private func check(now: Instant) throws(Refusal) {
        let control = commander.view(now: now)
        if control.isStopped {
            throw Refusal(
                .refused, "An emergency stop is latched; reset it first: airframectl stop --reset")
        }
        if case .inactive = control.mode {
            throw Refusal(
                .refused,
                "The mode is inactive, so the motors are off; select another mode first: airframectl mode locked"
            )
        }
        if calibration.status().isRunning {
            throw Refusal(
                .refused, "A calibration is running; `airframectl calibrate cancel` ends it.")
        }
    }

    /// State of the autotune run.
    var status: AutotuneReport {
        state.withLock { state in
            var report = state.report
            if let run = state.run {
                report.progress = Number(run.progress)
                report.secondsLeft = Number(run.secondsLeft)
                report.axis = run.axis.name
                report.activity = run.words
            }
            return report
        }
    }

    /// Cancels the autotune run; within a few milliseconds, the previous gains are active again.
    func cancel() -> AutotuneReport {
        stop { _ in true }
        return status
    }

    /// Ends the autotune that a connection has requested, because the connection has ended.
    func disconnected(_ owner: CommandSource) { stop { $0.owner == owner } }

    private func stop(where isMeant: (State) -> Bool) {
        state.withLock { state in
            guard let run = state.run, run.outcome == nil, isMeant(state) else { return }
            state.run?.cancel("The autotune is cancelled. The gains have not changed.")
            state.actions = [.finish]
        }
    }

    /// Passes a tick to the running autotune. Without a running autotune, the call returns
    /// immediately.
    func feed(_ snapshot: StabilizerSnapshot) {
        state.withLock { state in
            guard !state.isSaving, let action = state.run?.take(snapshot) else { return }
            state.actions.append(action)
        }
    }

    /// Executes the actions that the running autotune requests. Call this method in every round of
    /// the periodic tasks.
    func advance(now: Instant) {
        let actions = state.withLock { state in
            if state.run != nil, !state.isSaving, state.actions.isEmpty,
                now.seconds(since: state.began) > Self.longestSeconds
            {
                state.run?.cancel("The autotune took too long and was stopped.")
                state.actions = [.finish]
            }
            defer { state.actions = [] }
            return state.actions
        }
        for action in actions { execute(action, now: now) }
    }

    private func execute(_ action: AutotuneRun.Action, now: Instant) {
        switch action {
        case .trial(let trial): tuning.setTrial(trial)
        case .excite(let excitation): excite(excitation, now: now)
        case .judge: if let next = judge() { execute(next, now: now) }
        case .finish: finish(now: now)
        }
    }

    /// Evaluates the measurement of an axis on a copy of the run, without the lock, because requests
    /// must not wait for the evaluation. If the run is cancelled meanwhile, the copy is discarded.
    private func judge() -> AutotuneRun.Action? {
        guard var judged = state.withLock({ $0.run }) else { return nil }
        let action = judged.judge()
        return state.withLock { [judged] state in
            guard let run = state.run, run.outcome == nil else { return nil }
            state.run = judged
            return action
        }
    }

    private func excite(_ excitation: Excitation, now: Instant) {
        state.withLock { $0.lastID = excitation.id }
        do {
            try commander.request(.excite(excitation), from: Self.source, now: now)
        } catch {
            state.withLock { $0.run?.cancel(Self.sentence(error)) }
            finish(now: now)
        }
    }

    /// Restores the gains from before the run, or applies the results of the run.
    private func finish(now: Instant) {
        let (ended, isToApply, id) = state.withLock { ($0.run, $0.isToApply, $0.lastID) }
        guard let ended else { return }
        let silence = Excitation(
            id: id &+ 1, axis: ended.axis, amplitude: 0, periodTicks: 1, ticks: 0, errorLimit: 1)
        if case .failed = ended.outcome {
            try? commander.request(.excite(silence), from: Self.source, now: now)
        }
        var report = AutotuneReport()
        switch ended.outcome {
        case .failed(let sentence):
            report.state = AutotuneReport.State.refused.rawValue
            report.sentence = sentence
        case .done, nil:
            let settings = tuning.settings
            guard isTuned(settings.stabilizerParameters) else {
                report.state = AutotuneReport.State.refused.rawValue
                report.sentence =
                    "The tuning has changed during the autotune, so its results do not fit. Run the autotune again."
                break
            }
            let changes = AutotuneProposals(of: ended, present: settings).list
            report.fill(from: ended, changes)
            if isToApply { return apply(changes, report) }
        }
        end(report)
    }

    /// True if the tuning is the same as at the start of the run: a profile, a reload or the end of a
    /// temporary change can have replaced it.
    private func isTuned(_ now: Stabilizer.Parameters) -> Bool {
        guard let present = state.withLock(\.present) else { return true }
        return now.controller == present.controller && now.field == present.field
            && now.servo == present.servo
    }

    /// Applies the results of the run. The temporary gains of the run stay active until the results
    /// are saved.
    private func apply(_ changes: [SettingUpdate], _ found: AutotuneReport) {
        let author = state.withLock { state in
            state.isSaving = true
            return state.author
        }
        // An assistant must not replace a tuning that a person needs to go back.
        let baseline =
            author.owner == .assistants ? "before-autotune-assistant" : "before-autotune"
        tuning.apply(
            changes, storing: baseline, rollback: Self.rollbackSeconds,
            owner: author.owner, by: author.name
        ) { result in
            var report = found
            switch result {
            case .success:
                report.rollbackS = Number(Self.rollbackSeconds)
                report.sentence =
                    "The new gains revert \(Int(Self.rollbackSeconds)) s after the autotune; `airframectl save` keeps them. "
                    + "`airframectl baseline restore \(baseline)` restores the previous gains."
            case .failure(let error):
                report.sentence = "The gains were found, but not applied: \(error.message)"
            }
            self.end(report)
        }
    }

    private func end(_ report: AutotuneReport) {
        tuning.setTrial(nil)
        state.withLock { state in
            state.run = nil
            state.isSaving = false
            state.report = report
        }
    }

    /// Source of the excitation requests. The source of excitation requests does not belong to a
    /// connection, and never takes control.
    private static let source = CommandSource(link: .diagnostics, connection: .max)

    private static func sentence(_ refusal: Refusal) -> String {
        switch refusal.code {
        case .held, .forbidden: "Another client is in control."
        case .stopped: "A client sent an emergency stop."
        case .inactive: "The gimbal has changed to mode \"inactive\"."
        case .outOfRange, .busy: "The control loop does not accept requests."
        case .failed: "airframed is stopping."
        default: "The present mode does not allow an autotune. Select mode \"locked\"."
        }
    }
}
