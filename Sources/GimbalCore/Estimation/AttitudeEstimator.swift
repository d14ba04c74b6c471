import CMathShim

/// Estimator of attitude, gyroscope bias and gyroscope scale from raw gyroscope and accelerometer
/// samples: an error-state Kalman filter.
///
/// Each sample rotates the attitude (trapezoidal rule with coning correction). In each
/// `filterPeriod` the specific force is integrated in the earth frame to a horizontal velocity. The
/// filter then applies the pseudo-measurement "velocity is zero" with a large standard deviation. A
/// tilt error makes this velocity grow, whereas shaking does not. Samples are not rejected because
/// of the magnitude of the specific force, so the effects of walking and vibration average out. At
/// rest, the mean rate is a direct measurement of the bias.
///
/// The heading starts at zero and follows the gyroscope; accelerometer samples never change the
/// heading.
///
/// **State** (errors, true minus estimated; `AttitudeError`): tilts φx, φy about the earth's
/// horizontal axes, rad; bias b (3), rad/s, and relative scale error s (3) of the gyroscope, body
/// frame; horizontal velocities u, v, earth frame, m/s.
///
/// **F**, over a filter period of T seconds with the turn θ (body frame, rad), the vertical impulse
/// f (integral of the specific force along the earth's z axis, m/s), the rows X and Y of the
/// rotation matrix from body to earth, and k = 1 - T / (`velocityMemory` + T):
///
///     φx' = φx - X·(T b + θ∘s)      u' = k u + f φy      b' = b
///     φy' = φy - Y·(T b + θ∘s)      v' = k v - f φx      s' = s
///
/// **Q**, with Ω = integral of the squared rate, rad²/s: `gyroNoiseDensity`² T + `rotationNoise`² Ω
/// for each tilt, more while an axis is saturated; `biasWalk`² T + `biasWalkPerRate`² Ω for each
/// bias; 0 for the scale errors; `accelNoiseDensity`² T for each velocity.
///
/// **H and R**, one scalar correction at a time: u and v equal the velocity of the lever arm
/// (`LeverArm`), with R = density² / T + the variance of this velocity, where the density is
/// `restVelocityNoiseDensity` at rest and that of `MotionLevel` otherwise. At rest, each component
/// of b equals the mean rate minus the estimated bias, with R = `restRateNoise`² / (duration of the
/// rest) + the variance of the joints' motion.
///
/// One thread uses the estimator; each method takes constant time and allocates no memory. The
/// principle of averaging in an almost inertial frame comes from Laidig & Seel, "VQF", Information
/// Fusion 91 (2023). Unlike VQF, this estimator has a full covariance, states for the scale errors,
/// and noise that depends on the rate.
public struct AttitudeEstimator: Sendable, BitwiseCopyable {
    /// Assumptions about sensor and motion. The caller can change the assumptions at any time; the
    /// estimate and its covariance do not change.
    public var parameters: Parameters
    /// Motion of the sensor relative to the handle. Rest is detected from the handle's rate, which
    /// is the gyroscope's rate minus the relative rate, and from gravity's direction relative to
    /// the handle. Therefore a camera that is held still by its motors on a moving handle is not at
    /// rest. Rest also requires that the joints are still.
    public var relativeMotion = RelativeMotion()
    /// True if the estimator can conclude that the sensor is at rest. Set this property to false
    /// when another source reports motion. Also set this property to false while motors hold the
    /// camera still and the joint angles are unknown: a low rate is then not evidence of rest.
    public var restIsPlausible = true
    /// Number of unused samples: a value was not finite or beyond the range of all sensors, or the
    /// time step was impossible.
    public private(set) var rejectedSamples: UInt64 = 0
    /// Number of restarts because the measured gravity contradicted the estimate (see
    /// `GravityWatch`).
    public private(set) var refutations: UInt64 = 0
    /// Rate of the last sample, corrected for bias and scale error, body frame, rad/s.
    public internal(set) var rate: Vector3 = .zero
    /// Gyroscope bias, body frame, rad/s.
    public internal(set) var bias: Vector3 = .zero
    /// Relative scale error of each gyroscope axis. The sensor reads approximately `rate * (1 +
    /// scale) + bias`.
    public internal(set) var scale: Vector3 = .zero
    /// Weight of the last accelerometer correction, 0...1. The weight is below 1 if the velocity
    /// innovation exceeds three standard deviations, as in a braking vehicle; 0 while the
    /// accelerometer is not used.
    public internal(set) var accelerationWeight = 1.0
    /// True if a gyroscope axis was at full scale in the last sample.
    public private(set) var isSaturated = false

