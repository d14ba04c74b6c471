internal import CMathShim

/// Plausibility check of the gyroscope against three independent sources: the acceleration that the
/// motors' torque should cause, the joints' encoders, and earlier readings of the gyroscope. The
/// principle is fault detection by analytical redundancy (Gertler: Fault Detection and Diagnosis in
/// Engineering Systems, 1998).
///
/// The reference is a predicted camera rate: the last accepted sample plus the effect of the motors
/// and of the recent disturbance torque. A conflict between the sources starts when a sample
/// deviates from the reference by more than the usual scatter. During a conflict, the prediction
/// continues without the gyroscope. The encoders decide: an unexpected rotation of the camera must
/// turn the joints by the same angle. A sample is rejected if its change is too large for motors or
/// a hand. During a conflict, all other samples are still used. If samples are rejected for
/// 3.5 ms (at least two samples) without confirmation by another source, the gyroscope is
/// considered contradicted. Therefore a single outlier has no effect, and pushes by hand are
/// tolerated. If the joints contradict the gyroscope, the gyroscope is no longer used after at most
/// 10 ms.
///
/// While the outputs are off, the samples are not checked. A gyroscope that the check has rejected
/// is then accepted again after its rate has stayed below `quietRate` for 0.1 s.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct GyroWitness: Sendable, BitwiseCopyable {
    /// Predicted rate of the camera, camera frame, rad/s. During a conflict the gyroscope does not
    /// affect the predicted rate.
    var rate: Vector3 { @_noLocks get { reference + silent } }

    /// Value of `rate` at the time of the newest sample, rad/s.
    private var reference = Vector3.zero
    /// Change of the camera's rate due to motors and disturbance since the newest sample, rad/s.
    private var silent = Vector3.zero
    /// True if another source contradicts the gyroscope, or if an implausible change has not been
    /// confirmed by any other source.
    private(set) var isContradicted = false

    /// Substitute for rejected samples, camera frame, rad/s: the rate of the last used sample plus
    /// the later effect of motors and disturbance.
    private(set) var bridged = Vector3.zero
    /// Value that `bridged` would have if the last used sample had been rejected, rad/s. If later
    /// samples repeat the last used sample, the sensor was already frozen, so `earlier` replaces
    /// `bridged`.
    private var earlier = Vector3.zero
    /// True if, during a conflict, the newest sample was rejected or equals the previous sample.
    /// While the gyroscope is doubtful, the camera's rate is `bridged`.
    var isDoubtful: Bool { @_noLocks get { isDisputed && (isRefusing || isRepeating) } }

    /// Recent joint angles from the encoders, rad.
    private var joints = JointHistory()
    private var hasJoints = false
    /// Time between the newest joint angles and the newest sample, s.
    private var sinceJoints = 0.0
    /// Time between the two newest joint angles, s.
    private var jointInterval = 0.0
    /// Smallest observed change of a joint angle, rad: an estimate of the encoders' resolution.
    private var encoderStep = Double.infinity
    private var lastJoints = AxisVector.zero
    private var hasReference = false
    /// Smoothed acceleration without the motors' effect, camera frame, rad/s².
    private var disturbance = Vector3.zero
    /// Mean square of the unexplained rate change between consecutive samples, rad²/s².
    private var scatter = 0.0
    private var isDisputed = false
    private var isRefusing = false
    private var isRepeating = false
    /// Duration for which samples have been rejected, s.
    private var refused = 0.0
    private var age = 0.0
    /// Integral of the gyroscope's rate minus the reference, since the beginning of the conflict,
    /// camera frame, rad.
    private var claimed = Vector3.zero
    /// Integral of the change of the reference since the beginning of the conflict, camera frame,
    /// rad.
    private var modelled = Vector3.zero
    private var startRate = Vector3.zero
    private(set) var images = PolarityChecks()
    private var lastRate = Vector3.zero
    private var quietTime = 0.0
    private var sampleSeconds = 0.0
    /// The handle's rate, computed from the joints and from accepted samples.
    private var handle = HandleRate()
    /// Handle's rate, computed as if the gyroscope were right in the present conflict.
    private var claimedHandle = HandleRate()

    /// Time constant of `disturbance`, s.
    private static var disturbanceMemory: Double { @_noLocks get { 0.02 } }
    /// Time constant of `scatter`, s.
    private static var scatterMemory: Double { @_noLocks get { 1 } }
    /// Largest angular acceleration that a hand, a blow or an end stop can give any camera, rad/s².
    private static var blow: Double { @_noLocks get { 3000 } }
    /// Largest angular acceleration of the handle during a conflict, rad/s², as in a runner's hand.
    private static var handleAcceleration: Double { @_noLocks get { 300 } }
    /// Time from the beginning of a conflict until the encoders can contradict the gyroscope, s.
    /// The conflict must also have lasted for four samples, because the angle of a light camera
    /// within fewer samples is uncertain. The gyroscope is also considered contradicted if its
    /// samples have been rejected for the time `hearing` without confirmation by another source.
    private static var hearing: Double { @_noLocks get { 0.0035 } }
    /// Usual upper limit of a working gyroscope's rate while the motors are off, rad/s, for example
    /// in the hand of a walking person.
    private static var quietRate: Double { @_noLocks get { 1 } }
    /// Timeout of an undecided conflict, s.
    private static var longestDispute: Double { @_noLocks get { 0.03 } }

    @_noLocks
    init() {}

    /// Longest interval between two samples that can be compared, s. After a longer one, the
    /// motors' effect is unknown.
    private static var longestInterval: Double { @_noLocks get { 0.02 } }
    /// Number of standard deviations of the rate's changes that count as noise.
    private static var noiseSigmas: Double { @_noLocks get { 8 } }
    /// Change of the rate that always counts as noise, rad/s.
    private static var leastNoise: Double { @_noLocks get { 0.05 } }
    /// Longest duration of a blow, s.
    private static var blowSeconds: Double { @_noLocks get { 0.002 } }
    /// Duration of a low rate after which a rejection ends while the motors are off, s.
    private static var quietSeconds: Double { @_noLocks get { 0.1 } }
    /// Number of sample intervals after which more than one sample has been rejected.
    private static var refusedSamples: Double { @_noLocks get { 1.5 } }

    /// Checks one sample of the gyroscope.
    ///
    /// - Parameters:
    ///   - rate: The gyroscope's rate minus its bias, camera frame, rad/s.
    ///   - measuredJoints: The encoders' angles at the time of the sample, rad; nil without
    ///     encoders.
    ///   - isRepeated: True if the sample and the gyroscope's previous sample are bit-identical.
    ///   - motors: Effect of the motors; nil while the outputs are off.
    ///   - sensorDelay: Age of the gyroscope's rate relative to the joint angles, s.
    ///   - dt: Seconds since the previous sample, more than 0.
    /// - Returns: True if the sample can be used.
    @_noLocks
    mutating func accepts(
        rate: Vector3, joints measuredJoints: AxisVector?, isRepeated: Bool, motors: Motors?,
        sensorDelay: Double, dt: Double
    ) -> Bool {
        guard rate.isFinite else { return false }
        note(measuredJoints, dt: dt)
        silent = .zero
        // The signs of an earlier run say nothing about the next one.
        if motors == nil { images = PolarityChecks() }
        guard hasReference, dt < Self.longestInterval, let motors else {
            return rest(rate: rate, dt: dt)
        }
        quietTime = 0
        let wasRepeating = isRepeating
        isRepeating = isRepeated
        sampleSeconds = dt
        pass(motors, dt: dt)
        let difference = rate - reference
        let change = rate - lastRate
        lastRate = rate
        let noise = Self.noiseSigmas * cm_sqrt(scatter) + Self.leastNoise
        let strongest = max(
            motors.strongest * dt, max(motors.jolt, Self.blow * min(dt, Self.blowSeconds)))
        // A jump of the rate cannot be a response to the motors, so it is not compared.
        if change.norm < strongest { compare(change, with: motors, dt: dt) }
        let limit = noise + strongest
        if !isDisputed {
            guard difference.norm > noise || isRepeated else {
                learn(difference, dt: dt)
                noteHandle(rate: rate, sensorDelay: sensorDelay, dt: dt)
                handle = claimedHandle
                reference = rate
                use(rate)
                return true
            }
            open()
        }
        // `bridged` is the last used sample plus the change due to motors and disturbance.
        let gained = (motors.acceleration + disturbance) * dt
        bridged += gained
        earlier += gained
        if isRepeated, !wasRepeating { bridged = earlier }
        let wasRefusing = isRefusing
        isRefusing = (rate - bridged).norm > limit
        // An outlier during a conflict starts a new conflict. Therefore the outlier's angle does
        // not affect the decision later.
        if isRefusing, !wasRefusing, age > 0 {
            reference = bridged
            open()
            isRefusing = true
        }
        if wasRefusing, !isRefusing { claimed = .zero }
        refused = isRefusing ? refused + dt : 0
        if !isRefusing { noteHandle(rate: rate, sensorDelay: sensorDelay, dt: dt) }
        claimed += (rate - reference) * dt
        // If the gyroscope's rate returns to the predicted rate, the fault was only momentary.
        if !isContradicted, !isRepeated, !isRefusing, difference.norm < noise {
            settle(rate)
            return true
        }
        switch encoders(sensorDelay: sensorDelay) {
        case true?:
            if !isContradicted {
                settle(rate)
                return true
            }
        case false?: isContradicted = true
        case nil:
            // Even in a slow loop, more than one sample must have been rejected. If a batch of
            // samples has one angle of the encoders, the encoders have the chance to confirm it.
            let batch = hasJoints && jointInterval > 1.5 * dt ? jointInterval : 0
            if refused > max(Self.hearing, batch + Self.refusedSamples * dt) {
                isContradicted = true
            } else if !isContradicted, !isRefusing, !isRepeated, age > Self.longestDispute {
                settle(rate)
                return true
            }
        }
        guard !isContradicted, !isRefusing else { return false }
        if !isRepeated { use(rate) }
        return true
    }

    /// Adopts the rate of a sample without a check, so that the motors can brake the camera while
    /// the check is switched off. Without a valid rate (nil), the effect of the motors is added.
    @_noLocks
    mutating func trust(_ rate: Vector3?, motors: Motors?, dt: Double) {
        let predicted = reference + (motors?.acceleration ?? .zero) * dt
        self = GyroWitness()
        reference = rate ?? predicted
    }

    /// Extrapolates `rate` over `dt` seconds without a sample. The next sample replaces the
    /// extrapolation by a prediction over the whole sample interval.
    @_noLocks
    mutating func wait(_ motors: Motors, dt: Double) {
        silent += (motors.acceleration + disturbance) * dt
    }

    /// Restarts the polarity checks, because the recent motion is not a response to the motors.
    @_noLocks
    mutating func forgetResponse() { images = PolarityChecks() }

    /// Extrapolates the reference over the interval between two samples, to the time of the new
    /// sample.
    @_noLocks
    private mutating func pass(_ motors: Motors, dt: Double) {
        if isDisputed {
            age += dt
            disturbance = disturbance * (1 - min(dt / Self.disturbanceMemory, 1))
        }
        reference += (motors.acceleration + disturbance) * dt
        // Like `claimed`, `modelled` sums the reference at the sampling instants.
        if isDisputed { modelled += (reference - startRate) * dt }
    }

    @_noLocks
    private mutating func note(_ new: AxisVector?, dt: Double) {
        // In a batch of samples, only the newest sample has joint angles.
        guard let new, new.isFinite else {
            sinceJoints += dt
            if sinceJoints >= Self.longestInterval { hasJoints = false }
            return
        }
        jointInterval = hasJoints ? sinceJoints + dt : dt
        // A joint without end stops can turn beyond ±180°, where an encoder's angle jumps.
        let angles = hasJoints ? lastJoints + (new - lastJoints).wrapped : new
        if hasJoints { noteStep(angles - lastJoints) } else { joints.fill(angles) }
        joints.append(angles, dt: jointInterval)
        lastJoints = angles
        sinceJoints = 0
        hasJoints = true
    }

    @_noLocks
    private mutating func noteStep(_ step: AxisVector) {
        if abs(step.yaw) > Self.rounding { encoderStep = min(encoderStep, abs(step.yaw)) }
        if abs(step.roll) > Self.rounding { encoderStep = min(encoderStep, abs(step.roll)) }
        if abs(step.pitch) > Self.rounding { encoderStep = min(encoderStep, abs(step.pitch)) }
    }

    /// Suspends the check while the outputs are off or the samples have a gap.
    @_noLocks
    private mutating func rest(rate: Vector3, dt: Double) -> Bool {
        isDisputed = false
        claimedHandle = handle
        disturbance = .zero
        // If samples were rejected before the motors were switched off, the rejection continues.
        guard isContradicted || isRefusing else {
            reference = rate
            use(rate)
            hasReference = true
            return true
        }
        quietTime = rate.norm < Self.quietRate ? quietTime + min(dt, Self.longestInterval) : 0
        if quietTime > Self.quietSeconds {
            isContradicted = false
            isRefusing = false
        }
        return false
    }

    @_noLocks
    private mutating func learn(_ difference: Vector3, dt: Double) {
        let share = dt / (Self.disturbanceMemory + dt)
        disturbance += difference * (share / dt)
        scatter += (difference.squaredNorm - scatter) * (dt / (Self.scatterMemory + dt))
    }

    @_noLocks
    private mutating func open() {
        isDisputed = true
        isRefusing = false
        refused = 0
        age = 0
        claimed = .zero
        modelled = .zero
        startRate = reference
    }

    @_noLocks
    private mutating func compare(_ change: Vector3, with motors: Motors, dt: Double) {
        guard let exerted = motors.exerted else { return images = PolarityChecks() }
        images.step(
            push: exerted * dt, gyro: change, planned: motors.planned.acceleration * dt,
            rate: lastRate - motors.planned.rate,
            PolarityCheck.Rule(scatter: scatter / 3, dt: dt))
    }

    @_noLocks
    private mutating func use(_ rate: Vector3) {
        earlier = bridged
        bridged = rate
    }

    /// Ends the conflict in favour of the gyroscope.
    @_noLocks
    private mutating func settle(_ rate: Vector3) {
        handle = claimedHandle
        isDisputed = false
        isRefusing = false
        disturbance = .zero
        reference = rate
        use(rate)
    }

    /// Smallest rotation of the joints that encoders can confirm or refute, rad.
    private static var leastTurn: Double { @_noLocks get { 3e-3 } }
    /// Largest resolution of an encoder, rad; a larger step is a motion.
    private static var largestStep: Double { @_noLocks get { 2e-3 } }
    /// Largest change of a still joint's angle, rad: the rounding error beyond ±180°.
    private static var rounding: Double { @_noLocks get { 1e-9 } }
    /// Smallest fraction of the claimed rotation with which the encoders confirm the gyroscope. The
    /// fraction is well below 1, because the encoders' angles are late.
    private static var confirmedShare: Double { @_noLocks get { 0.3 } }
    /// Number of sample intervals after which a missing rotation refutes the gyroscope. Until then,
    /// the encoders can be late.
    private static var disputedSamples: Double { @_noLocks get { 3.5 } }

    /// True if the joints confirm the angle that the gyroscope has measured in the present
    /// conflict; nil if undecided. The joint angles are delayed by the gyroscope's delay, so both
    /// angles cover the same interval.
    @_noLocks
    private mutating func encoders(sensorDelay: Double) -> Bool? {
        guard hasJoints, sinceJoints == 0 else { return nil }
        let kinematics = JointKinematics(joints: lastJoints)
        // The rate of a light camera can change considerably between two samples. Therefore the
        // integral assumes a linear change.
        let half = 0.5 * sampleSeconds
        let claim = kinematics.jointRates(relativeRate: claimed - (lastRate - reference) * half)
        let size = claim.norm
        let least =
            max(Self.leastTurn, 4 * min(encoderStep, Self.largestStep)) + 0.5
            * Self.handleAcceleration * age * age
            + max(handle.wander, claimedHandle.wander) * (age + sampleSeconds)
        guard size > least else { return nil }
        let moved =
            jointsMoved(sensorDelay: sensorDelay) - handle.rate * (age + sampleSeconds)
            - kinematics.jointRates(
                relativeRate: modelled
                    + startRate * (age + sampleSeconds) - (reference - startRate) * half)
        let product = claim.yaw * moved.yaw + claim.roll * moved.roll + claim.pitch * moved.pitch
        if product > Self.confirmedShare * size * size { return true }
        // A deviation below `least` can result from the handle's motion alone.
        guard (claim - moved).norm > least else { return nil }
        return age > max(Self.hearing, Self.disputedSamples * sampleSeconds) ? false : nil
    }

    /// Rotation of the joints since the conflict began, delayed by the gyroscope's delay, rad.
    @_noLocks
    private mutating func jointsMoved(sensorDelay: Double) -> AxisVector {
        let delay = max(sensorDelay, 0)
        return joints.value(age: delay, dt: sampleSeconds)
            - joints.value(age: delay + age + sampleSeconds, dt: sampleSeconds)
    }

    /// Updates the handle's rate: the joint rates minus the camera rate from the gyroscope. The
    /// update continues during conflicts, because an oscillating loop causes one conflict after
    /// another while the handle keeps moving.
    @_noLocks
    private mutating func noteHandle(rate: Vector3, sensorDelay: Double, dt: Double) {
        guard hasJoints, sinceJoints == 0 else { return }
        let (delay, interval) = (max(sensorDelay, 0), jointInterval)
        let step =
            joints.value(age: delay, dt: dt) - joints.value(age: delay + interval, dt: dt)
        let camera = JointKinematics(joints: lastJoints).jointRates(relativeRate: rate)
        claimedHandle.follow(step * (1 / interval) - camera, dt: interval)
    }
}
