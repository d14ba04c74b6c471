import CMathShim
import Testing

@testable import GimbalCore

/// Comparison of the estimated covariance with the true errors. Many random runs of the process
/// that the parameters describe are compared with intervals of the chi-square distribution.
@Suite("Attitude estimator: NEES and NIS")
struct AttitudeEstimatorConsistencyTests {
    /// Normalised squared errors at the end of one run. `tilt` and `bias` have a chi-square
    /// distribution with 2 and 3 degrees of freedom; the expected value of `innovation` is 1.
    private struct Squares {
        var tilt = 0.0
        var bias = 0.0
        var innovation = 0.0
    }

    /// Simulates a sensor on a tumbling body; for a share of 1, both have the assumed noise.
    ///
    /// - Parameters:
    ///   - seed: Seed of all random numbers.
    ///   - share: Ratio of the noise of gyroscope and bias to the noise in the parameters.
    ///   - memory: Time constant of the filter's high-pass on the velocity, s.
    /// - Returns: Normalised squared errors at the end of the run.
    private func run(seed: UInt64, share: Double, memory: Double) -> Squares {
        var parameters = AttitudeEstimator.Parameters.undelayed
        parameters.velocityMemory = memory
        // The velocity of the process is white noise; at 50 Hz its standard deviation is 2.1 m/s.
        let hertz = 1 / parameters.filterPeriod
        // Five sigma are less than the rotation of the specific force that counts as motion.
        parameters.initialInclinationSigma = 1 * degree
        var draw = SeededNoise(seed: seed &+ 7000)
        for _ in 0..<20 { _ = draw.uniform() }
        var motion = SimulatedMotion()
        motion.noise = SeededNoise(seed: seed &+ 1)
        motion.hertz = hertz
        motion.gyroNoise = parameters.gyroNoiseDensity * share
        motion.accelNoise = parameters.accelNoiseDensity
        motion.bias = draw.vector() * parameters.initialBiasSigma
        motion.scale = draw.vector() * parameters.initialScaleSigma
        let phase = draw.vector() * 3
        motion.rate = { t in
            Vector3(
                cm_sin(1.1 * t + phase.x), 0.8 * cm_sin(0.9 * t + phase.y),
                0.6 * cm_sin(0.7 * t + phase.z))
        }
        var velocity = Vector3.zero
        let sigma = parameters.velocityNoiseDensity * cm_sqrt(hertz)
        let firstPull = 9.80665 * parameters.initialInclinationSigma / hertz
        motion.acceleration = { t in
            // The first sample gives an inclination with the assumed error; 0.1 s of rest confirms
            // it.
            if t > 1.5 / hertz, t < 7.5 / hertz { return .zero }
            let size = t < 1.5 / hertz ? firstPull : sigma
            let next = Vector3(draw.normal(), draw.normal(), 0) * size
            defer { velocity = next }
            return (next - velocity) * hertz
        }
        var estimator = AttitudeEstimator(parameters: parameters)
        estimator.restIsPlausible = false
        var walk = SeededNoise(seed: seed &+ 90_000)
        var squares = Squares()
        let samples = Int(40 * hertz)
        for index in 0..<samples {
            let sample = motion.next()
            let turning = motion.rate(motion.time).norm * share
            let extra = walk.vector() * (parameters.rotationNoise * turning * cm_sqrt(hertz))
            estimator.update(gyro: sample.gyro + extra, accel: sample.accel, dt: sample.dt)
            let steady = walk.vector() * (parameters.biasWalk * share)
            let turned = walk.vector() * (parameters.biasWalkPerRate * turning)
            motion.bias += (steady + turned) / cm_sqrt(hertz)
            // The innovation is a mean over about 1 s, so values 4 s apart are independent.
            if index >= samples / 2, index % Int(4 * hertz) == 0 {
                squares.innovation += estimator.innovation * estimator.innovation / 5
            }
        }
        squares.tilt = tiltSquare(estimator, motion.attitude)
        squares.bias = biasSquare(estimator, motion.bias)
        return squares
    }