    /// Vertical component of the specific force at rest, m/s²; negative if z points down.
    let restForce: Double
    /// Rotation from body to earth at the sampling instant of the last sample, without
    /// extrapolation by the sensor's delay.
    var orientation: Quaternion = .identity
    var velocityX = 0.0
    var velocityY = 0.0
    var covariance: AttitudeCovariance
    var detector = RestDetector()
    var magnetic = MagneticHeading()
    var gravityWatch = GravityWatch()
    var motion = MotionLevel()
    var leverArm: LeverArm
    private var range = GyroRange()
    /// State of the filter period that ended with the last sample.
    var ended: UncorrectedPeriod?
    /// Counter of frame changes: restart of the estimator, reset of the heading, or change of the
    /// body frame.
    var frame: UInt64 = 0
    var isRefuted = false
    var innovationSquare = 0.0
    /// Raw rate, smoothed like the rates of the joints, body frame, rad/s.
    var smoothGyro = Vector3.zero
    /// Sums of the current filter period.
    var period = Period()
    private var gap = 0.0
    private var firstVertical = FirstVertical()
    private var saturatedTime = 0.0
    /// Duration that the last sample represents, s.
    private var step = 0.0
    private var isInitialized = false

    /// Sums over the samples of one filter period.
    struct Period: Sendable, BitwiseCopyable {
        /// Duration of the samples, s.
        var duration = 0.0
        /// Integral of the specific force, earth frame, m/s.
        var impulse: Vector3 = .zero
        /// Integral of the raw rate, body frame, rad.
        var rawTurn: Vector3 = .zero
        /// Integral of the smoothed raw rate, body frame, rad.
        var smoothTurn: Vector3 = .zero
        /// Integral of the sensor's rate relative to the handle, body frame, rad.
        var relativeTurn: Vector3 = .zero
        /// Integral of the squared rate, rad²/s.
        var squaredTurn = 0.0
        /// Increase of the tilt's covariance because of saturated samples, rad². `x` and `y` are
        /// the variances about the earth's x and y axes; `z` is the covariance of the two tilts.
        var lostVariance = Vector3.zero

        @_noLocks @_noAllocation
        init() {}

        @_noLocks @_noAllocation
        mutating func addLoss(_ axis: Vector3, times growth: Double) {
            lostVariance += Vector3(axis.x * axis.x, axis.y * axis.y, axis.x * axis.y) * growth
        }
    }

    /// State of a filter period before the corrections at its end.
    struct UncorrectedPeriod: Sendable, BitwiseCopyable {
        /// Duration of the period, s.
        var duration: Double
        /// Integral of the specific force, earth frame, m/s.
        var impulse: Vector3
        /// Rotation from body to earth at the end of the period.
        var orientation: Quaternion

        @_noLocks @_noAllocation
        init(duration: Double, impulse: Vector3, orientation: Quaternion) {
            self.duration = duration
            self.impulse = impulse
            self.orientation = orientation
        }
    }

    /// Creates an estimator without samples; the first samples determine the inclination.
    ///
    /// - Parameters:
    ///   - parameters: Assumptions about sensor and motion.
    ///   - restSpecificForce: The accelerometer's reading at rest, earth frame, m/s². The x and y
    ///     components are zero; the z component is negative if the earth's z axis points down
    ///     (NED).
    @_noLocks @_noAllocation
    public init(
        parameters: Parameters, restSpecificForce: Vector3 = Vector3(0, 0, -9.80665)
    ) {
        self.parameters = parameters
        restForce = restSpecificForce.z
        bias = parameters.initialBias
        covariance = parameters.covariance(
            tilt: parameters.initialInclinationSigma, lengthError: 0)
        leverArm = LeverArm(sigma: parameters.leverSigma)
    }

    /// Interval between two samples that no clock can have, s.
    static var longestInterval: Double { @_noLocks @_noAllocation get { 1e6 } }
    /// Fraction of a period from which the period counts as complete: rounding of the samples'
    /// times.
    static var wholePeriod: Double { @_noLocks @_noAllocation get { 0.999 } }

