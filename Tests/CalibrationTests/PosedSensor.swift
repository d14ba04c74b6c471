import Calibration
import Foundation
import GimbalCore
import Simulation

/// A simulated BMI088 in any mounting, which is placed in one pose after another.
struct PosedSensor {
    static let period = 0.001
    static let gravity = 9.80665

    var imu: IMUModel
    /// Rotation from the sensor frame to the camera frame.
    var mounting: Quaternion
    private var random: RandomSource
    private var time = 0.0

    init(
        seed: UInt64, mounting: Quaternion = .identity,
        errors: (inout IMUModel.Parameters) -> Void = { _ in }
    ) {
        var parameters = IMUModel.Parameters()
        parameters.clockError = 0
        errors(&parameters)
        imu = IMUModel(parameters: parameters, feedRate: 4000, seed: seed)
        self.mounting = mounting
        random = RandomSource(seed: seed, stream: 77)
    }

    /// Generates samples of a camera in a fixed attitude.
    ///
    /// - Parameters:
    ///   - attitude: Rotation from the camera frame to the earth frame.
    ///   - seconds: Duration, s.
    ///   - rate: Rate that the gyroscope measures, in the camera frame, rad/s. The attitude stays
    ///     the same.
    ///   - deliver: Receives each sample.
    mutating func samples(
        _ attitude: Quaternion, seconds: Double, rate: Vector3 = .zero,
        deliver: (_ gyro: Vector3, _ accel: Vector3) -> Void
    ) {
        let force = mounting.inverseRotate(
            attitude.inverseRotate(Vector3(0, 0, -Self.gravity)))
        let turn = mounting.inverseRotate(rate)
        for _ in 0..<Int(seconds / Self.period + 0.5) {
            for _ in 0..<4 { imu.feed(rate: turn, specificForce: force) }
            time += Self.period
            let sample = imu.sample(time: Instant(nanoseconds: Int64(time * 1e9)))
            deliver(sample.gyro, sample.accel)
        }
    }

    /// Generates samples of a camera that a hand turns from one attitude to another. The hand
    /// trembles; the camera's position is fixed.
    ///
    /// - Parameters:
    ///   - start: First attitude: rotation from the camera frame to the earth frame.
    ///   - turn: Rotation vector, camera frame, rad.
    ///   - seconds: Duration, s.
    ///   - deliver: Receives each sample.
    /// - Returns: The attitude at the end.
    mutating func turn(
        _ start: Quaternion, by turn: Vector3, seconds: Double,
        deliver: (_ gyro: Vector3, _ accel: Vector3) -> Void
    ) -> Quaternion {
        var attitude = start
        let tremble = Vector3(random.gaussian(), random.gaussian(), random.gaussian()) * 0.3
        let count = Int(seconds / Self.period + 0.5)
        let step = Self.period / 4
        for sample in 0..<count {
            for part in 0..<4 {
                let time = (Double(sample) + (Double(part) + 0.5) / 4) / Double(count)
                // Smooth start and end; the tremor of 5 Hz ends with the turn.
                let rate =
                    turn * (6 * time * (1 - time) / seconds)
                    + tremble * (sin(time * seconds * 10 * .pi) * sin(time * .pi))
                attitude = (attitude * Quaternion(rotationVector: rate * step)).normalized
                let force = attitude.inverseRotate(Vector3(0, 0, -Self.gravity))
                imu.feed(
                    rate: mounting.inverseRotate(rate), specificForce: mounting.inverseRotate(force)
                )
            }
            self.time += Self.period
            let result = imu.sample(time: Instant(nanoseconds: Int64(self.time * 1e9)))
            deliver(result.gyro, result.accel)
        }
        return attitude
    }

    /// Attitude of the camera on one of its faces, with the random error of a person's hand.
    mutating func attitude(_ face: CameraFace, sloppiness: Double) -> Quaternion {
        let exact =
            switch face {
            case .bottom: Quaternion.identity
            case .top: Quaternion.aboutX(.pi)
            case .back: Quaternion.aboutY(.pi / 2)
            case .front: Quaternion.aboutY(-.pi / 2)
            case .right: Quaternion.aboutX(.pi / 2)
            case .left: Quaternion.aboutX(-.pi / 2)
            }
        let slip = Vector3(random.gaussian(), random.gaussian(), random.gaussian())
        return exact * Quaternion(rotationVector: slip * sloppiness)
    }
}