    /// Squared error of the vertical's direction, normalised with its covariance.
    private func tiltSquare(_ estimator: AttitudeEstimator, _ truth: Quaternion) -> Double {
        let error = (estimator.attitude * truth.conjugate).normalized
        let sign = error.w < 0 ? -2.0 : 2.0
        let (x, y) = (error.x * sign, error.y * sign)
        let c = estimator.covariance
        let determinant = c.xx * c.yy - c.xy * c.xy
        return (c.yy * x * x - 2 * c.xy * x * y + c.xx * y * y) / determinant
    }

    /// Squared error of the bias, normalised with its covariance.
    private func biasSquare(_ estimator: AttitudeEstimator, _ truth: Vector3) -> Double {
        let e = estimator.bias - truth
        let c = estimator.covariance.gg.bb
        // Cholesky: the covariance is L · Lᵀ, and y = L⁻¹ · e.
        let xx = cm_sqrt(c.xx)
        let (yx, zx) = (c.xy / xx, c.xz / xx)
        let yy = cm_sqrt(c.yy - yx * yx)
        let zy = (c.yz - yx * zx) / yy
        let zz = cm_sqrt(c.zz - zx * zx - zy * zy)
        let x = e.x / xx
        let y = (e.y - yx * x) / yy
        let z = (e.z - zx * x - zy * y) / zz
        return x * x + y * y + z * z
    }

    private func mean(runs: Int, share: Double = 1, memory: Double = 5) -> Squares {
        var sum = Squares()
        for seed in 0..<runs {
            let one = run(seed: UInt64(seed), share: share, memory: memory)
            sum.tilt += one.tilt / Double(runs)
            sum.bias += one.bias / Double(runs)
            sum.innovation += one.innovation / Double(runs)
        }
        return sum
    }

    @Test(
        "errors of the assumed process match the covariance: NEES within the 99 % chi-square interval"
    )
    func matched() {
        let runs = 100
        // With this time constant, the filter's high-pass on the velocity has no effect. The next
        // test covers the effect of the default time constant.
        let mean = mean(runs: runs, memory: 1000)
        // The measured values are 1.79 and 3.06. The mean of n squares with k degrees of freedom
        // has the variance 2 k / n; the 99 % interval is ±2.58 sigma.
        #expect(abs(mean.tilt - 2) < 2.58 * cm_sqrt(2 * 2 / Double(runs)))
        #expect(abs(mean.bias - 3) < 2.58 * cm_sqrt(2 * 3 / Double(runs)))
    }

    @Test(
        "with the default high-pass on the velocity, the covariance may be too large, but not too small"
    )
    func faded() {
        let runs = 100
        let mean = mean(runs: runs)
        // The filter's high-pass on the velocity removes slow noise, but the covariance still
        // includes this noise. The measured values are 1.47 and 2.58: the sigmas are too large by a
        // sixth and a twelfth. The limits allow sigmas that are up to a half too large, but not too
        // small.
        #expect(mean.tilt < 2 + 2.58 * cm_sqrt(2 * 2 / Double(runs)) && mean.tilt > 2 / 2.25)
        #expect(mean.bias < 3 + 2.58 * cm_sqrt(2 * 3 / Double(runs)) && mean.bias > 3 / 2.25)
    }

    @Test("the velocity's innovation matches its variance: NIS within 5 % of 1")
    func innovations() {
        let mean = mean(runs: 40)
        #expect(abs(mean.innovation - 1) < 0.05)
    }

    @Test("with a third of the assumed sensor noise the sigmas are at most twice too large")
    func conservative() {
        let mean = mean(runs: 40, share: 1 / 3.0)
        #expect(mean.tilt < 2 && mean.tilt > 2 / 4.0)
        #expect(mean.bias < 3 && mean.bias > 3 / 4.0)
    }

    @Test("with three times the assumed sensor noise the NEES is above its 99 % interval")
    func overconfident() {
        let runs = 40
        let mean = mean(runs: runs, share: 3)
        // The measured values are 4.8 and 12.3.
        #expect(mean.tilt > 2 + 2.58 * cm_sqrt(2 * 2 / Double(runs)))
        #expect(mean.bias > 3 + 2.58 * cm_sqrt(2 * 3 / Double(runs)))
    }
}