    /// Updates the estimate with one raw sample.
    ///
    /// - Parameters:
    ///   - gyro: Rate as measured, body frame, rad/s.
    ///   - accel: Specific force as measured, body frame, m/s².
    ///   - dt: Seconds since the previous sample; ignored for the first sample. If `dt` is zero,
    ///     negative or not finite, the sample is not used.
    ///
    /// A sample is skipped if a value is not finite or beyond the range of all sensors. The next
    /// usable sample also covers the time of the skipped sample. After a gap longer than
    /// `longestGap`, the inclination is determined from the accelerometer again; during a start in
    /// motion, the mean begins again. The estimator's state is always finite.
    @_noLocks @_noAllocation
    public mutating func update(gyro: Vector3, accel: Vector3, dt: Double) {
        ended = nil
        guard dt > 0 || !isInitialized, dt < Self.longestInterval else {
            rejectedSamples &+= 1
            return
        }
        guard isUsable(gyro: gyro, accel: accel) else {
            rejectedSamples &+= 1
            gap += dt
            return
        }
        let elapsed = gap + dt
        gap = 0
        if !firstVertical.isComplete {
            if elapsed > parameters.longestGap { firstVertical.restart() }
            firstVertical.note(gyro: gyro, accel: accel, gravity: abs(restForce), dt: elapsed)
            if firstVertical.isMean {
                isInitialized = false
                guard firstVertical.isComplete else { return }
                start(gyro: gyro, accel: firstVertical.force, elapsed: elapsed)
                return
            }
        }
        guard isInitialized, elapsed <= parameters.longestGap else {
            start(gyro: gyro, accel: accel, elapsed: elapsed)
            return
        }
        integrate(gyro: gyro, accel: accel, dt: elapsed)
        guard period.duration >= Self.wholePeriod * parameters.filterPeriod else { return }
        filter()
        if isRefuted || !isHealthy { recover() }
    }

    /// Rotation from body to earth at the time of the last `update`. The orientation of the last
    /// sample is extrapolated by that sample's age with the current rate.
    public var attitude: Quaternion {
        @_noLocks @_noAllocation @inline(__always) get {
            let age = parameters.sensorDelay + (parameters.averagesRate ? 0.5 * step : 0)
            return (orientation * Self.rotation(rate * age)).normalized
        }
    }

    /// Vector from the sensor's centre of rotation to the sensor, body frame, m.
    public var lever: Vector3 { @_noLocks @_noAllocation @inline(__always) get { leverArm.arm } }

    /// Standard deviation of the bias on each body axis, rad/s.
    public var biasSigma: Vector3 {
        @_noLocks @_noAllocation @inline(__always) get {
            let variance = covariance.gg.bb.diagonal
            return Vector3(cm_sqrt(variance.x), cm_sqrt(variance.y), cm_sqrt(variance.z))
        }
    }

    /// Standard deviation of the direction of the vertical, rad.
    public var inclinationSigma: Double {
        @_noLocks @_noAllocation @inline(__always) get { cm_sqrt(covariance.xx + covariance.yy) }
    }

    /// RMS of the velocity innovation over the last second, in standard deviations. The value is at
    /// most 1 if the estimator's assumptions hold.
    public var innovation: Double {
        @_noLocks @_noAllocation @inline(__always) get { cm_sqrt(innovationSquare) }
    }

    /// True if the sensor is at rest.
    public var isAtRest: Bool {
        @_noLocks @_noAllocation @inline(__always) get { detector.isAtRest }
    }

    /// True if the measured direction of gravity has changed although the gyroscope has not
    /// measured a rotation. While gravity is doubtful, the accelerometer is not used.
    public var isGravityDoubtful: Bool {
        @_noLocks @_noAllocation @inline(__always) get { gravityWatch.isDoubtful }
    }

    /// True if motors can be switched on. The inclination must be known. The bias must also be
    /// known, except while the sensor moves, because the bias cannot be measured during motion. A
    /// measurement of the bias at rest takes at most `restTime`.
    ///
    /// If the sensor is not at rest, the bias about the vertical can be estimated only during
    /// rotations. The heading can therefore drift at first.
    public var isConverged: Bool {
        @_noLocks @_noAllocation @inline(__always) get {
            isInitialized && inclinationSigma < parameters.convergedInclinationSigma
                && (biasSigma.largest < parameters.convergedBiasSigma || !detector.isCandidate)
        }
    }

    /// Range of every gyroscope, rad/s: no sensor measures more than 4000 °/s.
    private static var widestRange: Double { @_noLocks @_noAllocation get { 70 } }
    /// Largest squared rate, as a multiple of the squared range: three axes, each at twice its
    /// range.
    private static var beyondRange: Double { @_noLocks @_noAllocation get { 12 } }
    /// Range of every accelerometer, m/s²: 200 times gravity.
    private static var strongestForce: Double { @_noLocks @_noAllocation get { 2000 } }

    private func isUsable(gyro: Vector3, accel: Vector3) -> Bool {
        // Comparisons with NaN are false, so these lines also reject values that are not finite.
        let range = parameters.gyroRange > 0 ? parameters.gyroRange : Self.widestRange
        return gyro.squaredNorm < Self.beyondRange * range * range
            && accel.squaredNorm < Self.strongestForce * Self.strongestForce
    }

    /// Smallest specific force with a direction, as a fraction of gravity; in free fall, the
    /// direction is unknown.
    private static var leastForce: Double { @_noLocks @_noAllocation get { 0.1 } }

