/// Plausibility checks of each IMU sample. Each kind of fault has a separate counter and condition.
///
/// The estimator never receives a rejected sample. A condition remains active for
/// `Parameters.holdSeconds` after its last cause. Therefore a single bad sample reduces the outputs
/// briefly, and a lasting fault switches the outputs off.
public struct SampleScreen: Sendable, BitwiseCopyable {
    /// The sensor's limits and the thresholds of the faults.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Full scale of the gyroscope, rad/s. A sample above full scale is implausible; at full
        /// scale, the sensor is saturated. Default: 2000 °/s.
        public var gyroRange = 34.91
        /// Full scale of the accelerometer, m/s². A sample above full scale is implausible; at full
        /// scale, the sample is clipped. Default: 24 g.
        public var accelRange = 235.4
        /// Fraction of full scale above which a reading counts as saturated, 0.9...1. The value is
        /// below 1, because the sensor's scale error and filters can keep the reading of a
        /// saturated axis slightly below full scale.
        public var fullScaleShare = 0.98
        /// Duration of bit-identical samples of gyroscope or accelerometer after which a chip
        /// counts as frozen, s. In a working chip, noise makes consecutive samples different.
        /// `FreezeTest` can derive a shorter duration from the chip's noise.
        public var frozenSeconds = 0.04
        /// True if repeated samples mean a frozen sensor only after noise has been detected; false
        /// if they always mean a frozen sensor. Simulators without noise need `true`, because their
        /// samples are bit-identical at rest and in uniform rotation.
        public var frozenNeedsNoise = false
        /// True if the gyroscope is compared with motors, joints and its own history (see
        /// `GyroWitness`).
        public var witnessesGyro = true
        /// Longest normal interval between two samples, s; a longer interval is reported as a gap.
        public var gapSeconds = 0.02
        /// Time without a sample after which the sensor counts as stale, s.
        public var staleSeconds = 0.02
        /// Hold time of a condition after its last cause, s.
        public var holdSeconds = 0.05

