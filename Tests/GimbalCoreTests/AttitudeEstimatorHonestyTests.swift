import CMathShim
import GimbalCore
import Testing

@Suite("Attitude estimator: bias and uncertainty")
struct AttitudeEstimatorHonestyTests {
    @Test(
        "a slow smooth pan after a rest is not learned as bias",
        arguments: [0.5, 1.0, 2.0, 5.0])
    func slowPan(degreesPerSecond: Double) {
        var motion = SimulatedMotion()
        motion.hertz = 50
        motion.bias = Vector3(0.2, -0.3, 0.4) * degree
        motion.gyroNoise = 2.4e-4
        motion.accelNoise = 2e-3
        motion.rate = { t in
            let ramp = min(max(t - 4, 0), 1)
            return t < 124 ? Vector3(0, 0, degreesPerSecond * degree * ramp) : .zero
        }
        var estimator = AttitudeEstimator(parameters: .undelayed)
        motion.run(&estimator, seconds: 4)
        var worst = 0.0
        for _ in 0..<124 {
            motion.run(&estimator, seconds: 1)
            worst = max(worst, (estimator.bias - motion.bias).norm)
        }
        #expect(worst < 0.05 * degree)
    }

    @Test("a pan from power-on does not count as rest if the caller reports motion")
    func knownPan() {
        var motion = SimulatedMotion()
        motion.hertz = 50
        motion.rate = { _ in Vector3(0, 0, 1 * degree) }
        var estimator = AttitudeEstimator(parameters: .undelayed)
        estimator.restIsPlausible = false
        motion.run(&estimator, seconds: 30)
        #expect(!estimator.isAtRest)
        #expect(estimator.bias.norm < 0.05 * degree)
        #expect(estimator.biasSigma.z > 1 * degree)
        // The motors can start without rest, although the bias about the vertical is not known.
        #expect(estimator.isConverged)
    }

    @Test("errors stay within 3 sigma if motors keep the gyroscope's rate at zero during a walk")
    func nulledGyroscope() {
        let bias = Vector3(0.5, -0.4, 0.6) * degree
        var motion = SimulatedMotion()
        motion.hertz = 200
        motion.acceleration = { t in
            Vector3(2.1 * cm_sin(4 * .pi * t), 1.2 * cm_sin(2 * .pi * t + 1), 0)
        }
        // A perfect controller turns the camera so that the gyroscope always reads the estimated
        // bias.
        var estimator = AttitudeEstimator(parameters: .undelayed)
        for _ in 0..<6000 {
            let nulled = estimator.bias
            motion.rate = { _ in nulled - bias }
            let sample = motion.next()
            estimator.update(gyro: nulled, accel: sample.accel, dt: sample.dt)
            #expect(!estimator.isAtRest)
        }
        let error = estimator.bias - bias
        let sigma = estimator.biasSigma
        #expect(abs(error.z) < 3 * sigma.z)
        #expect(abs(error.x) < 3 * sigma.x && abs(error.y) < 3 * sigma.y)
        #expect(sigma.z > 0.3 * degree)
        #expect(motion.inclinationError(estimator) < 3 * estimator.inclinationSigma / degree)
    }

    @Test("errors agree with the sigmas over 20 random motions")
    func consistency() {
        var tilt = 0.0
        var bias = 0.0
        let runs = 20
        let checks = 4
        for run in 0..<runs {
            var noise = SeededNoise(seed: UInt64(run) + 100)
            var motion = SimulatedMotion()
            motion.noise = SeededNoise(seed: UInt64(run) + 1)
            motion.hertz = 50
            motion.gyroNoise = 5e-4
            motion.accelNoise = 0.02
            motion.bias = noise.vector() * degree
            motion.scale = noise.vector() * 0.005
            let phase = noise.vector() * 3
            motion.rate = { t in
                Vector3(
                    cm_sin(1.1 * t + phase.x), 0.8 * cm_sin(0.9 * t + phase.y),
                    0.6 * cm_sin(0.7 * t + phase.z))
            }
            // A velocity of 0.5 m/s RMS with a correlation time of 0.18 s has the default density,
            // 0.3 m/s·√s.
            var velocity = Vector3.zero
            motion.acceleration = { _ in
                let keep = cm_exp(-0.02 / 0.18)
                let next = velocity * keep + noise.vector() * (0.5 * cm_sqrt(1 - keep * keep))
                defer { velocity = next }
                return (next - velocity) / 0.02
            }
            var estimator = AttitudeEstimator(parameters: .undelayed)
            motion.run(&estimator, seconds: 5)
            for _ in 0..<checks {
                motion.run(&estimator, seconds: 2.5)
                let error = motion.inclinationError(estimator) * degree / estimator.inclinationSigma
                tilt += error * error
                let difference = estimator.bias - motion.bias
                let sigma = estimator.biasSigma
                bias += difference.squaredNorm / sigma.squaredNorm
            }
        }
        let count = Double(runs * checks)
        // The ideal value is 1. The measured values are 0.61 and 0.66, because the filter also
        // allows for misalignment and a random walk of the bias, which this sensor does not have.
        #expect(tilt / count > 0.3 && tilt / count < 1.3)
        #expect(bias / count > 0.3 && bias / count < 1.3)
    }
}