    /// Initialises the inclination from the accelerometer, at start-up and after a gap. Heading and
    /// bias do not change.
    private mutating func start(gyro: Vector3, accel: Vector3, elapsed: Double) {
        let length = accel.norm
        let gravity = abs(restForce)
        if length > Self.leastForce * gravity {
            orientation =
                Self.levelling(
                    orientation.rotate(accel) / length, up: restForce < 0 ? -1 : 1) * orientation
        }
        let known = parameters.initialInclinationSigma
        let fresh = parameters.covariance(
            tilt: !isInitialized && firstVertical.isMean
                ? min(known, FirstVertical.meanSigma) : known,
            lengthError: length > Self.leastForce * gravity ? (length - gravity) / gravity : 1)
        if isInitialized {
            covariance.forgetTiltAndVelocity(tilt: fresh.xx, velocity: fresh.uu)
            covariance.gg.bb.addToDiagonal(parameters.biasWalk * parameters.biasWalk * elapsed)
        } else {
            covariance = fresh
        }
        velocityX = 0
        velocityY = 0
        detector.reset()
        gravityWatch = GravityWatch()
        motion = MotionLevel()
        leverArm = LeverArm(sigma: parameters.leverSigma)
        step = 0
        magnetic.forgetHeading()
        frame &+= 1
        period = Period()
        smoothGyro = gyro
        rate = corrected(gyro)
        if !isInitialized {
            isInitialized = true
            resetHeading()
        }
    }

    /// Rotates the attitude by one sample's rotation increment, and adds the sample to the sums of
    /// the filter period.
    @inline(always)
    private mutating func integrate(gyro: Vector3, accel: Vector3, dt: Double) {
        let newRate = corrected(gyro)
        // Trapezoidal rule plus the first-order coning correction for a linearly changing rate.
        let turn = (rate + newRate) * (0.5 * dt) + rate.cross(newRate) * (dt * dt / 12)
        rate = newRate
        orientation = orientation * Self.rotation(turn)
        period.impulse += orientation.rotate(accel) * dt
        period.rawTurn += gyro * dt
        period.squaredTurn += newRate.squaredNorm * dt
        period.duration += dt
        smoothGyro += (gyro - smoothGyro) * (dt / (JointMotion.smoothing + dt))
        period.smoothTurn += smoothGyro * dt
        period.relativeTurn += relativeMotion.rate * dt
        step = dt
        let ended = range.reached(by: gyro, dt: dt, known: parameters.gyroRange)
        isSaturated = ended.squaredNorm > 0
        if isSaturated { widen(ended, by: gyro, dt) } else { saturatedTime = 0 }
    }

    /// Standard deviation of a saturated axis's rate error, as a fraction of the largest reading.
    private static var saturationShare: Double { @_noLocks @_noAllocation get { 0.3 } }
    /// The same fraction if the range was detected from the data. The rate then usually exceeds the
    /// range in both directions of a swing, so the angle errors of the two directions largely
    /// cancel.
    private static var detectedSaturationShare: Double { @_noLocks @_noAllocation get { 0.1 } }

    /// Increases the tilt's variance because of saturated axes. The rate error of a saturated axis
    /// is unknown and persists. Therefore the standard deviation of the angle, not the variance,
    /// grows in proportion to time. A rotation about the vertical alone does not affect the tilt.
    private mutating func widen(_ axes: Vector3, by gyro: Vector3, _ dt: Double) {
        let share = parameters.gyroRange > 0 ? Self.saturationShare : Self.detectedSaturationShare
        let sigma = share * gyro.largestMagnitude
        let growth = sigma * sigma * dt * (2 * saturatedTime + dt)
        period.addLoss(orientation.rotate(Vector3(axes.x, 0, 0)), times: growth)
        period.addLoss(orientation.rotate(Vector3(0, axes.y, 0)), times: growth)
        period.addLoss(orientation.rotate(Vector3(0, 0, axes.z)), times: growth)
        saturatedTime += dt
    }

    @inline(always)
    private func corrected(_ gyro: Vector3) -> Vector3 {
        let difference = gyro - bias
        return difference - difference.scaled(by: scale)
    }

    private var isHealthy: Bool {
        orientation.isFinite && bias.isFinite && scale.isFinite && velocityX.isFinite
            && velocityY.isFinite && covariance.isHealthy
    }

    /// Discards the estimate and restarts with the next sample. The method is called if measured
    /// gravity contradicts the estimate, because the sensor was replaced or the attitude was lost.
    /// The method is also called if the state is invalid, for example not finite.
    private mutating func recover() {
        var fresh = AttitudeEstimator(
            parameters: parameters, restSpecificForce: Vector3(0, 0, restForce))
        fresh.relativeMotion = relativeMotion
        fresh.restIsPlausible = restIsPlausible
        fresh.rejectedSamples = rejectedSamples &+ (isRefuted ? 0 : 1)
        fresh.frame = frame
        fresh.refutations = refutations &+ (isRefuted ? 1 : 0)
        self = fresh
    }
}
