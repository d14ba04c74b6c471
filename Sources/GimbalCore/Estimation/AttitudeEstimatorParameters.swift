import CMathShim

extension AttitudeEstimator {
    /// What the estimator assumes about sensor and motion. Physical units only, so that nothing
    /// here depends on the sample rate. The defaults are one set for everything; a data sheet may
    /// replace the gyroscope's figures.
    ///
    /// Only ratios between the noise densities shape the attitude; their absolute size decides what
    /// the sigmas say.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Angle random walk of the gyroscope, rad/s/√Hz, 1e-5...1e-2. Twice a BMI088's data sheet
        /// value (0.014 °/s/√Hz), which leaves room for vibration.
        public var gyroNoiseDensity = 0.5e-3
        /// Tilt error gained by turning, as a share of the rate, √s, 0...0.02: what misalignment
        /// and the remaining scale error of a calibrated MEMS gyroscope do while they have not been
        /// observed.
        public var rotationNoise = 1.25e-3
        /// Random walk of the gyroscope bias, rad/s/√s, 1e-7...1e-2. The default is 0.005 °/s/√s:
        /// the drift of a warming sensor (0.015 °/s/K) is about twice that.
        public var biasWalk = 0.005 * .pi / 180
        /// The additional walk of the apparent bias per rad/s of rate, 1/√s, 0...0.01: turning
        /// shows as bias what misalignment and sensitivity to acceleration add.
        public var biasWalkPerRate = 0.005 * .pi / 180
        /// Gyroscope bias at start, body frame, rad/s: from a calibration, else zero.
        public var initialBias = Vector3.zero
        /// Standard deviation of the bias before anything was seen, rad/s, 1e-5...0.5. BMI088: ±1
        /// °/s offset. It also bounds what rest is believed at first (see `restGate`).
        public var initialBiasSigma = 1.5 * .pi / 180
        /// Standard deviation of the gyroscope's scale error, 0...0.05. BMI088: ±1 % at most.
        public var initialScaleSigma = 0.005
        /// Standard deviation of the share of another axis's rate that each axis of the gyroscope
        /// reads, 0...0.05; zero: such shares are not looked for. BMI088: 1 % at most. A calibrated
        /// sensor has a tenth of that. Useful: 0.0035.
        public var initialCrossSigma = 0.0
        /// Standard deviation of the inclination taken from the first accelerometer sample, rad,
        /// 0.001...1. What the sample's length is off from gravity's is added to it.
        public var initialInclinationSigma = 10 * Double.pi / 180
        /// Accelerometer noise, m/s²/√Hz, 1e-4...1.
        public var accelNoiseDensity = 0.02
        /// How large and lasting the true velocity is at most, m/s·√s, 0.01...10: standard
        /// deviation times √(2 · correlation time). 0.33 is 0.43 m/s that lasts 0.3 s. This is the
        /// aiding: over time, velocity averages to zero, therefore specific force averages to
        /// gravity. A calmer motion counts for as little as it moves, see `MotionLevel`.
        public var velocityNoiseDensity = 0.33
        /// How long velocity keeps its direction in hand-carried motion, s, 0.05...2: turns the
        /// velocity seen into such a density.
        public var velocityCorrelationTime = 0.3
        /// The calmest motion's share of `velocityNoiseDensity`, 0.05...1.
        public var calmVelocityShare = 0.5
        /// How long a constant velocity is remembered, s, 0.5...1000: the time constant with which
        /// walking at a steady pace becomes the new "velocity is zero".
        public var velocityMemory = 5.0
        /// How far the sensor may be from the point that it turns about, standard deviation of each
        /// axis, m, 0...2: a forearm. Zero: no lever is looked for.
        public var leverSigma = 0.4
        /// How long a lever lasts, s, 1...1000: a grip that changes.
        public var leverTime = 15.0
        /// What `velocityNoiseDensity` is while at rest.
        public var restVelocityNoiseDensity = 0.03
        /// At rest the rate, averaged over `filterPeriod`, deviates less than this from its own
        /// mean, RMS, rad/s.
        public var restRateThreshold = 0.5 * .pi / 180
        /// At rest the specific force, averaged over `filterPeriod`, deviates less than this from
        /// its mean, RMS, m/s². Far below walking (1.5 m/s² RMS): a gyroscope that the motors keep
        /// quiet is not rest by itself.
        public var restForceThreshold = 0.2
        /// Time constant of those means and mean squares, s, 0.05...5.
        public var restFilterTime = 0.3
        /// How long both must hold before it counts as rest, s, 0.2...10. The bias is measured over
        /// the last half of it, and again each half of it.
        public var restTime = 0.7
        /// What remains of a true rate during rest, rad/s·√s, 1e-5...0.1: divided by the square
        /// root of the seconds averaged it is the standard deviation of one bias measurement.
        public var restRateNoise = 0.03 * .pi / 180
        /// Rest is believed only where the mean rate lies within this many standard deviations of
        /// the bias, 1...10: a slow smooth pan is still, too, but not where a known bias says that
        /// zero is.
        public var restGate = 3.0
        /// Added to the bias sigma in that comparison, rad/s, 1e-4...0.1.
        public var restGateFloor = 0.05 * .pi / 180
        /// Change of the specific force during rest that shows a tilting carrier, m/s², 0.01...1.
        /// The default is half a degree.
        public var restDriftThreshold = 0.085
        /// Turn of the joints that shows that they move, rad, 0.0001...0.1: beyond what noise and
        /// the steps of their sensor show while motors hold a camera still. The default, 0.1°, is
        /// four steps of a 14-bit encoder.
        public var restJointTurn = 0.1 * Double.pi / 180
        /// Share of a commanded turn by which the handle's rate, the gyroscope's less the joints',
        /// may be wrong, 0.001...0.1: scale error and misalignment of a gyroscope. BMI088: 1 % each
        /// at most.
        public var turnErrorShare = 0.01
        /// How long gravity is watched for that at a time, s, 1...60, and how long it has to be
        /// watched before rest is believed again after it was refuted.
        public var restProofTime = 3.0
        /// Seconds of rest after which a bias counts as known, 0.5...60.
        public var restTrustTime = 3.0
        /// How long the sensor must stay still at another rate until a known bias is given up, s,
        /// 1...10000: longer than anybody turns a camera smoothly. A bias that little rest has
        /// taught is given up sooner, by the square of that rest over `restTrustTime`.
        public var restOverruleTime = 180.0
        /// The estimate is refuted where the vertical specific force stays below this share of
        /// gravity, 0...0.9: one that is wrong by 60° or more, or a sensor that was changed for
        /// another.
        public var gravityShareThreshold = 0.5
        /// Time constant with which that force is smoothed, s, 0.2...10.
        public var gravityFilterTime = 1.0
        /// How long it has to stay below, s, 0.2...10.
        public var gravityPatience = 1.0
        /// The same where the estimate was sure before, and gravity has jumped without a turn of
        /// the gyroscope, s: until then the accelerometer is wrong, and is not used.
        public var gravityDoubtPatience = 6.0
        /// How much older than its time a sample of the gyroscope is, s, 0...0.02: the group delay
        /// of its low-pass filter. The attitude is carried forward by it with the current rate. 3
        /// ms is typical of a MEMS sensor with its filter at 100 Hz.
        public var sensorDelay = 0.003
        /// Whether a sample is the mean since the one before, as of a sensor that decimates, not a
        /// moment's rate: it is then older by half of that time.
        public var averagesRate = false
        /// Full scale of the gyroscope, rad/s, 1...100; zero where nobody knows, then it is found
        /// (`GyroRange`). At it the rate is a lower bound, and the inclination gets its uncertainty
        /// back.
        public var gyroRange = 2000 * Double.pi / 180
        /// Accelerometer and covariance are processed at this period, s, 0.001...0.05. Attitude
        /// follows each sample.
        public var filterPeriod = 0.02
        /// Longer without a usable sample than this, s, 0.01...1, and the missing motion is not
        /// interpolated: the inclination starts from the accelerometer again.
        public var longestGap = 0.1
        /// What the direction of an undisturbed field varies indoors, rad, 0.005...0.5.
        public var magneticHeadingSigma = 3 * Double.pi / 180
        /// How long such a deviation lasts, s, 0.01...60.
        public var magneticCorrelationTime = 1.0
        /// Time constant with which the reference of the field's strength and dip is learned, s,
        /// 1...1000.
        public var magneticReferenceTime = 20.0
        /// Converged means an inclination sigma below this, rad. The motors start softly and follow
        /// the estimate as it gets better, so a few degrees will do.
        public var convergedInclinationSigma = 8 * Double.pi / 180
        /// Converged means a bias sigma below this on all axes, rad/s, where rest can teach it.
        public var convergedBiasSigma = 0.25 * .pi / 180

