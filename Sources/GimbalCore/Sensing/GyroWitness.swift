internal import CMathShim

/// Whether the gyroscope can be believed, by the witnesses that it has: the motors' torque over the inertia, the joints'
/// encoders, and its own history. In the literature this is fault detection by analytical redundancy (Gertler,
/// "Fault Detection and Diagnosis in Engineering Systems", 1998).
///
/// The reference is the rate that the camera must have by the last believed sample, the motors' acceleration and the
/// disturbance of the last moments. A sample that leaves the reference by more than its usual scatter opens a dispute.
/// During a dispute the reference goes on without the gyroscope, and the encoders decide: a camera that turns otherwise than
/// expected turns its joints as much. A change that neither motors nor a hand can exert is refused; where no witness confirms
/// it within four samples, the gyroscope is contradicted. A smaller change is used meanwhile. So a single wild sample costs
/// nothing, a hand may push as it likes, and a gyroscope that the joints contradict is given up within 10 ms.
///
/// With the outputs off nothing is judged; a gyroscope that was contradicted is believed again once it has been calm for
/// a tenth of a second.
///
/// Loop thread only; constant time, no allocation.
struct GyroWitness: Sendable, BitwiseCopyable {
    /// What the motors do.
    struct Motors: Sendable, BitwiseCopyable {
        /// Acceleration of the camera by its motors when the sample was measured, as far as the gyroscope has no part in it,
        /// camera frame, rad/s².
        var acceleration: Vector3
        /// The part that answers the camera's errors, or without encoders all of it by the rotors' places, which the gyroscope shows,
        /// camera frame, rad/s²; nil where it is not known.
        var exerted: Vector3?
        /// Rate and acceleration of the set-point, as the sample can show them, camera frame, rad/s and rad/s².
        var planned: (rate: Vector3, acceleration: Vector3)
        /// The largest change of the rate that can be believed without a witness, rad/s²: what the motors can exert on
        /// a camera of a third of the believed inertia.
        var strongest: Double

        @_noLocks
        init(
            acceleration: Vector3, exerted: Vector3?,
            planned: (rate: Vector3, acceleration: Vector3) = (.zero, .zero), strongest: Double
        ) {
            self.acceleration = acceleration
            self.exerted = exerted
            self.planned = planned
            self.strongest = strongest
        }
    }

    /// The rate of the camera as far as it is known without a disputed gyroscope, camera frame, rad/s.
    var rate: Vector3 { @_noLocks get { reference + silent } }

    /// The same when the newest sample was measured.
    private var reference = Vector3.zero
    /// What motors and disturbance have added to it since, rad/s.
    private var silent = Vector3.zero
    /// Whether a witness contradicts the gyroscope, or none confirms what can hardly be.
    private(set) var isContradicted = false

    /// The last rate that was used plus what motors and disturbance have added since, camera frame, rad/s.
    private(set) var bridged = Vector3.zero
    /// The same without the last rate that was used, which was frozen already if it is repeated.
    private var earlier = Vector3.zero
    /// The newest sample is refused, or repeats the one before: the camera's rate is then `bridged`.
    var isDoubtful: Bool { @_noLocks get { isDisputed && (isRefusing || isRepeating) } }

    /// The joints as encoders measured them, rad.
    private var joints = JointHistory()
    private var hasJoints = false
    /// The smallest step that the encoders have made, rad.
    private var encoderStep = Double.infinity
    private var lastJoints = AxisVector.zero
    private var hasReference = false
    /// Acceleration that the motors do not explain, smoothed, rad/s².
    private var disturbance = Vector3.zero
    /// Mean square of the change that is not explained from one sample to the next, rad²/s².
    private var scatter = 0.0
    private var isDisputed = false
    private var isRefusing = false
    private var isRepeating = false
    /// For how long samples have been refused, s.
    private var refused = 0.0
    private var age = 0.0
    /// Angle that the gyroscope claims beyond the reference since the dispute began, rad.
    private var claimed = Vector3.zero
    /// Angle of the reference beyond the rate with which the dispute began, rad.
    private var modelled = Vector3.zero
    private var startRate = Vector3.zero
    private var images = MirrorImages()
    private var lastRate = Vector3.zero
    private var calm = 0.0
    private var sampleSeconds = 0.0
    /// The handle's motion as the joints show it, by the samples that are believed.
    private var handle = HandleRate()
    /// The same if the gyroscope is right in this dispute.
    private var claimedHandle = HandleRate()

    /// Time constant of `disturbance`, s.
    private static var disturbanceMemory: Double { @_noLocks get { 0.02 } }
    /// Time constant of `scatter`, s.
    private static var scatterMemory: Double { @_noLocks get { 1 } }
    /// What a hand, a blow or a stop can exert on any camera, rad/s².
    private static var blow: Double { @_noLocks get { 3000 } }
    /// The handle's rate may change by this during a dispute, rad/s²: a runner's does.
    private static var handleAcceleration: Double { @_noLocks get { 300 } }
    /// No witness is heard against the gyroscope before this, and for so long a refused one waits for a witness, s.
    private static var hearing: Double { @_noLocks get { 0.0035 } }
    /// Below this a camera without motors is calm, as in the hand of a person who walks, rad/s.
    private static var calmRate: Double { @_noLocks get { 1 } }
    /// A dispute that no witness can decide ends, s.
    private static var longestDispute: Double { @_noLocks get { 0.03 } }

