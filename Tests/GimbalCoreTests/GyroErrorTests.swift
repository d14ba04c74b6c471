import CMathShim
import Testing

@testable import GimbalCore

/// Tests with a gyroscope whose axes are not aligned with the camera's axes.
@Suite("Cross-axis errors of the gyroscope")
struct GyroErrorTests {
    /// Motion of a walking person with a level sensor whose axes are misaligned by 0.4°. Every 10 s
    /// the person turns by 180° within 2 s.
    private func walker(hertz: Double = 200) -> SimulatedMotion {
        var motion = SimulatedMotion()
        motion.hertz = hertz
        motion.gyroNoise = 2.5e-4
        motion.accelNoise = 2e-3
        motion.crossNext = Vector3(0.003, 0.007, -0.004)
        motion.crossAfter = Vector3(-0.006, 0.002, 0.003)
        motion.rate = { time in
            let phase = time.truncatingRemainder(dividingBy: 10) - 8
            guard phase > 0 else { return .zero }
            return Vector3(0, 0, 0.5 * .pi * (1 - cm_cos(.pi * phase)))
        }
        motion.acceleration = { time in
            Vector3(cm_sin(11 * time), 0.7 * cm_sin(5.5 * time + 1), 1.5 * cm_sin(11 * time + 2))
        }
        return motion
    }

    /// Largest error of the vertical in each interval of 10 s, degrees, and the estimator.
    private func errors(
        sigma: Double, turns: Int = 5
    ) -> (largest: [Double], estimator: AttitudeEstimator) {
        var parameters = AttitudeEstimator.Parameters.undelayed
        parameters.initialCrossSigma = sigma
        var estimator = AttitudeEstimator(parameters: parameters)
        var motion = walker()
        let largest = (0..<turns).map { _ in
            var largest = 0.0
            for _ in 0..<Int(10 * motion.hertz) {
                motion.run(&estimator, seconds: 1 / motion.hertz)
                largest = max(largest, motion.inclinationError(estimator))
            }
            return largest
        }
        return (largest, estimator)
    }

    @Test(
        "the estimator learns cross-axis errors from turns, so later turns tilt the estimate less"
    )
    func learned() {
        let (with, estimator) = errors(sigma: 0.0035)
        let (without, blind) = errors(sigma: 0)
        #expect(without.dropFirst().allSatisfy { $0 > 0.4 }, "\(without)")
        #expect(with.last! < 0.4 * without.last!, "\(with) \(without)")
        // The turns were about z, so they show only the cross-axis errors from rates about z.
        let truth = walker()
        #expect(abs(estimator.crossAfter.x - truth.crossAfter.x) < 0.002)
        #expect(abs(estimator.crossNext.y - truth.crossNext.y) < 0.002)
        #expect(estimator.crossNext.x == 0 || abs(estimator.crossNext.x) < 0.001)
        #expect(blind.crossNext == .zero && blind.crossAfter == .zero)
    }

    @Test("the estimate stays accurate for a sensor without cross-axis errors")
    func square() {
        var motion = walker()
        motion.crossNext = .zero
        motion.crossAfter = .zero
        var parameters = AttitudeEstimator.Parameters.undelayed
        parameters.initialCrossSigma = 0.0035
        var estimator = AttitudeEstimator(parameters: parameters)
        motion.run(&estimator, seconds: 60)
        #expect(motion.inclinationError(estimator) < 0.15)
        #expect(estimator.crossNext.norm + estimator.crossAfter.norm < 0.004)
    }

    @Test("a new mounting resets the errors that belong to the old axes")
    func turned() {
        var (_, estimator) = errors(sigma: 0.0035, turns: 2)
        #expect(estimator.crossAfter.norm > 0)
        estimator.turnBodyFrame(by: Quaternion(rotationVector: Vector3(0, 0, 1.5)))
        #expect(estimator.crossNext == .zero && estimator.crossAfter == .zero)
        #expect(estimator.scale == .zero)
    }

    @Test(
        "products and outer products with the covariance of 12 errors equal those of a full matrix")
    func blocks() {
        var noise = SeededNoise(seed: 5)
        func draw() -> GyroError {
            GyroError(
                bias: noise.vector(), scale: noise.vector(), next: noise.vector(),
                after: noise.vector())
        }
        var covariance = GyroCovariance(bias: 3, scale: 2, cross: 1)
        let (a, b) = (draw(), draw())
        covariance.subtractOuter(a, times: 0.25)
        let product = covariance * b
        let diagonal = GyroError(
            bias: b.bias * 3, scale: b.scale * 2, next: b.next, after: b.after)
        let difference = product - (diagonal - a * (0.25 * a.dot(b)))
        #expect(difference.dot(difference) < 1e-24)
        let unit = GyroError(
            bias: Vector3(0, 1, 0), scale: .zero, next: .zero, after: .zero)
        let column = covariance.biasColumn(1) - covariance * unit
        #expect(column.dot(column) < 1e-24)
    }
}