        /// The defaults.
        @_noLocks @_noAllocation
        public init() {}

        /// The defaults for the log of a sensor of which nothing is known: it averages, and its
        /// range is found.
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
    /// These parameters with the noise that three ratios ask for, as an app that tunes a Kalman
    /// filter sends them.
    ///
    /// The ratios multiply variances: a `measurement` of 4 doubles the sigma of what the
    /// accelerometer says. Each is limited to 0.1...10; one that is not finite or not positive
    /// counts as 1.
    ///
    /// - Parameters:
    ///   - angle: Of the gyroscope's noise, constant and while turning.
    ///   - bias: Of the walk of its bias.
    ///   - measurement: Of the velocity that specific force is compared with.
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

    /// Covariance of an estimate that has just begun.
    ///
    /// - Parameters:
    ///   - tilt: Standard deviation of its tilt, rad.
    ///   - lengthError: How far the length of the first specific force is from gravity's, as a share.
    /// - Returns: The covariance.
    @_noLocks @_noAllocation
    func covariance(tilt: Double, lengthError: Double) -> AttitudeCovariance {
        AttitudeCovariance(
            tilt: min(tilt * tilt + lengthError * lengthError, 1),
            gyro: gyroCovariance(bias: initialBiasSigma * initialBiasSigma), velocity: 1)
    }

    /// Covariance of a gyroscope whose scale and axes are not known yet.
    ///
    /// - Parameter bias: Variance of its bias, (rad/s)².
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
