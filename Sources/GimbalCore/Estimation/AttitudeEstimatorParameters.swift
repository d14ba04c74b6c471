import CMathShim

extension AttitudeEstimator {
    /// The estimator's assumptions about sensor and motion. All parameters are in physical units;
    /// the estimate therefore does not depend on the sample rate. The defaults suit all sensors;
    /// values from a data sheet can replace the gyroscope's defaults.
    ///
    /// Only the ratios of the noise densities affect the attitude; their absolute values scale the
    /// estimated standard deviations.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Angle random walk of the gyroscope, rad/s/√Hz, 1e-5...1e-2. The default is twice the
        /// data sheet value of a BMI088 (0.014 °/s/√Hz), as a margin for vibration.
        public var gyroNoiseDensity = 0.5e-3
        /// Additional angle random walk during a turn, per rad/s of rate, √s, 0...0.02.
        /// `rotationNoise` covers the misalignment and the residual scale error of a calibrated
        /// MEMS gyroscope until the filter has estimated these errors.
        public var rotationNoise = 1.25e-3
        /// Random walk of the gyroscope bias, rad/s/√s, 1e-7...1e-2. The default is 0.005 °/s/√s.
        /// For comparison: a BMI088 drifts by 0.015 °/s/K while it warms up.
        public var biasWalk = 0.005 * .pi / 180
        /// Additional random walk of the bias during a turn, per rad/s of rate, 1/√s, 0...0.01.
        /// During turns, misalignment and acceleration sensitivity have the same effect as a
        /// changing bias.
        public var biasWalkPerRate = 0.005 * .pi / 180
        /// Gyroscope bias at start-up, body frame, rad/s; zero if the bias was not calibrated.
        public var initialBias = Vector3.zero
        /// Initial standard deviation of the bias, rad/s, 1e-5...0.5. For example, the bias of a
        /// BMI088 is within ±1 °/s. `initialBiasSigma` also limits the bias that can be measured in
        /// an initial rest (see `restGate`).
        public var initialBiasSigma = 1.5 * .pi / 180
        /// Standard deviation of the bias of a gyroscope without a calibration, rad/s, 1e-5...0.5. If
        /// `initialBiasSigma` is smaller, the bias has been calibrated, and a steady rate can
        /// contradict the calibration (see `restOverruleTime`).
        public var uncalibratedBiasSigma = 1.5 * .pi / 180
        /// Initial standard deviation of the gyroscope's relative scale error, 0...0.05. For
        /// example, the scale error of a BMI088 is within ±1 %.
        public var initialScaleSigma = 0.005
        /// Standard deviation of the inclination from the first accelerometer sample, rad,
        /// 0.001...1. If the magnitude of the first specific force differs from gravity, the
        /// relative difference is added in quadrature.
        public var initialInclinationSigma = 10 * Double.pi / 180
        /// Accelerometer noise, m/s²/√Hz, 1e-4...1.
        public var accelNoiseDensity = 0.02
        /// Noise density of the sensor's true horizontal velocity, m/s·√s, 0.01...10: the standard
        /// deviation of the velocity times √(2 · correlation time). The default, 0.33, corresponds
        /// to 0.43 m/s with a correlation time of 0.3 s. The filter uses this density to correct
        /// the tilt: over time, velocity averages to zero, so specific force averages to gravity.
        /// For weaker motion, `MotionLevel` reduces the noise density.
        public var velocityNoiseDensity = 0.33
        /// Correlation time of the velocity while a hand carries the sensor, s, 0.05...2. The
        /// estimator uses the correlation time to convert the observed velocity into a velocity
        /// noise density.
        public var velocityCorrelationTime = 0.3
        /// Smallest velocity noise density that is used while the sensor moves, as a fraction of
        /// `velocityNoiseDensity`, 0.05...1.
        public var calmVelocityShare = 0.3
        /// Time constant of the high-pass on the estimated velocity, s, 0.5...1000. After this
        /// time, a constant velocity, for example that of a walking person, counts as zero.
        public var velocityMemory = 5.0
        /// Prior standard deviation of the lever arm from the centre of rotation to the sensor, on
        /// each axis, m, 0...2. The default is the length of a forearm; 0 disables the estimation
        /// of the lever arm.
        public var leverSigma = 0.4
        /// Time constant with which the lever arm changes, because the hand changes its grip, s,
        /// 1...1000.
        public var leverTime = 15.0
        /// Value of `velocityNoiseDensity` at rest, m/s·√s.
        public var restVelocityNoiseDensity = 0.03
        /// Rest threshold for the RMS deviation of the rate from its mean, rad/s. The rate is first
        /// averaged over `filterPeriod`.
        public var restRateThreshold = 0.5 * .pi / 180
        /// Rest threshold for the RMS deviation of the specific force from its mean, m/s². The
        /// specific force is first averaged over `filterPeriod`. The default is far below the RMS
        /// deviation in the hand of a walking person, 1.5 m/s². The rate alone is not sufficient
        /// evidence of rest, because motors can hold the camera still.
        public var restForceThreshold = 0.2
        /// Time constant of the means and of the RMS deviations that are compared with
        /// `restRateThreshold` and `restForceThreshold`, s, 0.05...5.
        public var restFilterTime = 0.3
        /// Time for which the deviations of rate and specific force must stay below their
        /// thresholds until the sensor counts as resting, s, 0.2...10. The first bias measurement
        /// covers the second half of this time; each further measurement takes half of this time.
        public var restTime = 0.7
        /// Noise density of the sensor's true rate at rest, for example from a trembling hand,
        /// rad/s·√s, 1e-5...0.1. The standard deviation of one bias measurement is this density
        /// divided by the square root of the averaging time.
        public var restRateNoise = 0.03 * .pi / 180
        /// Largest difference between the mean rate and the bias during rest, in standard
        /// deviations, 1...10. The rate of a slow smooth pan is also steady, but differs from a
        /// known bias.
        public var restGate = 3.0
        /// Minimum standard deviation in the comparison with `restGate`, rad/s, 1e-4...0.1. The
        /// minimum is added in quadrature to the standard deviation of the bias.
        public var restGateFloor = 0.05 * .pi / 180
        /// Threshold of the specific force's change, m/s², 0.01...1. If the change is larger, the
        /// handle tilts and is not at rest. The default corresponds to a tilt of half a degree.
        public var restDriftThreshold = 0.085
        /// Rotation of a joint above which the joint counts as moving, rad, 0.0001...0.1. The
        /// threshold must exceed the noise and quantization of the encoders while motors hold a
        /// camera still. The default, 0.1°, is four steps of a 14-bit encoder.
        public var restJointTurn = 0.1 * Double.pi / 180
        /// Relative error of the handle's computed rate (gyroscope minus joints) during a commanded
        /// turn, 0.001...0.1, as a fraction of the turn's rate. The causes of this error are the
        /// gyroscope's scale error and misalignment, which are at most 1 % each for a BMI088.
        public var turnErrorShare = 0.01
        /// Time window in which the direction of gravity is observed to detect a tilt of the handle
        /// or vehicle, s, 1...60. After a tilt, rest is accepted again only after this time without
        /// a tilt.
        public var restProofTime = 3.0
        /// Duration of rest after which a bias counts as well known, s, 0.5...60.
        public var restTrustTime = 3.0
        /// Time after which a steady rate that differs from a known bias replaces the bias, s,
        /// 1...10000. The default is longer than any smooth turn of a camera by a person. If the
        /// bias was measured in a rest shorter than `restTrustTime`, the time is multiplied by the
        /// square of rest duration / `restTrustTime`, but is at least `restTime`. The time is not
        /// multiplied if the rate contradicts the calibration: it differs from `initialBias` by
        /// `restGate` times the sum of `initialBiasSigma` and `restGateFloor`, or more.
        public var restOverruleTime = 180.0
        /// Threshold of the vertical specific force, as a fraction of gravity, 0...0.9. If the
        /// vertical specific force is smaller, the estimate is wrong by 60° or more, or the sensor
        /// was replaced.
        public var gravityShareThreshold = 0.5
        /// Time constant of the low-pass on the vertical specific force, s, 0.2...10.
        public var gravityFilterTime = 1.0
        /// Time below `gravityShareThreshold` after which the estimator restarts, s, 0.2...10.
        public var gravityPatience = 1.0
        /// Time limit for a contradiction between accelerometer and gyroscope, s: measured gravity
        /// changed its direction, but the gyroscope measured no rotation. Within this time, the
        /// accelerometer counts as faulty and is not used. If the contradiction lasts longer, the
        /// estimate counts as wrong.
        public var gravityDoubtPatience = 6.0
        /// Delay of the gyroscope's samples, s, 0...0.02: the group delay of its low-pass filter.
        /// The attitude is extrapolated by `sensorDelay` with the current rate. A delay of 3 ms is
        /// typical of a MEMS sensor with its filter at 100 Hz.
        public var sensorDelay = 0.003
        /// True if a sample is the mean rate since the previous sample, as from a decimating
        /// sensor, and not an instantaneous rate. A mean rate is older than an instantaneous rate
        /// by half the interval between samples.
        public var averagesRate = false
        /// Full scale of the gyroscope, rad/s, 1...100. Zero if unknown; `GyroRange` then
        /// determines the full scale. A reading at full scale is only a lower bound of the rate, so
        /// the inclination's uncertainty grows.
        public var gyroRange = 2000 * Double.pi / 180
        /// Period at which the filter processes the accelerometer and the covariance, s,
        /// 0.001...0.05. The attitude is updated with each sample.
        public var filterPeriod = 0.02
        /// Longest gap without usable samples that is bridged by interpolation, s, 0.01...1. After
        /// a longer gap, the inclination is determined from the accelerometer again.
        public var longestGap = 0.1
        /// Standard deviation of the magnetic field's horizontal direction indoors, without a
        /// disturbance, rad, 0.005...0.5.
        public var magneticHeadingSigma = 3 * Double.pi / 180
        /// Correlation time of the field's direction, for the variation that `magneticHeadingSigma`
        /// describes, s, 0.01...60.
        public var magneticCorrelationTime = 1.0
        /// Time constant of the reference values of the field's horizontal and vertical components,
        /// s, 1...1000.
        public var magneticReferenceTime = 20.0
        /// Largest standard deviation of the inclination in a converged estimate, rad. A standard
        /// deviation of several degrees is sufficient, because the motors start softly and follow
        /// the estimate as it improves.
        public var convergedInclinationSigma = 8 * Double.pi / 180
        /// Largest standard deviation of the bias in a converged estimate, on any axis, rad/s. The
        /// limit on the bias applies only if the sensor may be at rest.
        public var convergedBiasSigma = 0.25 * .pi / 180

