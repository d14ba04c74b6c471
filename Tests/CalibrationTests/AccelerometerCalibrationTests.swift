import GimbalCore
import Simulation
import Testing

@testable import Calibration

@Suite("Six-position calibration of the accelerometer")
struct AccelerometerCalibrationTests {
    typealias Outcome = CalibrationOutcome<AccelerometerCalibration.Result>
    static let degrees = 180 / Double.pi

    static func lay(
        _ sensor: inout PosedSensor, _ attitude: Quaternion, seconds: Double = 2,
        _ calibration: inout AccelerometerCalibration
    ) -> Outcome {
        var outcome = Outcome.collecting
        sensor.samples(attitude, seconds: seconds) { gyro, accel in
            guard case .collecting = outcome else { return }
            outcome = calibration.add(gyro: gyro, accel: accel, dt: PosedSensor.period)
        }
        return outcome
    }

    /// Error of the horizon at an attitude, degrees.
    static func horizon(
        _ sensor: inout PosedSensor, _ attitude: Quaternion, _ correction: SensorCorrection.Affine
    ) -> Double {
        var sum = Vector3.zero
        sensor.samples(attitude, seconds: 0.1) { _, _ in }
        sensor.samples(attitude, seconds: 1) { _, accel in sum += correction.apply(accel) }
        let up = sensor.mounting.rotate(sum / sum.norm)
        let truth = attitude.inverseRotate(Vector3(0, 0, -1))
        return up.cross(truth).norm * degrees
    }

    static func calibrate(_ sensor: inout PosedSensor) -> Outcome {
        var calibration = AccelerometerCalibration(mounting: sensor.mounting)
        var outcome = Outcome.collecting
        for face in CameraFace.allCases {
            // The upright pose must be level, because it defines the horizon.
            let slip = face == .bottom ? 0 : 0.05
            outcome = lay(&sensor, sensor.attitude(face, sloppiness: slip), &calibration)
        }
        return outcome
    }

    @Test(
        "the calibration reduces the horizon error of 40 sensors from a median above 0.6° to at most 0.05°, with five inexact poses"
    )
    func horizons() throws {
        var raw: [Double] = []
        var corrected: [Double] = []
        for seed in 1...40 {
            var sensor = PosedSensor(seed: UInt64(seed))
            guard case .done(let result) = Self.calibrate(&sensor) else {
                Issue.record("seed \(seed) was refused")
                continue
            }
            raw.append(Self.horizon(&sensor, .identity, SensorCorrection.Affine()))
            corrected.append(Self.horizon(&sensor, .identity, result.correction))
            #expect(result.residual < 0.003)
            let error = (result.correction.offset - sensor.imu.accelBias).norm
            #expect(error < 0.02, "offset off by \(error) m/s²")
            #expect(error < 4 * result.offsetSigma * 1.8)
        }
        try #require(corrected.count == 40)
        raw.sort()
        corrected.sort()
        #expect(raw[20] > 0.6)
        #expect(corrected[20] < 0.02)
        #expect(corrected[39] < 0.05)
    }

    @Test("the horizon stays within 0.3° if the camera is tilted afterwards")
    func tilted() throws {
        var worst = 0.0
        for seed in 1...20 {
            var sensor = PosedSensor(seed: UInt64(seed))
            guard case .done(let result) = Self.calibrate(&sensor) else {
                Issue.record("seed \(seed) was refused")
                continue
            }
            for attitude in [
                Quaternion.aboutY(0.5), .aboutY(-0.5), .aboutX(0.5), .aboutX(-0.5),
            ] {
                worst = max(worst, Self.horizon(&sensor, attitude, result.correction))
            }
        }
        #expect(worst < 0.3)
    }

    @Test(
        "a tilted upright pose tilts the horizon, but a tilt of 6° counts as a part of the mounting",
        arguments: [(1.0, true), (3.5, true), (6.0, false)])
    func offLevel(degrees: Double, isTaken: Bool) throws {
        var sensor = PosedSensor(seed: 3)
        var calibration = AccelerometerCalibration(mounting: sensor.mounting)
        var outcome = Outcome.collecting
        for face in CameraFace.allCases {
            let slip = face == .bottom ? degrees / Self.degrees : 0
            let attitude = sensor.attitude(face, sloppiness: 0) * Quaternion.aboutY(slip)
            outcome = Self.lay(&sensor, attitude, &calibration)
        }
        guard case .done(let result) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(result.isLevel == isTaken)
        #expect(abs(result.tilt * Self.degrees - degrees) < 0.6)
        let horizon = Self.horizon(&sensor, .identity, result.correction)
        #expect(isTaken ? abs(horizon - degrees) < 0.1 : horizon < 0.6)
    }

    @Test(
        "with the level pose of the mounting calibration, the horizon error is below 0.3°, level and tilted"
    )
    func withMounting() throws {
        var worst = 0.0
        var levels: [Double] = []
        for seed in 1...40 {
            var sensor = PosedSensor(seed: UInt64(seed))
            guard case .done(let accel) = Self.calibrate(&sensor) else {
                Issue.record("seed \(seed) was refused")
                continue
            }
            let outcome = MountingCalibrationTests.run(&sensor, accel: accel.correction)
            guard case .done(let mounting) = outcome else {
                Issue.record("seed \(seed): \(outcome)")
                continue
            }
            sensor.mounting = .identity
            var correction = SensorCorrection()
            correction.accel = accel.correction
            correction.mounting = mounting.mounting
            for attitude in [
                Quaternion.identity, .aboutY(0.5), .aboutY(-0.5), .aboutX(0.5), .aboutX(-0.5),
            ] {
                let error = Self.fullHorizon(&sensor, attitude, correction)
                if attitude == .identity { levels.append(error) }
                worst = max(worst, error)
            }
        }
        #expect(levels.allSatisfy { $0 < 0.05 })
        #expect(worst < 0.3)
    }

