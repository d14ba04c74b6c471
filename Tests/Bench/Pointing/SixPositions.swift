import Calibration
import GimbalCore
import Simulation

/// Calibration of the simulated accelerometer in six positions, with the method of
/// `airframectl calibrate accelerometer`.
enum SixPositions {
    /// Correction that the calibration yields for a sensor; the identity if the calibration fails.
    static func correction(of kind: IMUModel.Parameters, seed: UInt64) -> SensorCorrection {
        var sensor = IMUModel(parameters: kind, feedRate: 4000, seed: seed)
        var calibration = AccelerometerCalibration(mounting: .identity)
        let poses: [Quaternion] = [
            .identity, .aboutX(.pi), .aboutY(.pi / 2), .aboutY(-.pi / 2), .aboutX(.pi / 2),
            .aboutX(-.pi / 2),
        ]
        var time: Int64 = 0
        for pose in poses {
            let force = pose.inverseRotate(Vector3(0, 0, -GimbalPlant.gravity))
            for _ in 0..<3000 {
                for _ in 0..<4 { sensor.feed(rate: .zero, specificForce: force) }
                time += 1_000_000
                let sample = sensor.sample(time: Instant(nanoseconds: time))
                let outcome = calibration.add(gyro: sample.gyro, accel: sample.accel, dt: 1e-3)
                guard case .done(let result) = outcome else { continue }
                var book = ActiveCalibrations()
                book.apply(
                    CalibrationRecord(
                        kind: .accelerometer, values: CalibrationRecord.values(result.correction),
                        sigma: result.offsetSigma, residual: result.residual, date: 0,
                        temperature: nil))
                return book.correction(configured: SensorCorrection(), now: 0)
            }
        }
        return SensorCorrection()
    }
}
