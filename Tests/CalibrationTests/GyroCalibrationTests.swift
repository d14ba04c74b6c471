import Calibration
import GimbalCore
import Simulation
import Testing

@Suite("Calibration of a gyroscope at rest")
struct GyroCalibrationTests {
    static let degrees = 180 / Double.pi

    /// Feeds a calibration until it ends.
    static func run(
        _ sensor: inout PosedSensor, seconds: Double = 20,
        rate: (Double) -> Vector3 = { _ in .zero }
    ) -> CalibrationOutcome<GyroCalibration.Result> {
        var calibration = GyroCalibration()
        var outcome = CalibrationOutcome<GyroCalibration.Result>.collecting
        var time = 0.0
        while time < seconds, case .collecting = outcome {
            sensor.samples(.identity, seconds: 0.01, rate: rate(time)) { gyro, accel in
                guard case .collecting = outcome else { return }
                outcome = calibration.add(gyro: gyro, accel: accel, dt: PosedSensor.period)
            }
            time += 0.01
        }
        return outcome
    }

    @Test("the offset of a still sensor is right within the stated uncertainty", arguments: 1...10)
    func still(seed: Int) throws {
        var sensor = PosedSensor(seed: UInt64(seed))
        let outcome = Self.run(&sensor, seconds: 5)
        guard case .done(let result) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        let error = (result.bias - sensor.imu.gyroBias).norm * Self.degrees
        #expect(error < 0.03, "\(error) °/s")
        #expect(error < 4 * result.sigma * Self.degrees)
        #expect(result.sigma * Self.degrees < 0.05)
    }

    @Test(
        "motion is refused, and its kind is reported",
        arguments: [
            (name: "shakes", size: 0.1, hertz: 5.0), (name: "turns", size: 0.03, hertz: 0.4),
        ])
    func motion(name: String, size: Double, hertz: Double) {
        var sensor = PosedSensor(seed: 1)
        let outcome = Self.run(&sensor) { time in
            let phase = (time * hertz).truncatingRemainder(dividingBy: 1)
            return Vector3(0, 0, phase < 0.5 ? size : -size)
        }
        guard case .refused(let reason) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(reason.contains(name), "\(reason)")
    }

    @Test("a steady turn that is too fast for an offset is refused")
    func steadyTurn() {
        var sensor = PosedSensor(seed: 1)
        let outcome = Self.run(&sensor) { _ in Vector3(0, 0, 0.2) }
        guard case .refused(let reason) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(reason.contains("at a constant rate"))
    }

    @Test("the calibration waits until the camera is at rest")
    func comesToRest() {
        var sensor = PosedSensor(seed: 2)
        let outcome = Self.run(&sensor) { $0 < 4 ? Vector3(0, 0.3, 0) : .zero }
        guard case .done(let result) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect((result.bias - sensor.imu.gyroBias).norm * Self.degrees < 0.03)
    }

    @Test("a motion is reported while it lasts, but not after the camera has been still")
    func endedMotion() {
        var sensor = PosedSensor(seed: 2)
        var calibration = GyroCalibration()
        sensor.samples(.identity, seconds: 1, rate: Vector3(0, 0.3, 0)) { gyro, accel in
            _ = calibration.add(gyro: gyro, accel: accel, dt: PosedSensor.period)
        }
        #expect(calibration.motion != nil)
        sensor.samples(.identity, seconds: 2, rate: .zero) { gyro, accel in
            _ = calibration.add(gyro: gyro, accel: accel, dt: PosedSensor.period)
        }
        #expect(calibration.progress > 0.4)
        #expect(calibration.motion == nil)
    }

    @Test("a value that is not finite restarts the measurement window")
    func gaps() {
        var calibration = GyroCalibration()
        for _ in 0..<2000 {
            _ = calibration.add(gyro: .zero, accel: Vector3(0, 0, -9.8), dt: 0.001)
        }
        #expect(calibration.progress > 0.6)
        _ = calibration.add(gyro: Vector3(.nan, 0, 0), accel: Vector3(0, 0, -9.8), dt: 0.001)
        #expect(calibration.progress == 0)
    }
}
