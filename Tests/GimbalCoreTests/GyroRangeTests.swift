import CMathShim
import Testing

@testable import GimbalCore

@Suite("Range of a gyroscope from clipped samples")
struct GyroRangeTests {
    /// Range that is found after 10 s with a rate about x, rad/s.
    private func found(
        hertz: Double, noise: Double = 0, range: Double = .infinity,
        _ rate: (Double) -> Double
    ) -> Double {
        var watch = GyroRange()
        var random = SeededNoise(seed: 3)
        for k in 0..<Int(10 * hertz) {
            let t = Double(k) / hertz
            let x = min(max(rate(t) + noise * random.normal(), -range), range)
            _ = watch.reached(by: Vector3(x, 0.1 * x, 0), dt: 1 / hertz, known: 0)
        }
        return watch.found
    }

    @Test(
        "the range is found to 1 % from clipped swings, at any sample rate",
        arguments: [100.0, 200, 286, 1000], [0.7, 1.5, 3])
    func cutOff(hertz: Double, swing: Double) {
        let range = found(hertz: hertz, range: 7.4) { 9.5 * cm_sin(2 * .pi * swing * $0) }
        #expect(abs(range - 7.4) < 0.074, "\(range)")
    }

    @Test(
        "turning points of unclipped swings give no range, with and without noise",
        arguments: [48.0, 100, 286, 1000], [0.0, 0.01])
    func turningPoints(hertz: Double, noise: Double) {
        for swing in [0.3, 0.8, 1.7, 3.1, 4.7] {
            let range = found(hertz: hertz, noise: noise) {
                (4 + cm_sin(0.9 * $0)) * cm_sin(2 * .pi * swing * $0)
            }
            #expect(range == .infinity, "\(swing) Hz: \(range)")
        }
    }

    @Test("a sample beyond the found range resets the range")
    func beyond() {
        let range = found(hertz: 200) { t in
            t < 5 ? min(9.5 * cm_sin(6 * t), 7.4) : 9.5 * cm_sin(6 * t)
        }
        #expect(range == .infinity)
    }

    @Test(
        "clipping increases the inclination's sigma about a horizontal axis, not about the vertical axis"
    )
    func certainty() {
        func sigmas(about axis: Vector3) -> (Double, Double) {
            var motion = SimulatedMotion()
            motion.rate = { t in axis * (t > 3 ? 40 * (t - 3) : 0) }
            motion.gyroRange = 7.4
            var estimator = AttitudeEstimator(parameters: .unknownSensor)
            motion.run(&estimator, seconds: 3)
            let before = estimator.inclinationSigma
            motion.run(&estimator, seconds: 0.35)
            return (before, estimator.inclinationSigma)
        }
        let tilting = sigmas(about: Vector3(1, 0, 0))
        let turning = sigmas(about: Vector3(0, 0, 1))
        #expect(tilting.1 > 2 * tilting.0 && tilting.1 > 2 * turning.1, "\(tilting) \(turning)")
    }
}
