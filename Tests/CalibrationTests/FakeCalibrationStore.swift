import Calibration
import GimbalCore
import Links
import Policy
import Port
import Synchronization
import Wire

@testable import Daemon

/// Calibration store for tests: keeps results in memory, and can refuse to save.
final class FakeCalibrationStore: CalibrationStore {
    struct State {
        var book = ActiveCalibrations()
        var isCalibrating = false
        var refusal: Refusal?
    }

    let state = Mutex(State())
    /// Called once, before the next start or end of a calibration takes effect.
    let hook = Mutex<(@Sendable () -> Void)?>(nil)

    var calibrations: ActiveCalibrations { state.withLock { $0.book } }
    var isCalibrating: Bool { state.withLock { $0.isCalibrating } }
    let configuredCorrection: SensorCorrection
    let largestGyroOffset: Double

    init(largestGyroOffset: Double = 5 * .pi / 180, mounting: Quaternion = .identity) {
        self.largestGyroOffset = largestGyroOffset
        var correction = SensorCorrection()
        correction.mounting = mounting
        configuredCorrection = correction
    }

    var correction: SensorCorrection {
        calibrations.correction(configured: configuredCorrection, now: 0)
    }
    func noteRefusal(of kind: CalibrationKind, _ reason: String) {}
    func setCalibrating(_ isCalibrating: Bool) {
        let call = hook.withLock { hook in
            defer { hook = nil }
            return hook
        }
        call?()
        state.withLock { $0.isCalibrating = isCalibrating }
    }
    func apply(_ record: CalibrationRecord, by who: String, _ done: @escaping Later<Void>) {
        if let refusal = state.withLock({ $0.refusal }) { return done(.failure(refusal)) }
        state.withLock { $0.book.apply(record) }
        done(.success(()))
    }
    func undo(_ kind: CalibrationKind?, by who: String, _ done: @escaping Later<CalibrationKind>) {
        let undone = state.withLock { $0.book.undo(kind) }
        done(undone.map { .success($0) } ?? .failure(Refusal(.refused, "nothing to undo")))
    }
}
