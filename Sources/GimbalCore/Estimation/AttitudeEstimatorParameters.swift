import CMathShim

extension AttitudeEstimator {
    /// The estimator's assumptions about sensor and motion, in physical units only, so that nothing
    /// depends on the sample rate. The defaults are one set for all sensors; values from a data
    /// sheet can replace those of the gyroscope.
    ///
    /// Only the ratios of the noise densities affect the attitude; their absolute values scale the
    /// sigmas.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Angle random walk of the gyroscope, rad/s/√Hz, 1e-5...1e-2. The default is twice the
        /// data sheet value of a BMI088 (0.014 °/s/√Hz) and leaves room for vibration.
        public var gyroNoiseDensity = 0.5e-3
        /// Tilt error that a turn causes, as a fraction of the rate, √s, 0...0.02. This value
        /// covers misalignment and the remaining scale error of a calibrated MEMS gyroscope until
        /// they have been observed.
        public var rotationNoise = 1.25e-3
        /// Random walk of the gyroscope bias, rad/s/√s, 1e-7...1e-2. The default is 0.005 °/s/√s:
        /// the drift of a warming sensor (0.015 °/s/K) is about twice that.
        public var biasWalk = 0.005 * .pi / 180
        /// Additional walk of the apparent bias per rad/s of rate, 1/√s, 0...0.01: during turns,
        /// misalignment and sensitivity to acceleration look like bias.
        public var biasWalkPerRate = 0.005 * .pi / 180
        /// Gyroscope bias at start, body frame, rad/s, from a calibration; otherwise zero.
        public var initialBias = Vector3.zero
        /// Initial standard deviation of the bias, rad/s, 1e-5...0.5. BMI088: ±1 °/s offset. This
        /// value also limits the bias that can be learned in an initial rest (see `restGate`).
        public var initialBiasSigma = 1.5 * .pi / 180
        /// Standard deviation of the gyroscope's scale error, 0...0.05. BMI088: ±1 % at most.
        public var initialScaleSigma = 0.005
        /// Standard deviation of the cross-axis sensitivities, 0...0.05: the fractions of another
        /// axis's rate in the reading of each gyroscope axis. Zero disables their estimation.
        /// BMI088: 1 % at most; a calibrated sensor has a tenth of that. A useful value is 0.0035.
        public var initialCrossSigma = 0.0
        /// Standard deviation of the inclination from the first accelerometer sample, rad,
        /// 0.001...1. The difference between the sample's length and gravity is added to it.
        public var initialInclinationSigma = 10 * Double.pi / 180
        /// Accelerometer noise, m/s²/√Hz, 1e-4...1.
        public var accelNoiseDensity = 0.02
        /// Bound on the size and duration of the true velocity, m/s·√s, 0.01...10: standard
        /// deviation times √(2 · correlation time). The default, 0.33, is 0.43 m/s that lasts 0.3
        /// s. This assumption corrects the tilt: over time, velocity averages to zero, so specific
        /// force averages to gravity. For calmer motion a smaller value is used, see `MotionLevel`.
        public var velocityNoiseDensity = 0.33
        /// Correlation time of the velocity in hand-carried motion, s, 0.05...2. The estimator uses
        /// it to convert the observed velocity into a `velocityNoiseDensity`.
        public var velocityCorrelationTime = 0.3
        /// Fraction of `velocityNoiseDensity` that is used for the calmest motion, 0.05...1.
        public var calmVelocityShare = 0.5
        /// Time constant with which a constant velocity, such as walking at a steady pace, counts
        /// as zero velocity, s, 0.5...1000.
        public var velocityMemory = 5.0
        /// Distance of the sensor from its centre of rotation, standard deviation of each axis, m,
        /// 0...2. The default is the length of a forearm; with 0 the estimator does not estimate
        /// this distance.
        public var leverSigma = 0.4
        /// Typical time after which the distance changes, because the hand holds the gimbal
        /// differently, s, 1...1000.
        public var leverTime = 15.0
        /// `velocityNoiseDensity` at rest.
        public var restVelocityNoiseDensity = 0.03
        /// Largest RMS deviation of the rate, averaged over `filterPeriod`, from its own mean at
        /// rest, rad/s.
        public var restRateThreshold = 0.5 * .pi / 180
        /// Largest RMS deviation of the specific force, averaged over `filterPeriod`, from its own
        /// mean at rest, m/s². The default is far below the specific force's deviation while a
        /// person walks (1.5 m/s² RMS). A gyroscope that the motors keep quiet is not enough
        /// evidence of rest.
        public var restForceThreshold = 0.2
        /// Time constant of those means and mean squares, s, 0.05...5.
        public var restFilterTime = 0.3
        /// Time for which both thresholds must be kept until the sensor counts as resting, s,
        /// 0.2...10. The bias is measured over the last half of that time, and again in each
        /// further half.
        public var restTime = 0.7
        /// True rate that remains during rest, for example from a trembling hand, rad/s·√s,
        /// 1e-5...0.1. Divided by the square root of the averaging time it is the standard
        /// deviation of one bias measurement.
        public var restRateNoise = 0.03 * .pi / 180
        /// Largest distance of the mean rate from the bias at which rest is accepted, in standard
        /// deviations, 1...10. A slow smooth pan is quiet too, but it differs from a known bias.
        public var restGate = 3.0
        /// Value added to the bias sigma in the comparison of `restGate`, rad/s, 1e-4...0.1.
        public var restGateFloor = 0.05 * .pi / 180
        /// Change of the specific force during rest that reveals a tilting carrier, m/s², 0.01...1.
        /// The default corresponds to a tilt of half a degree.
        public var restDriftThreshold = 0.085
        /// Turn of the joints that proves their motion, rad, 0.0001...0.1. This threshold exceeds
        /// noise and encoder steps while motors hold a camera still. The default, 0.1°, is four
        /// steps of a 14-bit encoder.
        public var restJointTurn = 0.1 * Double.pi / 180
        /// Error of the handle's rate (the gyroscope's minus the joints'), as a fraction of the
        /// rate of a commanded turn, 0.001...0.1: the gyroscope's scale error and misalignment. A
        /// BMI088 has a scale error and a misalignment of at most 1 % each.
        public var turnErrorShare = 0.01
        /// Time over which gravity is observed to detect that the handle or vehicle tilts, s,
        /// 1...60. This value is also the time without such a tilt until rest is accepted again
        /// after a refutation.
        public var restProofTime = 3.0
        /// Duration of rest after which a bias counts as known, s, 0.5...60.
        public var restTrustTime = 3.0
        /// Time for which the sensor must stay quiet at another rate until a known bias is
        /// replaced, s, 1...10000: longer than any smooth turn of a camera by a person. A bias that
        /// was learned in a short rest is replaced sooner, by the square of that rest over
        /// `restTrustTime`.
        public var restOverruleTime = 180.0
        /// Fraction of gravity below which the vertical specific force refutes the estimate,
        /// 0...0.9: the estimate is wrong by 60° or more, or the sensor was exchanged.
        public var gravityShareThreshold = 0.5
        /// Time constant of the low-pass on the vertical specific force, s, 0.2...10.
        public var gravityFilterTime = 1.0
        /// Time for which the force must stay below that fraction, s, 0.2...10.
        public var gravityPatience = 1.0
        /// Value of `gravityPatience` for an estimate that was certain before gravity jumped
        /// without a turn of the gyroscope, s. Until then the accelerometer counts as faulty and is
        /// not used.
        public var gravityDoubtPatience = 6.0
        /// Delay of the gyroscope's samples, s, 0...0.02: the group delay of its low-pass filter.
        /// The attitude is extrapolated by it with the current rate. 3 ms is typical of a MEMS
        /// sensor with its filter at 100 Hz.
        public var sensorDelay = 0.003
        /// Whether a sample is the mean rate since the previous one, as from a decimating sensor,
        /// and not an instantaneous rate. The sample is then older by half of that interval.
        public var averagesRate = false
        /// Full scale of the gyroscope, rad/s, 1...100; zero if unknown, in which case `GyroRange`
        /// finds it. At full scale the rate is only a lower bound, so the inclination's uncertainty
        /// grows.
        public var gyroRange = 2000 * Double.pi / 180
        /// Period of the accelerometer's and the covariance's processing, s, 0.001...0.05. The
        /// attitude follows each sample.
        public var filterPeriod = 0.02
        /// Longest gap without a usable sample that is interpolated, s, 0.01...1. After a longer
        /// one the inclination starts from the accelerometer again.
        public var longestGap = 0.1
        /// Variation of an undisturbed field's direction indoors, rad, 0.005...0.5.
        public var magneticHeadingSigma = 3 * Double.pi / 180
        /// Correlation time of the variation in `magneticHeadingSigma`, s, 0.01...60.
        public var magneticCorrelationTime = 1.0
        /// Time constant with which the reference of the field's strength and dip is learned, s,
        /// 1...1000.
        public var magneticReferenceTime = 20.0
        /// Largest inclination sigma at which the estimate counts as converged, rad. A few degrees
        /// suffice, because the motors start softly and follow the estimate as it improves.
        public var convergedInclinationSigma = 8 * Double.pi / 180
        /// Largest bias sigma on any axis at which the estimate counts as converged, rad/s, if
        /// there is rest to learn it in.
        public var convergedBiasSigma = 0.25 * .pi / 180