    static func fullHorizon(
        _ sensor: inout PosedSensor, _ attitude: Quaternion, _ correction: SensorCorrection
    ) -> Double {
        var sum = Vector3.zero
        sensor.samples(attitude, seconds: 0.1) { _, _ in }
        sensor.samples(attitude, seconds: 1) { gyro, accel in
            let raw = IMUSample(time: Instant(nanoseconds: 0), gyro: gyro, accel: accel)
            sum += correction.apply(raw).accel
        }
        return (sum / sum.norm).cross(attitude.inverseRotate(Vector3(0, 0, -1))).norm * degrees
    }

    @Test("the fit finds offset, scale and cross-axis terms from exact poses in 26 directions")
    func crossAxis() throws {
        var truth = SensorCorrection.Affine()
        truth.offset = Vector3(0.1, -0.2, 0.15)
        truth.rowX = Vector3(1.01, 0.004, -0.003)
        truth.rowY = Vector3(0.004, 0.995, 0.002)
        truth.rowZ = Vector3(-0.003, 0.002, 1.003)
        let inverse = try #require(Inverse(truth))
        var vectors: [Vector3] = []
        for x in -1...1 {
            for y in -1...1 {
                for z in -1...1 where x != 0 || y != 0 || z != 0 {
                    let direction = Vector3(Double(x), Double(y), Double(z))
                    vectors.append(inverse.raw(direction * (9.80665 / direction.norm)))
                }
            }
        }
        let prior = NormFit.Prior(
            offsetSigma: 0.3, scaleSigma: 0.01, crossSigma: 0.003, lengthSigma: 1e-4)
        let fit = try #require(NormFit(vectors, length: 9.80665, prior: prior))
        #expect((fit.correction.offset - truth.offset).norm < 1e-4)
        #expect((fit.correction.rowX - truth.rowX).norm < 1e-5)
        #expect((fit.correction.rowY - truth.rowY).norm < 1e-5)
        #expect((fit.correction.rowZ - truth.rowZ).norm < 1e-5)
        #expect(fit.residual < 1e-4)
    }

    @Test("the calibration cannot finish while poses are missing, and lists them")
    func missingFaces() {
        var sensor = PosedSensor(seed: 1)
        var calibration = AccelerometerCalibration(mounting: .identity)
        _ = Self.lay(&sensor, sensor.attitude(.bottom, sloppiness: 0), &calibration)
        #expect(calibration.missing.count == 5)
        guard case .refused(let reason) = calibration.finish() else {
            Issue.record("the calibration finished with one face")
            return
        }
        #expect(reason.contains("lens down"))
        #expect(!reason.contains("upright"))
    }

    @Test("a moving pose is not accepted, and a repeated pose counts once")
    func unsteady() {
        var sensor = PosedSensor(seed: 1)
        var calibration = AccelerometerCalibration(mounting: .identity)
        sensor.samples(.identity, seconds: 3, rate: Vector3(0.3, 0, 0)) { gyro, accel in
            _ = calibration.add(gyro: gyro, accel: accel, dt: PosedSensor.period)
        }
        #expect(calibration.poses.isEmpty)
        #expect(calibration.motion != nil)
        for _ in 1...3 { _ = Self.lay(&sensor, .identity, &calibration) }
        #expect(calibration.poses.count == 1)
        #expect(calibration.progress == 1.0 / 6)
    }

    @Test("a sensor with an error too large for a calibration is refused")
    func broken() {
        var calibration = AccelerometerCalibration(mounting: .identity)
        var outcome = Outcome.collecting
        for face in CameraFace.allCases {
            let force = face.up * 9.80665
            let broken = Vector3(force.x * 1.15, force.y, force.z)
            for _ in 0..<2000 {
                guard case .collecting = outcome else { break }
                outcome = calibration.add(gyro: .zero, accel: broken, dt: 0.001)
            }
        }
        guard case .refused = outcome else {
            Issue.record("\(outcome)")
            return
        }
    }

    @Test("the faces of a sensor that is mounted upside down are those of the camera")
    func mounted() {
        var sensor = PosedSensor(seed: 4, mounting: .aboutX(.pi))
        var calibration = AccelerometerCalibration(mounting: sensor.mounting)
        _ = Self.lay(&sensor, .identity, &calibration)
        #expect(!calibration.missing.contains(.bottom))
        #expect(calibration.missing.contains(.top))
    }
}

/// Computes the raw reading that a correction maps to a given value, by Cramer's rule.
struct Inverse {
    private let affine: SensorCorrection.Affine
    private let determinant: Double

    init?(_ affine: SensorCorrection.Affine) {
        self.affine = affine
        determinant = affine.rowX.dot(affine.rowY.cross(affine.rowZ))
        if abs(determinant) < 1e-9 { return nil }
    }

    func raw(_ corrected: Vector3) -> Vector3 {
        let (x, y, z) = (affine.rowX, affine.rowY, affine.rowZ)
        let sum =
            y.cross(z) * corrected.x + z.cross(x) * corrected.y + x.cross(y) * corrected.z
        return sum / determinant + affine.offset
    }
}
