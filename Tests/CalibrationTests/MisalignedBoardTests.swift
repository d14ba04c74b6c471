import Calibration
import GimbalCore
import Simulation
import Testing
import Wire

@testable import Daemon

/// Tests of all calibrations together, with a board that is not aligned with the camera.
@Suite("Calibrations of a misaligned board")
struct MisalignedBoardTests {
    typealias Rig = GuidedCalibrationTests.Rig
    static let degrees = 180 / Double.pi

    /// Runs calibrations of a board in the given order, and returns the service's store.
    static func calibrate(
        _ board: Quaternion, _ kinds: [CalibrationKind], seed: UInt64 = 3, tilt: Double = 0
    ) throws -> (Rig, SensorCorrection) {
        var rig = Rig()
        rig.sensor = PosedSensor(seed: seed, mounting: board)
        for kind in kinds {
            _ = try rig.start(kind)
            var state = ""
            switch kind {
            case .mounting:
                for pose in [Quaternion.identity, .aboutY(-1)] {
                    state = rig.lay(pose, seconds: 2).state
                }
            default:
                for face in CameraFace.allCases {
                    let exact = rig.sensor.attitude(face, sloppiness: 0)
                    state = rig.lay(exact * .aboutY(tilt), seconds: 2).state
                }
            }
            #expect(state == "done", "\(kind)")
        }
        return (rig, rig.store.correction)
    }

    /// Error of the horizon after a quick pan of 90° by the gyroscope alone, from a level start,
    /// against the accelerometer, degrees.
    static func errorAfterPan(_ sensor: PosedSensor, _ correction: SensorCorrection) -> Double {
        var sensor = sensor
        var up = Vector3.zero
        sensor.samples(.identity, seconds: 0.5) { _, accel in up += correction.accel.apply(accel) }
        up = correction.mounting.rotate(up / up.norm)
        let bias = sensor.imu.gyroBias
        let rate = Vector3(0, 0, 3)
        var turn = Quaternion.identity
        // The filter of the gyroscope settles.
        sensor.samples(.identity, seconds: 0.1, rate: rate) { _, _ in }
        sensor.samples(.identity, seconds: .pi / 2 / 3, rate: rate) { gyro, _ in
            let step = correction.mounting.rotate(gyro - bias) * PosedSensor.period
            turn = (turn * Quaternion(rotationVector: step)).normalized
        }
        let expected = turn.inverseRotate(up)
        return expected.cross(up).norm * degrees
    }

    static let orders: [[CalibrationKind]] = [
        [.accelerometer], [.mounting, .accelerometer], [.accelerometer, .mounting],
        [.accelerometer, .mounting, .accelerometer],
    ]

    @Test(
        "gyroscope and accelerometer agree after a pan, in every order of the calibrations",
        arguments: orders)
    func pan(order: [CalibrationKind]) throws {
        let board = Quaternion.aboutX(2.4 / Self.degrees) * .aboutY(-2.4 / Self.degrees)
        for seed: UInt64 in 1...4 {
            let (rig, correction) = try Self.calibrate(board, order, seed: seed)
            // The board's tilt of 3.4° would cause an error of 4.8°. The rest is the misalignment
            // of the chip's own axes.
            let error = Self.errorAfterPan(rig.sensor, correction)
            #expect(error < 1.8, "\(error)°")
        }
    }

    /// The calibrations in the order of the set-up.
    static let setUp = SetupStepName.allCases.compactMap(\.calibration).filter { $0 != .gyro }

    @Test(
        "the level pose of the mounting defines the horizon, also of a board at 45°",
        arguments: [0, 45.0], [setUp, setUp + [.mounting]])
    func horizon(degrees: Double, order: [CalibrationKind]) throws {
        let board = Quaternion.aboutX(degrees / Self.degrees) * .aboutZ(degrees / Self.degrees)
        for seed: UInt64 in 1...4 {
            // All poses of the accelerometer are tilted by 1.5°.
            let (rig, correction) = try Self.calibrate(
                board, order, seed: seed, tilt: 1.5 / Self.degrees)
            var sensor = rig.sensor
            for attitude in [
                Quaternion.identity, .aboutY(0.5), .aboutY(-0.5), .aboutX(0.5), .aboutX(-0.5),
            ] {
                let error = AccelerometerCalibrationTests.fullHorizon(
                    &sensor, attitude, correction)
                #expect(error < (attitude == .identity ? 0.05 : 0.3), "\(error)°")
            }
        }
    }
}