        /// Creates the default values.
        public init() {}
    }

    /// Number of occurrences of each fault since start-up.
    public struct Counters: Sendable, BitwiseCopyable, Equatable {
        /// Number of accepted samples.
        public var accepted: UInt64 = 0
        /// Accepted samples with a gyroscope axis at full scale; the true rate was larger.
        public var gyroSaturated: UInt64 = 0
        /// Accepted samples with an accelerometer axis at full scale; the true specific force was
        /// larger.
        public var accelClipped: UInt64 = 0
        /// Samples that were rejected because a value was NaN, infinite or out of range, or because
        /// the sample contradicted the camera's known motion.
        public var implausible: UInt64 = 0
        /// Number of times that the sensor froze.
        public var frozen: UInt64 = 0
        /// Samples that were rejected because their time stamp was not later than the previous one.
        public var timeReversed: UInt64 = 0
        /// Sample intervals longer than `gapSeconds`. The estimator bridges a short gap and
        /// restarts after a long gap.
        public var gaps: UInt64 = 0
        /// Number of times that the newest sample became stale.
        public var stale: UInt64 = 0

        /// Creates counters at zero.
        public init() {}
    }

    /// The decision about one sample.
    public enum Verdict: Sendable, BitwiseCopyable, Equatable {
        /// The sample is used. `dt` is the time since the previous sample, s; 0 for the first
        /// sample.
        case use(dt: Double)
        /// The sample is rejected.
        case refuse
    }

    /// The thresholds of the faults.
    public var parameters: Parameters
    /// Numbers of accepted samples and of faults since start-up.
    public private(set) var counters = Counters()

    /// Time, rate and force of the last used sample; nil until a sample has been used.
    private var lastTime: Instant?
    private var lastGyro = Vector3.zero
    private var lastAccel = Vector3.zero
    private var gyro = FreezeTest()
    private var accel = FreezeTest()
    /// Leaky count of rejected samples. Each accepted sample reduces a positive count by 0.2, so a
    /// single rejected sample has no lasting effect.
    private var refused = 0.0
    private var noise = NoiseEvidence()
    private var saturatedUntil: Instant?
    private var implausibleUntil: Instant?
    private var timeFaultUntil: Instant?
    private var wasStale = false

    /// Creates the state of the checks before the first sample.
    public init(parameters: Parameters) { self.parameters = parameters }

    /// Decrease of `refused` for each usable sample: five usable samples outweigh one refused
    /// sample.
    private static var forgiven: Double { @_noLocks get { 0.2 } }

    /// Checks one sample and stores it.
    ///
    /// - Parameters:
    ///   - sample: The next raw sample, in the order of arrival.
    ///   - isBelieved: True if the sample agrees with the camera's known motion (see
    ///     `GyroWitness`).
    /// - Returns: The decision. The method runs on the loop thread, in constant time.
    @_noLocks
    public mutating func judge(_ sample: IMUSample, isBelieved: Bool = true) -> Verdict {
        let isPossible = isPlausible(sample)
        guard isPossible, isBelieved else {
            counters.implausible &+= 1
            refused = min(refused + 1, 2 * Self.mostRefused)
            if !isPossible || refused > Self.mostRefused {
                implausibleUntil = sample.time.advanced(bySeconds: parameters.holdSeconds)
            }
            return .refuse
        }
        refused = max(refused - Self.forgiven, 0)
        guard let lastTime else {
            keep(sample)
            counters.accepted &+= 1
            noteFullScale(sample)
            return .use(dt: 0)
        }
        let dt = sample.time.seconds(since: lastTime)
        guard dt > 0 else {
            counters.timeReversed &+= 1
            timeFaultUntil = lastTime.advanced(bySeconds: parameters.holdSeconds)
            return .refuse
        }
        if parameters.frozenNeedsNoise {
            noise.add(gyro: sample.gyro - lastGyro, accel: sample.accel - lastAccel)
        }
        let wasFrozen = gyro.isFrozen
        noteRepetition(by: sample, dt: dt)
        // The rate of a frozen gyroscope would turn the estimate away from the camera's attitude.
        if gyro.isFrozen { return .refuse }
        keep(sample)
        counters.accepted &+= 1
        noteFullScale(sample)
        if dt > parameters.gapSeconds, !wasFrozen {
            counters.gaps &+= 1
            timeFaultUntil = sample.time.advanced(bySeconds: parameters.holdSeconds)
        }
        return .use(dt: dt)
    }

    /// The sensor's conditions at `now`. The method runs on the loop thread, in constant time.
    @_noLocks
    public mutating func conditions(now: Instant) -> Conditions {
        var result: Conditions = .none
        if let lastTime {
            let isStale = now.seconds(since: lastTime) > parameters.staleSeconds
            if isStale && !wasStale { counters.stale &+= 1 }
            wasStale = isStale
            if isStale { result.insert(.imuStale) }
        } else {
            result.insert(.imuMissing)
        }
        if gyro.isFrozen || accel.isFrozen { result.insert(.imuFrozen) }
        if let until = implausibleUntil, now < until { result.insert(.imuImplausible) }
        if let until = timeFaultUntil, now < until { result.insert(.imuTimeFault) }
        if let until = saturatedUntil, now < until { result.insert(.imuSaturated) }
        return result
    }

    /// True if the given gyroscope sample and the previous sample are bit-identical, although a
    /// working chip would have noise.
    @_noLocks @inline(always)
    func repeatsGyro(_ sample: IMUSample) -> Bool {
        lastTime != nil && canFreeze(sample) && sample.gyro == lastGyro
    }

    /// Value of `refused` above which the condition `imuImplausible` is raised. A value out of
    /// range raises the condition immediately.
    private static var mostRefused: Double { @_noLocks get { 4.5 } }

    /// True if repeated samples mean a frozen chip; false for a simulator without noise and for a
    /// saturated gyroscope.
    @inline(always)
    private func canFreeze(_ sample: IMUSample) -> Bool {
        (!parameters.frozenNeedsNoise || noise.isNoisy)
            && Self.isWithin(sample.gyro, parameters.fullScaleShare * parameters.gyroRange)
    }

    /// True if all values of a sample are finite and within the ranges of their sensors.
    @_noLocks @inline(always)
    func isPlausible(_ sample: IMUSample) -> Bool {
        // A comparison with NaN is false, so NaN is rejected.
        Self.isWithin(sample.gyro, parameters.gyroRange)
            && Self.isWithin(sample.accel, parameters.accelRange)
            && Self.isWithin(sample.joints, Self.largestJoint)
            && Self.isWithin(sample.jointRates, Self.largestJoint)
    }

    /// Largest accepted magnitude of a joint angle, rad, and of a joint rate, rad/s. The values of
    /// real joints and encoders are below the limit.
    private static var largestJoint: Double { @_noLocks get { 1e4 } }

    private static func isWithin(_ v: AxisVector, _ limit: Double) -> Bool {
        abs(v.yaw) <= limit && abs(v.roll) <= limit && abs(v.pitch) <= limit
    }

    private static func isWithin(_ v: Vector3, _ limit: Double) -> Bool {
        abs(v.x) <= limit && abs(v.y) <= limit && abs(v.z) <= limit
    }

    /// Counts a saturated sample, and raises the condition `imuSaturated` for the gyroscope. A
    /// saturated sample is used, because its values are lower bounds of the true values.
    private mutating func noteFullScale(_ sample: IMUSample) {
        let share = parameters.fullScaleShare
        if !Self.isWithin(sample.gyro, share * parameters.gyroRange) {
            counters.gyroSaturated &+= 1
            saturatedUntil = sample.time.advanced(bySeconds: parameters.holdSeconds)
        }
        if !Self.isWithin(sample.accel, share * parameters.accelRange) {
            counters.accelClipped &+= 1
        }
    }

    private mutating func keep(_ sample: IMUSample) {
        lastTime = sample.time
        lastGyro = sample.gyro
        lastAccel = sample.accel
    }

    private mutating func noteRepetition(by sample: IMUSample, dt: Double) {
        let canFreeze = canFreeze(sample)
        let isGyroFrozen = gyro.note(
            isSame: canFreeze && sample.gyro == lastGyro, dt: dt,
            longestSeconds: parameters.frozenSeconds)
        let isAccelFrozen = accel.note(
            isSame: canFreeze && sample.accel == lastAccel, dt: dt,
            longestSeconds: parameters.frozenSeconds)
        if isGyroFrozen || isAccelFrozen { counters.frozen &+= 1 }
    }
}
