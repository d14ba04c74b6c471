import Calibration
import GimbalCore
import Links
import Policy
import Port
import Realtime
import Synchronization
import Wire

/// One calibration at a time, for whoever asks over the socket or Bluetooth.
///
/// `feed` runs where telemetry is drained, everything else on ordinary threads; the outputs stay off until a result is on
/// the disk. Time and wall clock are arguments.
final class CalibrationService: Sendable {
    private struct State {
        var run: CalibrationRun?
        var outcome: CalibrationOutcome<CalibrationRun.Result> = .collecting
        var areMotorsOff = false
        /// The result of this kind is on its way to the disk.
        var saving: CalibrationKind?
        var owner: CommandSource?
        var began = Instant(nanoseconds: 0)
        /// When a phone's came to nothing.
        var failed: Instant?
        var report = CalibrationReport()
    }

    /// Nobody turns a camera for longer; the motors get back what they were kept from.
    static let longestSeconds = 600.0

    private let store: any CalibrationStore
    private let state = Mutex(State())

    /// - Parameter store: Where results go.
    init(store: any CalibrationStore) { self.store = store }

    /// Begins; the outputs go off softly first.
    ///
    /// - Parameters:
    ///   - kind: What to calibrate.
    ///   - owner: The connection that asks; when it ends, so does the calibration.
    ///   - now: On the loop's clock.
    /// - Returns: Where it stands.
    /// - Throws: Another one is going on.
    func start(
        _ kind: CalibrationKind, owner: CommandSource, now: Instant
    ) throws(Refusal) -> CalibrationReport {
        let correction = store.correction
        let running: CalibrationKind? = state.withLock { state in
            if let kind = state.run?.kind ?? state.saving { return kind }
            state = State()
            state.run = CalibrationRun(kind, correction: correction)
            state.owner = owner
            state.began = now
            state.report.what = kind.rawValue
            state.report.state = CalibrationReport.State.waiting.rawValue
            state.report.residualUnit = kind.unit
            return nil
        }
        if let running {
            throw Refusal(
                .busy,
                "A calibration of the \(running.rawValue) is running: airframectl calibrate cancel"
            )
        }
        store.setCalibrating(true)
        return status()
    }

    /// Where it stands, and what is in force.
    func status() -> CalibrationReport {
        let book = store.calibrations
        return state.withLock { state in
            var report = state.report
            if let run = state.run { run.describe(&report) }
            report.saved = CalibrationKind.allCases.compactMap { kind in
                book.record(kind).map {
                    SavedCalibration(
                        what: kind.rawValue, dateS: Number($0.date),
                        temperatureC: Number($0.temperature ?? .nan), sigma: Number($0.sigma),
                        residual: Number($0.residual), unit: kind.unit,
                        canUndo: book.canUndo(kind))
                }
            }
            return report
        }
    }

    /// Whether one goes on, and when a phone's came to nothing.
    var progress: CalibrationState {
        state.withLock { state in
            var progress = CalibrationState()
            progress.isRunning = state.run != nil || state.saving != nil
            progress.failed = state.failed
            return progress
        }
    }

    /// Takes the newest sample of a tick. Cheap while nothing is calibrated.
    func feed(_ snapshot: StabilizerSnapshot) {
        state.withLock { state in
            guard var run = state.run, case .collecting = state.outcome else { return }
            guard state.areMotorsOff || isReady(snapshot) else { return }
            state.areMotorsOff = true
            state.report.state = CalibrationReport.State.collecting.rawValue
            state.outcome = run.add(snapshot)
            state.run = run
        }
    }

    private func isReady(_ snapshot: StabilizerSnapshot) -> Bool {
        snapshot.conditions.intersects(.calibrating) && !snapshot.output.enabled
    }

    /// Ends what is finished: saves the result, lets the outputs back on.
    ///
    /// - Parameters:
    ///   - now: On the loop's clock.
    ///   - date: Wall clock, seconds since 1970.
    func advance(now: Instant, date: Double) {
        let finished: (run: CalibrationRun, outcome: CalibrationOutcome<CalibrationRun.Result>)? =
            state.withLock { state in
                guard let run = state.run else { return nil }
                if case .collecting = state.outcome {
                    guard now.seconds(since: state.began) > Self.longestSeconds else { return nil }
                    state.outcome = .refused("It took too long and was stopped.")
                }
                state.run = nil
                state.saving = run.kind
                return (run, state.outcome)
            }
        guard let finished else { return }
        end(finished.run, finished.outcome, now: now, date: date)
    }

    private func end(
        _ run: CalibrationRun, _ outcome: CalibrationOutcome<CalibrationRun.Result>, now: Instant,
        date: Double
    ) {
        switch outcome {
        case .collecting: finish(run, .refused, "", now)
        case .refused(let reason):
            store.noteRefusal(of: run.kind, reason)
            finish(run, .refused, reason, now)
        case .done(let result):
            let record = CalibrationRecord(
                kind: run.kind, values: result.values, sigma: result.sigma,
                residual: result.residual, date: date, temperature: run.temperature)
            store.apply(record) { outcome in
                switch outcome {
                case .success:
                    let news = "The \(run.kind.rawValue) is calibrated and saved."
                    let sentence = result.advice.isEmpty ? news : "\(news) \(result.advice)"
                    self.finish(run, .done, sentence, now, residual: result.residual)
                case .failure(let error):
                    self.finish(run, .refused, error.message, now, residual: result.residual)
                }
            }
        }
    }

    private func finish(
        _ run: CalibrationRun, _ ending: CalibrationReport.State, _ sentence: String,
        _ now: Instant, residual: Double = .nan
    ) {
        store.setCalibrating(false)
        state.withLock { state in
            state.saving = nil
            state.report.state = ending.rawValue
            state.report.sentence = sentence
            state.report.residual = Number(residual)
            if case .done = ending { state.report.progress = 1 }
            if case .refused = ending, state.owner?.link == .airos { state.failed = now }
        }
    }

    /// Ends the present one without a result.
    func cancel() -> CalibrationReport {
        cancel { _ in true }
        return status()
    }

    /// A connection has ended: what it began ends as well, so that the outputs are not kept off by nobody.
    func disconnected(_ owner: CommandSource) { cancel { $0.owner == owner } }

    private func cancel(where isMeant: (State) -> Bool) {
        let wasRunning = state.withLock { state in
            guard state.run != nil, isMeant(state) else { return false }
            state.run = nil
            state.report.state = CalibrationReport.State.cancelled.rawValue
            state.report.sentence = "Cancelled. Nothing has changed."
            return true
        }
        if wasRunning { store.setCalibrating(false) }
    }

    /// Returns to the calibration before.
    ///
    /// - Parameters:
    ///   - kind: Which; nil takes the one that was changed last.
    ///   - done: Hears of what is in force now; or that there is nothing to undo, or that it cannot be saved.
    func undo(_ kind: CalibrationKind?, _ done: @escaping Later<CalibrationReport>) {
        guard !progress.isRunning else {
            return done(
                .failure(
                    Refusal(
                        .refused, "A calibration is running: airframectl calibrate cancel")))
        }
        store.undo(kind) { result in
            done(
                result.map { undone in
                    var report = self.status()
                    let remains = report.saved.contains { $0.what == undone.rawValue }
                    report.sentence =
                        "The \(undone.rawValue) is "
                        + (remains ? "as it was calibrated before." : "not calibrated any more.")
                    return report
                })
        }
    }
}