        /// Creates the default values.
        @_noLocks @_noAllocation
        public init() {}

        /// Default parameters for the log of an unknown sensor: samples are mean rates, and
        /// `GyroRange` determines the full scale from the data.
        public static var unknownSensor: Self {
            var parameters = Self()
            parameters.sensorDelay = 0
            parameters.averagesRate = true
            parameters.gyroRange = 0
            return parameters
        }
    }
}

extension AttitudeEstimator.Parameters {
    /// Copy of the parameters with scaled noise. An app sends the three ratios as its settings of a
    /// Kalman filter.
    ///
    /// The ratios multiply variances: a `measurement` of 4 doubles `velocityNoiseDensity`. Each
    /// ratio is limited to 0.1...10; a ratio that is not finite or not positive counts as 1.
    ///
    /// - Parameters:
    ///   - angle: Scale factor of the angle's noise variance: of the squares of `gyroNoiseDensity`
    ///     and `rotationNoise`.
    ///   - bias: Scale factor of the variance of the gyroscope bias's random walk.
    ///   - measurement: Scale factor of the variance of the sensor's assumed velocity: of the
    ///     square of `velocityNoiseDensity`.
    /// - Returns: The changed parameters.
    @_noLocks @_noAllocation
    public func scaled(angle: Double, bias: Double, measurement: Double) -> Self {
        let angleFactor = Self.sigmaFactor(angle)
        let biasFactor = Self.sigmaFactor(bias)
        let measurementFactor = Self.sigmaFactor(measurement)
        var result = self
        result.gyroNoiseDensity *= angleFactor
        result.rotationNoise *= angleFactor
        result.biasWalk *= biasFactor
        result.biasWalkPerRate *= biasFactor
        result.velocityNoiseDensity *= measurementFactor
        result.velocityCorrelationTime *= measurementFactor * measurementFactor
        result.restVelocityNoiseDensity *= measurementFactor
        return result
    }

