import Configuration
import GimbalCore
import Identification
import PlainText
import Policy
import Port
import Realtime
import Synchronization
import Wire

/// One autotune at a time: hands the loop's records to `AutotuneRun`, and what that wants to the Commander and
/// `Tuning`.
///
/// `feed` runs where telemetry is drained and only thinks; what it wants is done in `advance`, on the same thread.
final class AutotuneService: Sendable {
    private struct State {
        var run: AutotuneRun?
        var owner: CommandSource?
        var isToApply = false
        /// The result is on its way to the disk.
        var isSaving = false
        var actions: [AutotuneRun.Action] = []
        var lastID: UInt32 = 0
        var began = Instant(nanoseconds: 0)
        var report = AutotuneReport()
    }

    /// How long an applied tuning is kept unless saved, s.
    static let rollbackSeconds = 120.0
    /// No run takes longer, s.
    private static let longestSeconds = 240.0

    private let tuning: Tuning
    private let commander: Commander
    private let calibration: CalibrationService
    private let state = Mutex(State())

    /// - Parameters:
    ///   - tuning: Where gains are tried and applied.
    ///   - commander: The control for the excitation.
    ///   - calibration: Must not go on at the same time.
    init(tuning: Tuning, commander: Commander, calibration: CalibrationService) {
        self.tuning = tuning
        self.commander = commander
        self.calibration = calibration
    }

    /// Begins.
    ///
    /// - Parameters:
    ///   - axes: What to tune.
    ///   - apply: Whether to put the result in force.
    ///   - owner: The connection that asks; when it ends, so does the run.
    ///   - now: On the loop's clock.
    /// - Returns: Where it stands.
    /// - Throws: Why it cannot begin.
    func start(
        axes: [GimbalAxis], apply: Bool, owner: CommandSource, now: Instant
    ) throws(Refusal) -> AutotuneReport {
        let settings = tuning.settings
        try check(settings, now: now)
        let parameters = settings.stabilizerParameters
        let report: AutotuneReport? = state.withLock { state in
            guard state.run == nil else { return nil }
            state = State()
            state.run = AutotuneRun(
                axes: axes, present: parameters, tickRate: Double(settings.loop.rateHz))
            state.owner = owner
            state.isToApply = apply
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

    private func check(_ settings: Settings, now: Instant) throws(Refusal) {
        let control = commander.view(now: now)
        if control.isStopped {
            throw Refusal(
                .refused, "An emergency stop is latched; reset it first: airframectl stop --reset")
        }
        if case .inactive = control.mode {
            throw Refusal(
                .refused, "The mode is inactive, so nothing would move: airframectl mode locked")
        }
        if calibration.status().isRunning {
            throw Refusal(
                .refused, "A calibration is running: airframectl calibrate cancel")
        }
    }

    /// Where it stands.
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

    /// Ends it without a result; the gains before it are in force again within some milliseconds.
    func cancel() -> AutotuneReport {
        stop { _ in true }
        return status
    }

    /// A connection has ended: what it began ends as well.
    func disconnected(_ owner: CommandSource) { stop { $0.owner == owner } }

    private func stop(where isMeant: (State) -> Bool) {
        state.withLock { state in
            guard state.run != nil, !state.isSaving, isMeant(state) else { return }
            state.run?.cancel("Cancelled. The gains have not changed.")
            state.actions = [.finish]
        }
    }

    /// Lets the run think about a tick. Cheap while there is none.
    func feed(_ snapshot: StabilizerSnapshot) {
        state.withLock { state in
            guard !state.isSaving, let action = state.run?.take(snapshot) else { return }
            state.actions.append(action)
        }
    }

    /// Does what the run wants. Call often.
    func advance(now: Instant) {
        let actions = state.withLock { state in
            if state.run != nil, !state.isSaving, state.actions.isEmpty,
                now.seconds(since: state.began) > Self.longestSeconds
            {
                state.run?.cancel("It took too long and was stopped.")
                state.actions = [.finish]
            }
            defer { state.actions = [] }
            return state.actions
        }
        for action in actions {
            switch action {
            case .trial(let trial): tuning.setTrial(trial)
            case .excite(let excitation): excite(excitation, now: now)
            case .finish: finish(now: now)
            }
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

    /// The gains before the run are put back, or those that it has found are put in force.
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
            let changes = AutotuneProposals(of: ended, present: tuning.settings).list
            report.fill(from: ended, changes)
            if isToApply { return apply(changes, report) }
        }
        end(report)
    }

    /// The gains of the run stay until those that it has found are in force.
    private func apply(_ changes: [SettingUpdate], _ found: AutotuneReport) {
        state.withLock { $0.isSaving = true }
        tuning.apply(changes, storing: "before-autotune", rollback: Self.rollbackSeconds) {
            result in
            var report = found
            switch result {
            case .success:
                report.rollbackS = Number(Self.rollbackSeconds)
                report.sentence =
                    "Active for \(Int(Self.rollbackSeconds)) s: `airframectl save` keeps it. "
                    + "`airframectl baseline restore before-autotune` undoes it."
            case .failure(let error):
                report.sentence = "Found, but not applied: \(error.message)"
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

    /// Nobody's connection: it never takes control.
    private static let source = CommandSource(link: .diagnostics, connection: .max)

    private static func sentence(_ refusal: Refusal) -> String {
        switch refusal.code {
        case .held, .forbidden: "Another client is in control."
        case .stopped: "A client sent an emergency stop."
        case .inactive: "The mode has become inactive."
        case .outOfRange, .busy: "The loop does not take requests."
        case .failed: "airframed is stopping."
        default: "The mode does not allow it."
        }
    }
}
