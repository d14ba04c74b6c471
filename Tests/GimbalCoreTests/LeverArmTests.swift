import CMathShim
import Testing

@testable import GimbalCore

@Suite("Lever from the pivot to the sensor")
struct LeverArmTests {
    /// Motion at the end of a stick: rest, then a swing by ±50° with an unsteady turn.
    private func swing(hertz: Double, lever: Vector3) -> SimulatedMotion {
        var motion = SimulatedMotion()
        motion.hertz = hertz
        motion.lever = lever
        motion.averagesRate = true
        motion.gyroNoise = 2.4e-4
        motion.accelNoise = 2e-3
        motion.scale = Vector3(0.004, -0.004, 0.004)
        motion.rate = { t in
            guard t > 2 else { return .zero }
            let s = t - 2
            return Vector3(
                0.8 * cm_sin(2 * .pi * 0.37 * s), 5 * cm_sin(2 * .pi * 0.9 * s),
                1.5 * cm_sin(2 * .pi * 0.23 * s))
        }
        return motion
    }

    /// Root mean square of the inclination error during the swing, degrees, and estimated lever, m.
    private func run(
        _ start: SimulatedMotion, leverSigma: Double = AttitudeEstimator.Parameters().leverSigma
    ) -> (error: Double, lever: Vector3) {
        var motion = start
        var parameters = AttitudeEstimator.Parameters.unknownSensor
        parameters.leverSigma = leverSigma
        var estimator = AttitudeEstimator(parameters: parameters)
        motion.run(&estimator, seconds: 2)
        var squares = 0.0
        for _ in 0..<Int(40 * motion.hertz) {
            let sample = motion.next()
            estimator.update(gyro: sample.gyro, accel: sample.accel, dt: sample.dt)
            let error = motion.inclinationError(estimator)
            squares += error * error
        }
        return ((squares / (40 * motion.hertz)).squareRoot(), estimator.lever)
    }

    @Test(
        "the lever is found on a swung stick, and makes the inclination more accurate, at any sample rate",
        arguments: [48.0, 100, 200, 286])
    func stick(hertz: Double) {
        let motion = swing(hertz: hertz, lever: Vector3(0.9, 0, 0.2))
        let with = run(motion)
        let without = run(motion, leverSigma: 0)
        #expect((with.lever - motion.lever).norm < 0.25, "\(with.lever)")
        #expect(with.error < 0.6 && with.error < 0.8 * without.error, "\(with) \(without)")
    }

    @Test("the inclination stays accurate for a sensor without a lever")
    func none() {
        let motion = swing(hertz: 100, lever: .zero)
        #expect(run(motion).error < run(motion, leverSigma: 0).error + 0.03)
    }

    @Test("the lever stays unknown without rotation, and its variance stays at the prior")
    func bounds() {
        var parameters = AttitudeEstimator.Parameters()
        var lever = LeverArm(sigma: parameters.leverSigma)
        for k in 0..<10_000 {
            lever.step(duration: 0.02, parameters: parameters)
            lever.correct(.zero, velocity: 10, noise: 0.1)
            if k % 50 == 0 { #expect(lever.arm == .zero) }
        }
        #expect(abs(lever.velocity(Vector3(1, 0, 0)).variance - 0.16) < 1e-6)
        parameters.leverSigma = 0
        var none = LeverArm(sigma: 0)
        none.step(duration: 0.02, parameters: parameters)
        none.correct(Vector3(5, 0, 0), velocity: 10, noise: 0.1)
        #expect(none.arm == .zero)
    }

    @Test("if the estimation is switched off while the sensor swings, the lever is zero at once")
    func switchedOff() {
        var motion = swing(hertz: 100, lever: Vector3(0.9, 0, 0.2))
        var estimator = AttitudeEstimator(parameters: .unknownSensor)
        motion.run(&estimator, seconds: 22)
        #expect(estimator.lever.norm > 0.1, "\(estimator.lever)")
        estimator.parameters.leverSigma = 0
        for _ in 0..<200 {
            motion.run(&estimator, seconds: estimator.parameters.filterPeriod)
            #expect(estimator.lever == .zero)
        }
    }
}