    /// Covariance of a new estimate.
    ///
    /// - Parameters:
    ///   - tilt: Standard deviation of the new estimate's tilt, rad.
    ///   - lengthError: Magnitude of the first specific force minus gravity, as a fraction of
    ///     gravity.
    /// - Returns: Covariance matrix of the new estimate.
    @_noLocks @_noAllocation
    func covariance(tilt: Double, lengthError: Double) -> AttitudeCovariance {
        AttitudeCovariance(
            tilt: min(tilt * tilt + lengthError * lengthError, 1),
            gyro: gyroCovariance(bias: initialBiasSigma * initialBiasSigma), velocity: 1)
    }

    /// Initial covariance of the gyroscope's errors, before the scale errors have been estimated.
    ///
    /// - Parameter bias: Variance of the gyroscope's bias, (rad/s)².
    /// - Returns: The covariance.
    @_noLocks @_noAllocation
    func gyroCovariance(bias: Double) -> GyroCovariance {
        GyroCovariance(bias: bias, scale: initialScaleSigma * initialScaleSigma)
    }

    /// Lower bound of a ratio of variances from an app.
    private static var leastRatio: Double { @_noLocks @_noAllocation get { 0.1 } }
    /// Upper bound of a ratio of variances from an app. Outside the bounds, the estimator would
    /// follow every acceleration, or no drift.
    private static var mostRatio: Double { @_noLocks @_noAllocation get { 10 } }

    @_noLocks @_noAllocation
    private static func sigmaFactor(_ varianceRatio: Double) -> Double {
        guard varianceRatio > 0, varianceRatio.isFinite else { return 1 }
        return cm_sqrt(min(max(varianceRatio, leastRatio), mostRatio))
    }
}
