import Calibration
import GimbalCore
import Links
import Policy
import Port
import Realtime
import Synchronization
import Wire

/// Service that runs one calibration at a time, on request over the socket or Bluetooth.
///
/// The thread that drains the telemetry calls `feed`; other methods can be called on any ordinary
/// thread. The motors' outputs stay off until the result of the calibration is on the disk. The
/// store is told under the service's lock, so that requests of several links cannot leave the
/// outputs off without a calibration. Callers pass the loop's time and the date as arguments.
final class CalibrationService: Sendable {
    private struct State {
        var run: CalibrationRun?
        var outcome: CalibrationOutcome<CalibrationRun.Result> = .collecting
        var areMotorsOff = false
        /// Kind of the result that is being written to the disk; nil if no result is being written.
        var saving: CalibrationKind?
        var owner: CommandSource?
        /// Author of the calibration, for the history.
        var author = ""
        var began = Instant(nanoseconds: 0)
        /// Time at which a phone's calibration failed; nil if none has failed.
        var failed: Instant?
        var report = CalibrationReport()
    }

    /// Longest duration of a calibration, s. After the longest duration the calibration is
    /// cancelled. The outputs can then be switched on again.
    static let longestSeconds = 600.0

    private let store: any CalibrationStore
    private let state = Mutex(State())

    /// Creates a service.
    ///
    /// - Parameter store: Store that receives the results.
    init(store: any CalibrationStore) { self.store = store }

    /// Starts a calibration, and ramps the motors' outputs down before the first sample is used.
    ///
    /// - Parameters:
    ///   - kind: Kind of the calibration.
    ///   - owner: The requesting connection; the calibration ends when this connection ends.
    ///   - who: Author of the calibration, for the history.
    ///   - now: Current time on the loop's clock.
    /// - Returns: State of the started calibration.
    /// - Throws: `Refusal` if another calibration is running, or if the kind needs a calibration of
    ///   the accelerometer and there is none.
    func start(
        _ kind: CalibrationKind, owner: CommandSource, by who: String, now: Instant
    ) throws(Refusal) -> CalibrationReport {
        let (book, configured) = (store.calibrations, store.configuredCorrection)
        let offset = store.largestGyroOffset
        if kind == .gyroMatrix, book.record(.accelerometer) == nil {
            throw Refusal(
                .refused,
                "The accelerometer is not calibrated; run `airframectl calibrate accelerometer` first."
            )
        }
        let running: CalibrationKind? = state.withLock { state in
            if let kind = state.run?.kind ?? state.saving { return kind }
            state = State()
            state.run = CalibrationRun(
                kind, book, configured: configured, largestGyroOffset: offset)
            state.owner = owner
            state.author = who
            state.began = now
            state.report.what = kind.rawValue
            state.report.state = CalibrationReport.State.waiting.rawValue
            state.report.residualUnit = kind.unit
            store.setCalibrating(true)
            return nil
        }
        if let running {
            throw Refusal(
                .busy,
                "A calibration of the \(running.words) is running; `airframectl calibrate cancel` ends it."
            )
        }
        return status()
    }

    /// Progress of the running calibration, and all calibrations in use.
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

    /// State of the calibration for phones: whether it is running, and the time at which a phone's
    /// calibration failed.
    var progress: CalibrationState {
        state.withLock { state in
            var progress = CalibrationState()
            progress.isRunning = state.run != nil || state.saving != nil
            progress.failed = state.failed
            return progress
        }
    }

    /// Passes the newest sample of a tick to the running calibration. Without a running
    /// calibration, the call returns immediately.
    func feed(_ snapshot: StabilizerSnapshot) {
        state.withLock { state in
            guard state.run != nil, case .collecting = state.outcome else { return }
            guard state.areMotorsOff || isReady(snapshot) else { return }
            state.areMotorsOff = true
            state.report.state = CalibrationReport.State.collecting.rawValue
            // A second reference to the run would copy its samples.
            state.outcome = state.run?.add(snapshot) ?? .collecting
        }
    }

