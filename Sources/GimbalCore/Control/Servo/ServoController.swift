internal import CMathShim

/// Controller for position servos: attitude to absolute joint angles.
///
/// A servo does not report its position, responds after a delay, and cannot be controlled by
/// torque, so feedback alone is slow. The controller therefore contains a model of the servos (pure
/// delay, lag, dead band, rate limit). Camera attitude and modelled joint angles give the attitude
/// of the handle. A tracker extrapolates it to the moment at which a command takes effect, and the
/// joints are commanded to the angles that will be right at that moment (internal model control).
/// An error of the model, such as a wrong zero of a servo, appears as a change of the handle's
/// attitude and is corrected in this way, as an integral would correct it.
///
/// Loop thread only; constant time, no allocation.
public struct ServoController: MotorController {
    /// Tuning of the controller.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Time from a command to the beginning of the servo's response, including half a frame of
        /// waiting, s.
        public var delay = 0.011
        /// Lag of the servo's own position loop, s.
        public var lag = 0.004
        /// Time from one pulse to the next, s.
        public var frame = 1 / 333.0
        /// Smallest difference between command and horn at which the servo moves, rad.
        public var deadBand = 0.2 * Double.pi / 180
        /// Time from the camera's motion to the sample that shows it, s.
        public var sensorDelay = 0.0015
        /// Look-ahead of the given attitude beyond its sample, s.
        public var attitudeLead = 0.003
        /// Bandwidth of the handle's rate in the look-ahead, rad/s: a lower one is calmer, a higher
        /// one follows faster motion.
        public var trackerBandwidth = 62.0
        /// Bandwidth of the handle's rate if a second IMU measures it, rad/s.
        public var measuredTrackerBandwidth = 250.0
        /// Rate at which, with a second IMU, the handle's attitude is corrected towards the
        /// attitude from camera and servos, 1/s.
        public var trackerLeaning = 20.0
        /// Factor on both bandwidths for rotation about each axis of the handle.
        public var bandwidth = AxisVector(repeating: 1)
        /// Gain of the loop: the fraction of an unmodelled attitude error that one correction
        /// removes. At 1 a correction removes the whole error; 2 is the stability limit without
        /// look-ahead.
        public var loopGain = AxisVector(repeating: 1)
        /// Factor on the look-ahead of the handle's motion until a command takes effect.
        public var lookAhead = AxisVector(repeating: 1)
        /// Largest rate of the servos, rad/s.
        public var maxRate = AxisVector(repeating: 600 * Double.pi / 180)
        /// Smallest joint angle, rad.
        public var minimum = AxisVector(repeating: -1.5)
        /// Largest joint angle, rad.
        public var maximum = AxisVector(repeating: 1.5)
        /// Whether the gains are reduced when the servos make the camera oscillate.
        public var watchesOscillation = true
        /// Whether the servos ignore fast motion of the handle as far as the camera is calmer for it.
        public var leavesTremor = true

