import Calibration
import GimbalCore
import Simulation
import Testing

@Suite("Calibration of the mounting from two poses")
struct MountingCalibrationTests {
    typealias Outcome = CalibrationOutcome<MountingCalibration.Result>

    static func run(
        _ sensor: inout PosedSensor, accel: SensorCorrection.Affine = .init(),
        second: Quaternion = .aboutY(-1)
    ) -> Outcome {
        var calibration = MountingCalibration(accel: accel)
        var outcome = Outcome.collecting
        for pose in [Quaternion.identity, second] {
            sensor.samples(pose, seconds: 2) { gyro, accel in
                guard case .collecting = outcome else { return }
                outcome = calibration.add(gyro: gyro, accel: accel, dt: PosedSensor.period)
            }
        }
        return outcome
    }

    @Test(
        "the calibration finds any rotation of the sensor within the sensor's errors",
        arguments: 1...12)
    func anyRotation(seed: Int) {
        var random = RandomSource(seed: UInt64(seed), stream: 3)
        let axis = Vector3(random.gaussian(), random.gaussian(), random.gaussian())
        let truth = Quaternion(rotationVector: axis * (3 * random.uniform() / axis.norm))
        var sensor = PosedSensor(seed: UInt64(seed), mounting: truth)
        guard case .done(let result) = Self.run(&sensor) else {
            Issue.record("refused")
            return
        }
        let error = (truth.conjugate * result.mounting).rotationVector.norm * 180 / .pi
        // Accelerometer without calibration: an offset of 10 mg causes 0.6°, and a misaligned axis
        // doubles the error.
        #expect(error < 4, "\(error)°")
        #expect(abs(result.tilt - 1) < 0.06)
    }

    @Test(
        "the result is exact for an exact sensor in any orientation",
        arguments: [
            Quaternion.identity, .aboutX(.pi), .aboutY(.pi), .aboutZ(.pi), .aboutZ(.pi / 2),
            .aboutX(-.pi / 2) * .aboutY(.pi / 2),
        ])
    func exact(truth: Quaternion) {
        var calibration = MountingCalibration(accel: .init())
        var outcome = Outcome.collecting
        for pose in [Quaternion.identity, .aboutY(-0.9)] {
            let force = truth.inverseRotate(pose.inverseRotate(Vector3(0, 0, -9.80665)))
            for _ in 0..<2000 {
                guard case .collecting = outcome else { break }
                outcome = calibration.add(gyro: .zero, accel: force, dt: 0.001)
            }
        }
        guard case .done(let result) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect((truth.conjugate * result.mounting).rotationVector.norm < 1e-9)
    }

    @Test("a second pose that is too near is ignored, and one that is too far is refused")
    func secondPose() {
        var near = PosedSensor(seed: 1)
        guard case .collecting = Self.run(&near, second: .aboutY(-0.2)) else {
            Issue.record("a tilt of 11° was accepted")
            return
        }
        var far = PosedSensor(seed: 1)
        guard case .refused(let reason) = Self.run(&far, second: .aboutY(-2.6)) else {
            Issue.record("a tilt of 150° was accepted")
            return
        }
        #expect(reason.contains("too far"))
    }
}
