import Calibration
import Configuration
import GimbalCore
import Logging
import Persistence
import Synchronization
import Wire

extension Tuning: CalibrationDoor {
    var calibrations: CalibrationBook { state.withLock { $0.saved.calibrations } }

    var correction: SensorCorrection { state.withLock { $0.correction } }

    func setCalibrating(_ isCalibrating: Bool) {
        state.withLock { state in
            state.isCalibrating = isCalibrating
            publish(&state)
        }
    }

    func apply(_ record: CalibrationRecord) throws(RequestError) {
        guard record.isPlausible else {
            throw RequestError(
                .refused, "the result is not one of a healthy sensor; nothing has changed")
        }
        let result: Result<Void, RequestError> = state.withLock { state in
            var book = state.saved.calibrations
            book.apply(record)
            return Result { () throws(RequestError) in
                try self.use(
                    book, changed: record.kind, "measured the \(record.kind.rawValue)", &state)
                // Measured a moment ago: nothing has aged.
                if case .gyro = record.kind { state.correction.gyroBias.sigma = record.sigma }
                self.publish(&state)
            }
        }
        try result.get()
        log.notice("The \(record.kind.rawValue) was calibrated.")
    }

    func noteRefusal(of kind: CalibrationKind, _ reason: String) {
        log.notice("The \(kind.rawValue) was not calibrated. \(reason)")
    }

    func undo(_ kind: CalibrationKind?) throws(RequestError) -> CalibrationKind {
        let result: Result<CalibrationKind, RequestError> = state.withLock { state in
            var book = state.saved.calibrations
            guard let undone = book.undo(kind) else {
                return .failure(
                    RequestError(.refused, "there is no calibration to undo", field: "what"))
            }
            return Result { () throws(RequestError) in
                try self.use(
                    book, changed: undone,
                    "took the measurement of the \(undone.rawValue) back", &state)
                self.publish(&state)
                return undone
            }
        }
        let undone = try result.get()
        log.notice("The last calibration of the \(undone.rawValue) was undone.")
        return undone
    }

    /// Saves, then takes the correction of one kind; what the estimator has learned since about the others stays.
    private func use(
        _ book: CalibrationBook, changed: CalibrationKind, _ what: String, _ state: inout State
    ) throws(RequestError) {
        do {
            try state.saved.save(calibrations: book, by: "calibration", what)
        } catch {
            throw RequestError(.refused, "\(error)")
        }
        let bias = state.correction.gyroBias
        state.correction = state.store.settings.stabilizerParameters(calibrated: book).correction
        if changed != .gyro { state.correction.gyroBias = bias }
    }
}
