import Calibration
import GimbalCore
import Simulation

/// A simulated BMI088 that is put down in one pose after the other, mounted as one likes.
struct PosedSensor {
    static let period = 0.001
    static let gravity = 9.80665

    var imu: IMUModel
    /// Sensor to camera.
    var mounting: Quaternion
    private var random: RandomSource
    private var time = 0.0

    init(seed: UInt64, mounting: Quaternion = .identity) {
        var parameters = IMUModel.Parameters()
        parameters.clockError = 0
        imu = IMUModel(parameters: parameters, feedRate: 4000, seed: seed)
        self.mounting = mounting
        random = RandomSource(seed: seed, stream: 77)
    }

    /// Samples of a still camera.
    ///
    /// - Parameters:
    ///   - attitude: Camera to earth.
    ///   - seconds: How long.
    ///   - rate: Camera frame, rad/s; as if it turned without getting anywhere.
    ///   - deliver: Takes each sample.
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

    /// The camera on one of its faces, as exactly as a person puts it down.
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