        /// The defaults, tuned for the default servo.
        public init() {}
    }

    /// Tuning of the controller.
    public var parameters: Parameters
    /// Shortest rotation from attitude to set-point, camera frame, rad, as of the last step.
    public private(set) var attitudeError = Vector3.zero
    /// The joints whose command exceeded their range or their servo's rate in the last step.
    public private(set) var saturated = AxisSet.none
    /// Last commanded absolute joint angles, rad.
    public private(set) var joints = AxisVector.zero
    /// Joint angles in the model, rad: the source of joint angles without encoders.
    public private(set) var modelledJoints = AxisVector.zero

    /// Joint rates in the model, rad/s.
    private(set) var modelledRates = AxisVector.zero
    /// Largest change of the joint rates that the commands permit within a sample, rad/s.
    private(set) var jolts = AxisVector.zero

    private var history = JointHistory()
    private var horns = PerAxis(ServoHorn(angle: 0))
    /// Lasting attitude error, rad. The controller corrects it independently of the loop gain,
    /// because otherwise the error would remain within the dead band.
    private var lasting = Vector3.zero
    private var handleMotion = HandleTracker()
    private var followed = FollowedShare()
    private var shaking = OscillationGuard(least: Self.leastShare)
    /// Commanded joint rates in the last step, rad/s.
    private var toldRates = AxisVector.zero

    /// Smallest fraction of the gains after oscillations: at 1/8 the commands change slowly
    /// compared with the delay of any servo.
    private static var leastShare: Double { @_noLocks get { 1 / 8.0 } }
    /// Corner frequency of the commands' low-pass at a gain fraction of 1, rad/s; it is
    /// proportional to the fraction. With full gains there is no low-pass.
    private static var softest: Double { @_noLocks get { 240 } }
    /// Largest RMS of the commanded rate that is not an oscillation, rad/s: a dead band and sensor
    /// noise cause such rates.
    private static var stir: Double { @_noLocks get { 0.35 } }
    /// Lower limit of the frequencies that are checked for an oscillation, rad/s; a hand moves more
    /// slowly.
    private static var hand: Double { @_noLocks get { 2 * .pi * 8 } }

    /// Creates a controller whose servos are at zero.
    public init(parameters: Parameters) { self.parameters = parameters }

    /// State as of the last period.
    var state: MotorState {
        @_noLocks @inline(__always) get {
            var state = MotorState()
            state.saturated = saturated
            state.oscillating = oscillating
            state.jolts = jolts
            state.followed = followed.share
            state.modelledJoints = modelledJoints
            return state
        }
    }

    /// Advances by one period. The input's authority is the fraction of the distance from the
    /// present to the desired command that the period can cover; at 0 the command does not change.
    ///
    /// - Returns: Absolute joint angles within the range; unchanged if the input is not usable.
    @_noLocks @_noAllocation
    public mutating func step(_ input: ControlInput) -> MotorOutput {
        if input.isUsable { command(input) }
        return MotorOutput(enabled: true, angle: joints, power: AxisVector(repeating: 1))
    }

    private mutating func command(_ input: ControlInput) {
        let (attitude, rate, setpoint, dt) = (
            input.attitude, input.rate, input.setpoint, input.dt
        )
        let excitation = AxisVector(
            yaw: input.excitation.z, roll: input.excitation.x, pitch: input.excitation.y)
        attitudeError = attitude.error(to: setpoint.attitude)
        lasting += (attitudeError - lasting) * (dt / (0.5 + dt))
        let arrived = history.value(age: parameters.delay + parameters.sensorDelay, dt: dt)
        let before = modelledJoints
        let p = parameters
        modelledJoints = horns.step {
            $0.follow(
                arrived[$1],
                ServoHorn.Parameters(lag: p.lag, deadBand: p.deadBand, maxRate: p.maxRate[$1]),
                dt: dt)
        }
        modelledRates = (modelledJoints - before) * (1 / dt)
        noteJolts(dt: dt)

        // Present attitude and rate of the handle.
        let relative = JointKinematics.attitude(joints: modelledJoints)
        let kinematics = JointKinematics(joints: modelledJoints)
        // Attitude and model must belong to the same instant, that of the sample.
        let sampled = attitude * Quaternion(rotationVector: rate * -parameters.attitudeLead)
        let handle = sampled * relative.conjugate
        watchOscillation(
            told: kinematics.relativeRate(jointRates: toldRates), rate: rate,
            isExcited: !(excitation == .zero), dt: dt)
        let earlier = handleMotion.attitude
        if let handleRate = input.handleRate, handleRate.isFinite {
            handleMotion.update(
                attitude: handle, measuredRate: handleRate,
                bandwidth: p.bandwidth * p.measuredTrackerBandwidth, leaning: p.trackerLeaning,
                dt: dt)
        } else {
            let turning = relative.rotate(rate - kinematics.relativeRate(jointRates: modelledRates))
            handleMotion.update(
                attitude: handle, rate: turning, bandwidth: p.bandwidth * p.trackerBandwidth,
                dt: dt)
        }

        // Predicted handle attitude and set-point at the time when the command takes effect.
        let horizon = p.sensorDelay + p.delay + p.lag
        let lead = handleMotion.lead(after: horizon, share: p.lookAhead)
        let tremor = tremorLeft(
            turn: earlier.error(to: handleMotion.attitude), lead: lead,
            learns: excitation == .zero, dt: dt)
        let predicted = handleMotion.attitude * Quaternion(rotationVector: lead - tremor)
        let ahead = setpoint.rate * horizon + setpoint.acceleration * (0.5 * horizon * horizon)
        let goal =
            setpoint.attitude
            * Quaternion(rotationVector: ahead + surplus(of: attitudeError - lasting))
        let wanted = JointKinematics.joints(attitude: predicted.conjugate * goal)
        move(towards: wanted + excitation, authority: min(max(input.authority, 0), 1), dt: dt)
        history.append(joints, dt: dt)
    }

    /// Starts again with the servos assumed at `joints`, rad.
    @_noLocks @_noAllocation
    public mutating func reset(joints: AxisVector = .zero) {
        self.joints = joints
        modelledJoints = joints
        modelledRates = .zero
        jolts = .zero
        horns.change { $0 = ServoHorn(angle: joints[$1]) }
        history.fill(joints)
        handleMotion = HandleTracker()
        followed = FollowedShare()
        shaking = OscillationGuard(least: Self.leastShare)
        toldRates = .zero
        lasting = .zero
        attitudeError = .zero
        saturated = .none
    }

    /// The camera axes on which an oscillation was detected; the gains stay reduced until the
    /// outputs come on again.
    var oscillating: AxisSet { @_noLocks get { shaking.oscillating } }

    /// Suspends the check for oscillations, because the camera's recent motion is unknown.
    @_noLocks
    mutating func forgetMotion() { shaking.forgetMotion() }

    /// The part of the handle's predicted turn that is not followed, handle frame, rad.
    private mutating func tremorLeft(
        turn: Vector3, lead: Vector3, learns: Bool, dt: Double
    ) -> Vector3 {
        guard parameters.leavesTremor else {
            followed = FollowedShare()
            return .zero
        }
        return followed.step(turn: turn, lead: lead, servo: parameters, learns: learns, dt: dt)
    }

    /// Updates the largest change of the joint rates. The model turns with the mean of the
    /// commands, but a horn receives all changes within a frame at once and answers them within its
    /// lag, so with slow pulses it turns several times as fast, and rests in between.
    private mutating func noteJolts(dt: Double) {
        let p = parameters
        let mean = p.delay + p.sensorDelay
        let step =
            history.value(age: max(mean - 0.5 * p.frame, 0), dt: dt)
            - history.value(age: mean + 0.5 * p.frame, dt: dt)
        let lag = max(p.lag, dt)
        // The rest of the previous answer.
        let rest = cm_exp(-p.frame / lag)
        func jolt(_ step: Double, _ modelled: Double, _ limit: Double) -> Double {
            max(min(abs(step) / lag, limit) * (1 + rest), 2 * abs(modelled))
        }
        jolts = AxisVector(
            yaw: jolt(step.yaw, modelledRates.yaw, p.maxRate.yaw),
            roll: jolt(step.roll, modelledRates.roll, p.maxRate.roll),
            pitch: jolt(step.pitch, modelledRates.pitch, p.maxRate.pitch))
    }

    /// Checks for an oscillation of the loop.
    private mutating func watchOscillation(
        told: Vector3, rate: Vector3, isExcited: Bool, dt: Double
    ) {
        guard parameters.watchesOscillation else {
            shaking = OscillationGuard(least: Self.leastShare)
            return
        }
        guard !isExcited else { return shaking.forgetMotion() }
        func sight(_ told: Double, _ rate: Double) -> OscillationWatch.Sight {
            OscillationWatch.Sight(
                told: told, rate: rate, floor: Self.stir, corner: Self.hand, followsHand: true)
        }
        let lowered = shaking.step(
            yaw: sight(told.z, rate.z), roll: sight(told.x, rate.x), pitch: sight(told.y, rate.y),
            dt: dt)
        // If an oscillation decays with the lower gains, these need not be lowered further.
        if !lowered.isEmpty { shaking.forgetMotion() }
    }

    /// Fraction of the distance to the desired command that one period covers: 1, or less after the
    /// servos have made the camera oscillate. All servos have the same delay. If that delay is
    /// wrong, the axis with the least stability margin oscillates first.
    private func softness(dt: Double) -> Double {
        let share = min(shaking.share.yaw, min(shaking.share.roll, shaking.share.pitch))
        guard share < 1 else { return 1 }
        let cutOff = Self.softest * share * dt
        return cutOff / (1 + cutOff)
    }

    /// Correction in addition to `error`, camera frame, rad: the error times the loop gain minus 1.
    private func surplus(of error: Vector3) -> Vector3 {
        let gain = parameters.loopGain
        return Vector3(
            error.x * (gain.roll - 1), error.y * (gain.pitch - 1), error.z * (gain.yaw - 1))
    }

    private mutating func move(towards wanted: AxisVector, authority: Double, dt: Double) {
        let bounded = AxisVector(
            yaw: min(max(wanted.yaw, parameters.minimum.yaw), parameters.maximum.yaw),
            roll: min(max(wanted.roll, parameters.minimum.roll), parameters.maximum.roll),
            pitch: min(max(wanted.pitch, parameters.minimum.pitch), parameters.maximum.pitch))
        let change = (bounded - joints) * (authority * softness(dt: dt))
        // A soft start is slow as well, so that a reversed joint has not moved far when that is
        // detected.
        let limit = parameters.maxRate * (authority * dt)
        let step = change.clamped(to: limit)
        saturated = bounded.differing(from: wanted)
        saturated.insert(step.differing(from: change))
        joints = joints + step
        toldRates = step * (1 / dt)
    }
}