        /// The defaults.
        @_noLocks @_noAllocation
        public init() {}

        /// The defaults for the log of an unknown sensor: samples are mean rates, and the range is
        /// found.
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
    /// These parameters with their noise scaled by three ratios, as an app for the tuning of a
    /// Kalman filter sends them.
    ///
    /// The ratios multiply variances: a `measurement` of 4 doubles the sigma of the accelerometer's
    /// information. Each is limited to 0.1...10; one that is not finite or not positive counts as
    /// 1.
    ///
    /// - Parameters:
    ///   - angle: Ratio for the gyroscope's noise, constant and during turns.
    ///   - bias: Ratio for the walk of its bias.
    ///   - measurement: Ratio for the velocity that specific force is compared with.
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
    ///   - tilt: Standard deviation of its tilt, rad.
    ///   - lengthError: Difference between the length of the first specific force and gravity, as a
    ///     fraction of gravity.
    /// - Returns: The covariance.
    @_noLocks @_noAllocation
    func covariance(tilt: Double, lengthError: Double) -> AttitudeCovariance {
        AttitudeCovariance(
            tilt: min(tilt * tilt + lengthError * lengthError, 1),
            gyro: gyroCovariance(bias: initialBiasSigma * initialBiasSigma), velocity: 1)
    }

    /// Covariance of a gyroscope with unknown scale and axes.
    ///
    /// - Parameter bias: Variance of the gyroscope's bias, (rad/s)².
    /// - Returns: The covariance.
    @_noLocks @_noAllocation
    func gyroCovariance(bias: Double) -> GyroCovariance {
        GyroCovariance(
            bias: bias, scale: initialScaleSigma * initialScaleSigma,
            cross: initialCrossSigma * initialCrossSigma)
    }

    @_noLocks @_noAllocation
    private static func sigmaFactor(_ varianceRatio: Double) -> Double {
        guard varianceRatio > 0, varianceRatio.isFinite else { return 1 }
        return cm_sqrt(min(max(varianceRatio, 0.1), 10))
    }
}
