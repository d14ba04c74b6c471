package import Calibration
import Configuration
package import GimbalCore
import Logging
import Persistence
package import Port
import Synchronization

/// Interface that applies and saves calibrations: `Tuning`, or a test.
package protocol CalibrationStore: Sendable {
    /// All active calibrations.
    var calibrations: ActiveCalibrations { get }
    /// The configured correction of samples, without calibrations.
    var configuredCorrection: SensorCorrection { get }
    /// Largest offset of the configured gyroscope on each axis if it is healthy, rad/s.
    var largestGyroOffset: Double { get }
    /// Starts or ends a calibration; during a calibration the outputs stay off. The method must not
    /// call the service of the calibrations.
    func setCalibrating(_ isCalibrating: Bool)
    /// Saves a calibration, then applies it. If the calibration cannot be saved, nothing changes.
    /// `who` is the author for the history; `done` receives the result.
    func apply(_ record: CalibrationRecord, by who: String, _ done: @escaping Later<Void>)
    /// Writes the reason for a failed calibration to the log, because a phone does not show
    /// messages.
    func noteRefusal(of kind: CalibrationKind, _ reason: String)
    /// Restores the previous calibration of a kind; nil means the kind of the newest change. `done`
    /// receives the kind of the restored calibration.
    func undo(_ kind: CalibrationKind?, by who: String, _ done: @escaping Later<CalibrationKind>)
}

extension Tuning: CalibrationStore {
    package var calibrations: ActiveCalibrations { state.withLock { $0.calibrations } }

    package var configuredCorrection: SensorCorrection { settings.stabilizerParameters.correction }

    package var largestGyroOffset: Double { settings.largestGyroOffset }

    /// The loop's present correction of samples.
    package var correction: SensorCorrection { state.withLock { $0.correction } }

    package func setCalibrating(_ isCalibrating: Bool) {
        state.withLock { state in
            state.isCalibrating = isCalibrating
            publish(&state)
        }
    }

    package func apply(
        _ record: CalibrationRecord, by who: String, _ done: @escaping Later<Void>
    ) {
        guard record.isPlausible else {
            return done(
                .failure(
                    Refusal(
                        .refused,
                        "the result is outside the range of a healthy sensor; nothing has changed"))
            )
        }
        let kind = record.kind
        use(kind, "calibrated the \(kind.words)", by: who, isNew: true) {
            $0.apply(record)
        } commit: { state in
            // The bias was measured just now; its standard deviation is therefore not increased for
            // age.
            if case .gyro = kind { state.correction.gyroBias.sigma = record.sigma }
        } done: { result in
            if case .success = result { self.log.notice("The \(kind.words) was calibrated.") }
            done(result)
        }
    }

    package func noteRefusal(of kind: CalibrationKind, _ reason: String) {
        log.notice("The \(kind.words) was not calibrated. \(reason)")
    }

    package func undo(
        _ kind: CalibrationKind?, by who: String, _ done: @escaping Later<CalibrationKind>
    ) {
        // The kind of the reverted calibration must be known before the write, because the history
        // entry contains the name of the kind.
        var book = calibrations
        guard let undone = book.undo(kind) else { return done(.failure(Self.nothingToUndo)) }
        use(undone, "reverted the calibration of the \(undone.words)", by: who) { book in
            _ = book.undo(undone)
        } commit: { _ in
        } done: { result in
            if case .success = result {
                self.log.notice("The last calibration of the \(undone.words) was undone.")
            }
            done(result.map { undone })
        }
    }

    private static var nothingToUndo: Refusal {
        Refusal(.refused, "there is no calibration to undo", field: "what")
    }

    /// Saves the correction of one kind, then applies it. The corrections of other kinds are kept,
    /// including values that the estimator has updated. `isNew` is true if the correction was
    /// measured now.
    private func use(
        _ kind: CalibrationKind, _ what: String, by who: String, isNew: Bool = false,
        change: @escaping @Sendable (inout ActiveCalibrations) -> Void,
        commit: @escaping @Sendable (inout State) -> Void, done: @escaping Later<Void>
    ) {
        write(by: who, what) { saved in
            var book = self.stateOwner.calibrations(in: saved).book
            change(&book)
            saved.calibration = book.saved
            saved.calibratedSensors = book.savedSensors
            // The step of the set-up with the name of the kind is done after a calibration with
            // any client, and is not done without a calibration.
            if isNew, kind.isStepOfSetup {
                let step = SavedState.Step(state: "done", sensor: book.sensor)
                saved.setup = (saved.setup ?? [:]).merging([kind.rawValue: step]) { $1 }
            } else if book.record(kind) == nil, saved.setup?[kind.rawValue]?.state == "done" {
                saved.setup?[kind.rawValue] = nil
            }
        } commit: { state, saved in
            let book = self.stateOwner.calibrations(in: saved).book
            state.calibrations = book
            let bias = state.correction.gyroBias
            state.correction =
                state.store.settings.stabilizerParameters(calibrated: book).correction
            if kind != .gyro { state.correction.gyroBias = bias }
            commit(&state)
            self.publish(&state)
        } done: {
            done($0)
        }
    }
}
