import CMathShim
import GimbalCore
import Testing

@Suite("Attitude estimator: bad input")
struct AttitudeEstimatorInputTests {
    static let bad: [(Vector3, Vector3, Double)] = [
        (Vector3(.nan, 0, 0), Vector3(0, 0, -9.8), 0.005),
        (Vector3(0, .infinity, 0), Vector3(0, 0, -9.8), 0.005),
        (.zero, Vector3(0, .nan, -9.8), 0.005),
        (.zero, Vector3(-.infinity, 0, 0), 0.005),
        (.zero, Vector3(0, 0, -9.8), 0),
        (.zero, Vector3(0, 0, -9.8), -1),
        (.zero, Vector3(0, 0, -9.8), .nan),
        (.zero, Vector3(0, 0, -9.8), .infinity),
        (Vector3(1e300, 0, 0), Vector3(0, 0, -9.8), 0.005),
        (.zero, Vector3(0, 1e200, 0), 0.005),
        (Vector3(1e9, 1e9, 1e9), Vector3(1e9, 1e9, 1e9), 1e300),
        (.zero, .zero, 1e5),
    ]

    @Test(
        "a bad sample never makes the state non-finite, and the estimate recovers",
        arguments: bad.indices)
    func survives(index: Int) {
        let (gyro, accel, dt) = Self.bad[index]
        var motion = SimulatedMotion()
        motion.bias = Vector3(0.01, 0.01, 0)
        var estimator = AttitudeEstimator(parameters: .undelayed)
        // The bad sample comes first, then later several times in a row.
        estimator.update(gyro: gyro, accel: accel, dt: dt)
        expectFinite(estimator)
        motion.run(&estimator, seconds: 3)
        for _ in 0..<5 { estimator.update(gyro: gyro, accel: accel, dt: dt) }
        expectFinite(estimator)
        motion.run(&estimator, seconds: 4)
        expectFinite(estimator)
        #expect(motion.inclinationError(estimator) < 0.5)
        #expect((estimator.bias - motion.bias).norm < 0.05 * degree)
        #expect(estimator.rejectedSamples > 0 || dt == 1e5)
    }

    @Test("a few lost samples are bridged")
    func shortGap() {
        var motion = SimulatedMotion()
        motion.rate = { t in Vector3(0.5, 0, 0.5) * min(max(t - 2, 0), 1) }
        var estimator = AttitudeEstimator(parameters: .undelayed)
        motion.run(&estimator, seconds: 3)
        for _ in 0..<10 {
            let lost = motion.next()
            estimator.update(gyro: Vector3(.nan, 0, 0), accel: lost.accel, dt: lost.dt)
        }
        #expect(estimator.rejectedSamples == 10)
        motion.run(&estimator, seconds: 0.05)
        #expect(estimator.attitude.error(to: motion.attitude).norm < 0.05 * degree)
    }

    @Test(
        "after a long gap the vertical comes from the accelerometer, and the bias does not change")
    func longGap() {
        var motion = SimulatedMotion()
        motion.bias = Vector3(0.01, 0, 0)
        var estimator = AttitudeEstimator(parameters: .undelayed)
        motion.run(&estimator, seconds: 3)
        let bias = estimator.bias
        motion.attitude = Quaternion.aboutX(0.7)
        let sample = motion.next()
        estimator.update(gyro: sample.gyro, accel: sample.accel, dt: 5)
        #expect(motion.inclinationError(estimator) < 0.1)
        #expect(estimator.bias == bias)
        #expect(!estimator.isConverged)
    }

    @Test(
        "at a start in motion, a sample after a gap is not the mean of the gap",
        arguments: [0.5, 2])
    func gapAtStart(gap: Double) {
        var estimator = AttitudeEstimator(parameters: .undelayed)
        let up = Vector3(0, 0, -9.80665)
        // A runner's hand: the specific force varies between free fall and twice gravity.
        for tick in 0..<50 {
            estimator.update(gyro: .zero, accel: up * (tick % 2 == 0 ? 2 : 0), dt: 0.005)
        }
        // Between two steps, the specific force is inverted.
        estimator.update(gyro: .zero, accel: up * -1.5, dt: gap)
        #expect(!estimator.isConverged)
        for tick in 0..<100 {
            estimator.update(gyro: .zero, accel: up * (tick % 2 == 0 ? 2 : 0), dt: 0.005)
        }
        let down = Vector3(0, 0, 1)
        #expect(estimator.attitude.rotate(down).dot(down) > 0.99)
    }

    @Test(
        "a saturated gyroscope increases the inclination's sigma, and the estimate recovers within 3 s"
    )
    func saturation() {
        var motion = SimulatedMotion()
        motion.rate = { t in t > 3 && t < 3.1 ? Vector3(42, 0, 0) : .zero }
        var estimator = AttitudeEstimator(parameters: .undelayed)
        motion.run(&estimator, seconds: 3)
        let sigma = estimator.inclinationSigma
        let limit = estimator.parameters.gyroRange
        for _ in 0..<20 {
            let sample = motion.next()
            let clipped = min(max(sample.gyro.x, -limit), limit)
            estimator.update(
                gyro: Vector3(clipped, 0, 0), accel: sample.accel, dt: sample.dt)
        }
        #expect(estimator.isSaturated || estimator.inclinationSigma > 10 * sigma)
        // The sigma covers the error that the clipped samples have caused.
        #expect(motion.inclinationError(estimator) * degree < 3 * estimator.inclinationSigma)
        motion.run(&estimator, seconds: 3)
        #expect(!estimator.isSaturated)
        #expect(motion.inclinationError(estimator) < 2)
    }

    private func expectFinite(_ estimator: AttitudeEstimator) {
        #expect(estimator.attitude.isFinite)
        #expect(estimator.bias.isFinite && estimator.scale.isFinite && estimator.rate.isFinite)
        #expect(estimator.biasSigma.isFinite)
        #expect(estimator.inclinationSigma.isFinite && estimator.innovation.isFinite)
        #expect(abs(estimator.attitude.norm - 1) < 1e-9)
    }
}