    private func isReady(_ snapshot: StabilizerSnapshot) -> Bool {
        snapshot.conditions.intersects(.calibrating) && !snapshot.output.enabled
    }

    /// Completes a finished calibration: saves the result, and permits the outputs to be switched
    /// on.
    ///
    /// - Parameters:
    ///   - now: Current time on the loop's clock.
    ///   - date: Current date, seconds since 1970.
    func advance(now: Instant, date: Double) {
        let finished: (run: CalibrationRun, outcome: CalibrationOutcome<CalibrationRun.Result>)? =
            state.withLock { state in
                guard let run = state.run else { return nil }
                if case .collecting = state.outcome {
                    guard now.seconds(since: state.began) > Self.longestSeconds else { return nil }
                    state.outcome = .refused("The calibration took too long and was stopped.")
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
        case .collecting: finish(.refused, "", now)
        case .refused(let reason):
            store.noteRefusal(of: run.kind, reason)
            finish(.refused, reason, now)
        case .done(let result):
            let record = CalibrationRecord(
                kind: run.kind, values: result.values, sigma: result.sigma,
                residual: result.residual, date: date, temperature: run.temperature)
            store.apply(record, by: state.withLock { $0.author }) { outcome in
                switch outcome {
                case .success:
                    let news = "The \(run.kind.words) is calibrated, and the result is saved."
                    let sentence = result.advice.isEmpty ? news : "\(news) \(result.advice)"
                    self.finish(.done, sentence, now, residual: result.residual)
                case .failure(let error):
                    self.finish(.refused, error.message, now, residual: result.residual)
                }
            }
        }
    }

    private func finish(
        _ ending: CalibrationReport.State, _ sentence: String, _ now: Instant,
        residual: Double = .nan
    ) {
        state.withLock { state in
            store.setCalibrating(false)
            state.saving = nil
            state.report.state = ending.rawValue
            state.report.sentence = sentence
            state.report.residual = Number(residual)
            if case .done = ending { state.report.progress = 1 }
            if case .refused = ending, state.owner?.link == .airos { state.failed = now }
        }
    }

    /// Cancels the current calibration.
    func cancel() -> CalibrationReport {
        cancel { _ in true }
        return status()
    }

    /// Ends the calibration that a connection has requested, because the connection has ended. If
    /// the calibration continued without its client, the motors' outputs would remain off.
    func disconnected(_ owner: CommandSource) { cancel { $0.owner == owner } }

    /// True while the result of a calibration is being written to the disk. It can then no longer be
    /// cancelled.
    var isSaving: Bool { state.withLock { $0.saving != nil } }

    private func cancel(where isMeant: (State) -> Bool) {
        state.withLock { state in
            guard state.run != nil, isMeant(state) else { return }
            store.setCalibrating(false)
            state.run = nil
            state.report.state = CalibrationReport.State.cancelled.rawValue
            state.report.sentence = "The calibration is cancelled. Nothing has changed."
        }
    }

    /// Restores the calibration that was active before the last change.
    ///
    /// - Parameters:
    ///   - kind: Kind of the calibration; nil restores the calibration that changed most recently.
    ///   - who: Author of the change, for the history.
    ///   - done: Closure that receives the active calibrations, or a refusal if there is nothing to
    ///     undo or the change cannot be saved.
    func undo(_ kind: CalibrationKind?, by who: String, _ done: @escaping Later<CalibrationReport>)
    {
        guard !progress.isRunning else {
            return done(
                .failure(
                    Refusal(
                        .refused,
                        "A calibration is running; `airframectl calibrate cancel` ends it.")))
        }
        store.undo(kind, by: who) { result in
            done(
                result.map { undone in
                    var report = self.status()
                    let remains = report.saved.contains { $0.what == undone.rawValue }
                    report.sentence =
                        remains
                        ? "The calibration of the \(undone.words) is undone; the previous calibration is active again."
                        : "The calibration of the \(undone.words) is removed; there is no earlier calibration of this sensor."
                    return report
                })
        }
    }
}
