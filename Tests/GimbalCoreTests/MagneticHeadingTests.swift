import CMathShim
import Testing

@testable import GimbalCore

@Suite("Magnetic heading")
struct MagneticHeadingTests {
    /// Magnetic field in central Europe, north and down, µT.
    private let field = Vector3(20, 0, 44)

    private func run(
        _ motion: inout SimulatedMotion, _ estimator: inout AttitudeEstimator, seconds: Double,
        disturbance: Vector3 = .zero
    ) {
        for _ in 0..<Int(seconds * motion.hertz) {
            let sample = motion.next()
            estimator.update(gyro: sample.gyro, accel: sample.accel, dt: sample.dt)
            let measured = motion.attitude.inverseRotate(field + disturbance)
            estimator.update(magneticField: measured, dt: sample.dt)
        }
    }

    @Test("finds north from any heading", arguments: [-170.0, -90, 0, 35, 179])
    func north(degrees: Double) {
        var motion = SimulatedMotion()
        motion.attitude = Quaternion.aboutZ(degrees * degree) * Quaternion.aboutY(0.3)
        var estimator = AttitudeEstimator(parameters: .undelayed)
        run(&motion, &estimator, seconds: 3)
        #expect(estimator.northAttitude.error(to: motion.attitude).norm < 0.1 * degree)
        #expect(estimator.headingSigma < 10 * degree)
        #expect(estimator.magnetic.weight > 0.9)
    }

    @Test("in an earth frame with z up, y is north")
    func northUp() {
        var estimator = AttitudeEstimator(
            parameters: .undelayed, restSpecificForce: Vector3(0, 0, 9.80665))
        let truth = Quaternion.aboutZ(0.7)
        for _ in 0..<600 {
            estimator.update(gyro: .zero, accel: Vector3(0, 0, 9.80665), dt: 0.005)
            estimator.update(
                magneticField: truth.inverseRotate(Vector3(0, 20, -44)), dt: 0.005)
        }
        #expect(estimator.northAttitude.error(to: truth).norm < 0.1 * degree)
    }

    @Test("does not change attitude, bias and inclination")
    func separate() {
        var motion = SimulatedMotion()
        motion.bias = Vector3(0.005, 0, 0.01)
        motion.rate = { t in t > 2 ? Vector3(cm_sin(t), 0.5, 0.3) : .zero }
        var plain = motion
        var with = AttitudeEstimator(parameters: .undelayed)
        var without = with
        run(&motion, &with, seconds: 6, disturbance: Vector3(-15, 30, 20))
        plain.run(&without, seconds: 6)
        #expect(with.attitude == without.attitude)
        #expect(with.bias == without.bias)
        #expect(with.inclinationSigma == without.inclinationSigma)
    }

    @Test("a passing magnet turns the heading by less than 3°")
    func magnet() {
        var motion = SimulatedMotion()
        var estimator = AttitudeEstimator(parameters: .undelayed)
        run(&motion, &estimator, seconds: 20)
        // For 10 s, a disturbance that alone would turn the heading by 45°.
        run(&motion, &estimator, seconds: 10, disturbance: Vector3(0, 20, 10))
        #expect(estimator.magnetic.weight < 0.05)
        #expect(estimator.northAttitude.error(to: motion.attitude).norm < 3 * degree)
    }

    @Test("keeps north when the heading of the attitude is reset")
    func reset() {
        var motion = SimulatedMotion()
        motion.attitude = Quaternion.aboutZ(1)
        var estimator = AttitudeEstimator(parameters: .undelayed)
        run(&motion, &estimator, seconds: 3)
        motion.rate = { _ in Vector3(0, 0, 0.4) }
        run(&motion, &estimator, seconds: 2)
        let before = estimator.northAttitude
        estimator.resetHeading()
        #expect(estimator.attitude.error(to: .identity).norm < 0.1 * degree)
        #expect(estimator.northAttitude.error(to: before).norm < 1e-9)
    }

    @Test(
        "a field that is not finite, zero or implausible is not used",
        arguments: [
            Vector3(.nan, 0, 0), Vector3(0, .infinity, 0), Vector3(1e9, 0, 0), .zero,
            Vector3(0, 0, 44),
        ])
    func badField(field: Vector3) {
        var motion = SimulatedMotion()
        var estimator = AttitudeEstimator(parameters: .undelayed)
        for _ in 0..<100 {
            let sample = motion.next()
            estimator.update(gyro: sample.gyro, accel: sample.accel, dt: sample.dt)
            estimator.update(magneticField: field, dt: sample.dt)
        }
        #expect(estimator.northAttitude.isFinite && estimator.headingSigma.isFinite)
        #expect(estimator.northAttitude.error(to: estimator.attitude).norm < 1e-9)
        #expect(estimator.magnetic.weight == 0)
    }
}