    @_noLocks
    init() {}

    /// Judges one sample.
    ///
    /// - Parameters:
    ///   - rate: The gyroscope's rate less its bias, camera frame, rad/s.
    ///   - measuredJoints: What the encoders say at the same time, rad; nil without.
    ///   - isRepeated: Whether the gyroscope repeated its last sample to the bit.
    ///   - motors: What the motors do; nil while the outputs are off.
    ///   - sensorDelay: How much older the gyroscope's rate is than the joints' angles, s.
    ///   - dt: Seconds since the sample before, more than 0.
    /// - Returns: Whether the sample may be used.
    @_noLocks
    mutating func believes(
        rate: Vector3, joints measuredJoints: AxisVector?, isRepeated: Bool, motors: Motors?,
        sensorDelay: Double, dt: Double
    ) -> Bool {
        guard rate.isFinite else { return false }
        note(measuredJoints, dt: dt)
        silent = .zero
        guard hasReference, dt < 0.02, let motors else {
            return rest(rate: rate, dt: dt)
        }
        calm = 0
        let wasRepeating = isRepeating
        isRepeating = isRepeated
        sampleSeconds = dt
        pass(motors, dt: dt)
        let difference = rate - reference
        let change = rate - lastRate
        lastRate = rate
        let noise = 8 * cm_sqrt(scatter) + 0.05
        let strongest = max(motors.strongest * dt, Self.blow * min(dt, 0.002))
        // A jump is no answer.
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
        // From the last sample that was used, or from where the motors have taken the camera since.
        let gained = (motors.acceleration + disturbance) * dt
        bridged += gained
        earlier += gained
        if isRepeated, !wasRepeating { bridged = earlier }
        let wasRefusing = isRefusing
        isRefusing = (rate - bridged).norm > limit
        // A wild sample opens a dispute of its own, and what it claimed says nothing about those after it.
        if isRefusing, !wasRefusing, age > 0 {
            reference = bridged
            open()
            isRefusing = true
        }
        if wasRefusing, !isRefusing { claimed = .zero }
        refused = isRefusing ? refused + dt : 0
        if !isRefusing { noteHandle(rate: rate, sensorDelay: sensorDelay, dt: dt) }
        claimed += (rate - reference) * dt
        // A gyroscope that comes back to where it should be had a hiccup.
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
            // One wild sample is one, however slow the loop.
            if refused > max(Self.hearing, 1.5 * dt) {
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

    /// Lets time pass without a sample. The next sample says anew what has happened since the last one, so nothing is counted twice.
    @_noLocks
    mutating func wait(_ motors: Motors, dt: Double) {
        silent += (motors.acceleration + disturbance) * dt
    }

    /// Takes the reference to the time of a sample.
    @_noLocks
    private mutating func pass(_ motors: Motors, dt: Double) {
        if isDisputed {
            age += dt
            disturbance = disturbance * (1 - min(dt / Self.disturbanceMemory, 1))
        }
        reference += (motors.acceleration + disturbance) * dt
        // Both this and what is claimed count from the reference at the samples.
        if isDisputed { modelled += (reference - startRate) * dt }
    }

    /// The camera's axes about which the gyroscope shows the mirror image of what the motors do: it or a motor has changed its
    /// sign. Both are stopped alike.
    var mirrored: AxisSet { @_noLocks get { images.mirrored } }

    /// The camera's rate now, camera frame, rad/s, where a sign is wrong: on each axis the gyroscope's with the sign that the
    /// answers to the motors show, nothing where they do not show any.
    ///
    /// - Parameters:
    ///   - gyro: The gyroscope's rate less its bias, camera frame, rad/s.
    ///   - reversed: The axes that are known to answer the wrong way round.
    /// - Returns: The rate; finite if the gyroscope's is.
    @_noLocks
    func signedRate(gyro: Vector3, reversed: AxisSet) -> Vector3 {
        let sign = images.signs(reversed: reversed)
        return Vector3(gyro.x * sign.x, gyro.y * sign.y, gyro.z * sign.z)
    }

    @_noLocks
    private mutating func note(_ new: AxisVector?, dt: Double) {
        guard let new, new.isFinite else {
            hasJoints = false
            return
        }
        if !hasJoints { joints.fill(new) }
        if hasJoints { noteStep(new - lastJoints) }
        joints.append(new, dt: dt)
        lastJoints = new
        hasJoints = true
    }

    @_noLocks
    private mutating func noteStep(_ step: AxisVector) {
        if step.yaw != 0 { encoderStep = min(encoderStep, abs(step.yaw)) }
        if step.roll != 0 { encoderStep = min(encoderStep, abs(step.roll)) }
        if step.pitch != 0 { encoderStep = min(encoderStep, abs(step.pitch)) }
    }

    /// The outputs are off, or the samples have a gap: nothing is judged.
    @_noLocks
    private mutating func rest(rate: Vector3, dt: Double) -> Bool {
        isDisputed = false
        claimedHandle = handle
        disturbance = .zero
        // A refused gyroscope is no more believed because the motors have let go meanwhile.
        guard isContradicted || isRefusing else {
            reference = rate
            use(rate)
            hasReference = true
            return true
        }
        calm = rate.norm < Self.calmRate ? calm + min(dt, 0.02) : 0
        if calm > 0.1 {
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
        guard let exerted = motors.exerted else { return images = MirrorImages() }
        images.step(
            push: exerted * dt, change: change - motors.planned.acceleration * dt,
            rate: lastRate - motors.planned.rate,
            MirrorTest.Rule(scatter: scatter / 3, dt: dt))
    }

    @_noLocks
    private mutating func use(_ rate: Vector3) {
        earlier = bridged
        bridged = rate
    }

    /// The gyroscope is right.
    @_noLocks
    private mutating func settle(_ rate: Vector3) {
        handle = claimedHandle
        isDisputed = false
        isRefusing = false
        disturbance = .zero
        reference = rate
        use(rate)
    }

    /// Whether the joints have turned as the gyroscope claims; nil where they cannot tell, or not yet. Both are compared over
    /// the same time, that of the gyroscope, which is behind the joints.
    @_noLocks
    private mutating func encoders(sensorDelay: Double) -> Bool? {
        guard hasJoints else { return nil }
        let kinematics = JointKinematics(joints: lastJoints)
        // Rates at the ends of the samples; between them they go straight: a light camera swings within a few samples.
        let half = 0.5 * sampleSeconds
        let claim = kinematics.jointRates(relativeRate: claimed - (lastRate - reference) * half)
        let size = cm_sqrt(
            claim.yaw * claim.yaw + claim.roll * claim.roll + claim.pitch * claim.pitch)
        let least =
            max(3e-3, 4 * min(encoderStep, 2e-3)) + 0.5 * Self.handleAcceleration * age * age
            + max(handle.wander, claimedHandle.wander) * (age + sampleSeconds)
        guard size > least else { return nil }
        let moved =
            jointsMoved(sensorDelay: sensorDelay) - handle.rate * (age + sampleSeconds)
            - kinematics.jointRates(
                relativeRate: modelled
                    + startRate * (age + sampleSeconds) - (reference - startRate) * half)
        let product = claim.yaw * moved.yaw + claim.roll * moved.roll + claim.pitch * moved.pitch
        if product > 0.3 * size * size { return true }
        return age > Self.hearing ? false : nil
    }

    /// The joints' turn since the dispute began, delayed as the gyroscope is, rad.
    @_noLocks
    private mutating func jointsMoved(sensorDelay: Double) -> AxisVector {
        let delay = max(sensorDelay, 0)
        return joints.value(age: delay, dt: sampleSeconds)
            - joints.value(age: delay + age + sampleSeconds, dt: sampleSeconds)
    }

    /// Notes how fast the joints turn that the camera does not, because the handle does: if the gyroscope is right. A loop that swings has
    /// one dispute after the other, and a person's handle does not wait for their end.
    @_noLocks
    private mutating func noteHandle(rate: Vector3, sensorDelay: Double, dt: Double) {
        guard hasJoints else { return }
        let delay = max(sensorDelay, 0)
        let step =
            joints.value(age: delay, dt: dt) - joints.value(age: delay + dt, dt: dt)
        let camera = JointKinematics(joints: lastJoints).jointRates(relativeRate: rate)
        claimedHandle.follow(step * (1 / dt) - camera, dt: dt)
    }
}

/// How fast the handle turns, as the joints of a camera show it whose rate is known.
private struct HandleRate: Sendable, BitwiseCopyable {
    /// Rates of the joints that are not the camera's, smoothed, rad/s, and smoothed once more: the difference is how far the
    /// first is behind a handle whose rate changes.
    private(set) var rate = AxisVector.zero
    private var past = AxisVector.zero
    /// The largest such difference of late, fading, rad/s: a rate that has just changed may change back.
    private(set) var wander = 0.0

    /// Time constant of `rate`, s: an oscillation of the camera is not the handle's.
    private static var memory: Double { @_noLocks get { 0.012 } }
    /// Time constant of `wander`, s: the length of a jerk of the hand.
    private static var wanderMemory: Double { @_noLocks get { 0.05 } }

    @_noLocks
    init() {}

    /// Takes what one sample shows, rad/s, over `dt` seconds.
    @_noLocks
    mutating func follow(_ shown: AxisVector, dt: Double) {
        let share = dt / (Self.memory + dt)
        rate = rate + (shown - rate) * share
        past = past + (rate - past) * share
        let behind = rate - past
        let size = cm_sqrt(
            behind.yaw * behind.yaw + behind.roll * behind.roll + behind.pitch * behind.pitch)
        wander = max(size, wander * (1 - dt / (Self.wanderMemory + dt)))
    }
}
