import CMathShim

@testable import GimbalCore

/// Rigid body with an ideal or noisy IMU. Functions of time give the body's rate and acceleration.
/// The body frame is FRD, the earth frame is NED.
struct SimulatedMotion {
    var hertz = 200.0
    /// True rate, body frame, rad/s.
    var rate: (Double) -> Vector3 = { _ in .zero }
    /// True acceleration, earth frame, m/s².
    var acceleration: (Double) -> Vector3 = { _ in .zero }
    /// Vector from the point that has `acceleration` to the sensor, body frame, m.
    var lever: Vector3 = .zero
    /// True if the gyroscope measures the mean rate since the previous sample.
    var averagesRate = false
    /// Largest rate that an axis measures, rad/s.
    var gyroRange = Double.infinity
    var bias: Vector3 = .zero
    var scale: Vector3 = .zero
    /// Noise density of the gyroscope, rad/s/√Hz.
    var gyroNoise = 0.0
    /// Noise density of the accelerometer, m/s²/√Hz.
    var accelNoise = 0.0
    var attitude: Quaternion = .identity
    var noise = SeededNoise(seed: 1)
    private(set) var time = 0.0

    init() {}

    /// Advances by one sample; the body turns in ten steps.
    mutating func next() -> (gyro: Vector3, accel: Vector3, dt: Double) {
        let dt = 1 / hertz
        var mean = Vector3.zero
        for step in 0..<10 {
            let middle = time + (Double(step) + 0.5) * dt / 10
            attitude = (attitude * Quaternion(rotationVector: rate(middle) * (dt / 10))).normalized
            mean += rate(middle) / 10
        }
        time += dt
        let true_ = averagesRate ? mean : rate(time)
        let scaled = true_.scaled(by: scale)
        let density = cm_sqrt(hertz)
        let gyro = limited(true_ + scaled + bias + noise.vector() * (gyroNoise * density))
        let force =
            attitude.inverseRotate(acceleration(time) - Vector3(0, 0, 9.80665)) + leverForce
        return (gyro, force + noise.vector() * (accelNoise * density), dt)
    }

    /// Specific force from the lever, body frame, m/s².
    private var leverForce: Vector3 {
        let now = rate(time)
        let change = (rate(time + 1e-4) - rate(time - 1e-4)) / 2e-4
        return change.cross(lever) + now.cross(now.cross(lever))
    }

    private func limited(_ v: Vector3) -> Vector3 {
        func limited(_ x: Double) -> Double { min(max(x, -gyroRange), gyroRange) }
        return Vector3(limited(v.x), limited(v.y), limited(v.z))
    }

    /// Feeds samples of `seconds` to the estimator.
    mutating func run(_ estimator: inout AttitudeEstimator, seconds: Double) {
        for _ in 0..<Int(seconds * hertz + 0.5) {
            let sample = next()
            estimator.update(gyro: sample.gyro, accel: sample.accel, dt: sample.dt)
        }
    }

    /// The angle between the estimated and the true vertical, degrees.
    func inclinationError(_ estimator: AttitudeEstimator) -> Double {
        let down = Vector3(0, 0, 1)
        let error = estimator.attitude.inverseRotate(down).cross(attitude.inverseRotate(down)).norm
        return cm_asin(min(1, error)) * 180 / .pi
    }
}

/// Random numbers that are the same in every run.
struct SeededNoise {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    /// Uniform random number in 0..<1.
    mutating func uniform() -> Double {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Double(state >> 11) * 0x1p-53
    }

    /// Gaussian random number with mean 0 and standard deviation 1.
    mutating func normal() -> Double {
        cm_sqrt(-2 * cm_log(uniform() + 1e-18)) * cm_cos(2 * .pi * uniform())
    }

    mutating func vector() -> Vector3 { Vector3(normal(), normal(), normal()) }
}

extension AttitudeEstimator.Parameters {
    /// Default parameters for the simulated sensor, which has no delay.
    static var undelayed: Self {
        var parameters = Self()
        parameters.sensorDelay = 0
        return parameters
    }
}

let degree = Double.pi / 180
