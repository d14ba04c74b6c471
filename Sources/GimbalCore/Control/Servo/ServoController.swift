internal import CMathShim

/// Controller for position servos: converts the camera's attitude to absolute joint angles.
///
/// A servo does not report its position, responds after a delay, and cannot be controlled by
/// torque, so feedback alone is slow. The controller therefore contains a model of the servos (pure
/// delay, lag, dead band, rate limit). Camera attitude and modelled joint angles give the attitude
/// of the handle. A tracker predicts the handle's attitude at the time when a command takes effect.
/// The controller commands the joint angles for this predicted attitude (internal model control).
/// An error of the model, such as a wrong zero offset of a servo, appears as a change of the
/// handle's attitude. Therefore the controller corrects model errors as an integral term would.
///
/// Runs on the loop thread only, in constant time and without allocation.
public struct ServoController: MotorController {
    /// Tuning of the controller.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Delay from a command to the beginning of the servo's response, s. The mean wait for the
        /// next pulse is included.
        public var delay = 0.011
        /// Time constant of the servo's internal position loop, s.
        public var lag = 0.004
        /// Interval between two changes of a servo's command, s: the period of its pulses, or of a
        /// slower loop.
        public var frame = 1 / 333.0
        /// Dead band, rad: the smallest difference between commanded and actual horn angle at which
        /// the servo moves.
        public var deadBand = 0.2 * Double.pi / 180
        /// Delay from the camera's motion to the sample that contains this motion, s.
        public var sensorDelay = 0.0015
        /// Bandwidth of the handle's rate estimate for the look-ahead, rad/s. With a lower
        /// bandwidth, less noise reaches the camera; with a higher bandwidth, the servos compensate
        /// faster motion.
        public var trackerBandwidth = 62.0
        /// Bandwidth of the filter for the handle's rate if a second IMU measures the rate, rad/s.
        public var measuredTrackerBandwidth = 250.0
        /// Gain with which the handle's attitude is corrected towards the attitude computed from
        /// camera and servos, 1/s. The gain applies if a second IMU measures the handle's rate.
        public var trackerLeaning = 20.0
        /// Scale factor for the bandwidth of the handle's rate estimate, for each axis of the
        /// handle.
        public var bandwidth = AxisVector(repeating: 1)
        /// Loop gain: the fraction of an unmodelled attitude error that is removed by one
        /// correction. A gain of 1 removes the whole error. Without look-ahead, the stability limit
        /// is a gain of 2.
        public var loopGain = AxisVector(repeating: 1)
        /// Scale factor for the look-ahead: the prediction of the handle's motion until a command
        /// takes effect.
        public var lookAhead = AxisVector(repeating: 1)
        /// Largest rate of the servos, rad/s.
        public var maxRate = AxisVector(repeating: 600 * Double.pi / 180)
        /// Lower end of each joint's range, rad.
        public var minimum = AxisVector(repeating: -1.5)
        /// Upper end of each joint's range, rad.
        public var maximum = AxisVector(repeating: 1.5)
        /// True if the gains are reduced after the servos have made the camera oscillate.
        public var watchesOscillation = true
        /// True if the servos ignore a part of the handle's fast motion, because the prediction
        /// would amplify it (see `FollowedShare`).
        public var leavesTremor = true

        /// Default parameters of the controller, tuned for the default servo.
        public init() {}
    }

    /// Tuning of the controller.
    public var parameters: Parameters
    /// Shortest rotation from attitude to set-point in the last step, camera frame, rad.
    public private(set) var attitudeError = Vector3.zero
    /// The joints whose command exceeded their range or their servo's rate in the last step.
    public private(set) var saturated = AxisSet.none
    /// Joint angles that the last command requested, rad.
    public private(set) var joints = AxisVector.zero
    /// Joint angles according to the model of the servos, rad: the source of joint angles without
    /// encoders.
    public private(set) var modelledJoints = AxisVector.zero

    /// Joint rates according to the model of the servos, rad/s.
    private(set) var modelledRates = AxisVector.zero
    /// Largest change of the joint rates within one sample period due to the servos' commands,
    /// rad/s.
    private(set) var jolts = AxisVector.zero

    private var history = JointHistory(spacing: JointHistory.servoSpacing)
    private var servoModels = PerAxis(ServoPositionModel(angle: 0))
    /// Low-pass-filtered attitude error, rad. The loop gain does not apply to this filtered error.
    /// If the loop gain applied to the filtered error, a low gain would leave a permanent error
    /// within the dead band.
    private var lasting = Vector3.zero
    private var handleMotion = HandleTracker()
    private var followed = FollowedShare()
    private var shaking = OscillationGuard(least: Self.leastShare)
    /// Commanded joint rates in the last step, rad/s.
    private var commandedRates = AxisVector.zero

    /// Smallest scale factor for the gains after oscillations. The commands then change so slowly
    /// that the delay of any servo is negligible.
    private static var leastShare: Double { @_noLocks get { 1 / 8.0 } }
    /// Corner frequency of the commands' low-pass while the gains are reduced, rad/s. The corner
    /// frequency is multiplied by the scale factor for the gains. At full gains, the commands are
    /// not filtered.
    private static var softest: Double { @_noLocks get { 240 } }
    /// Threshold of the commanded rate's RMS for an oscillation, rad/s. Dead bands and sensor noise
    /// cause rates below this threshold.
    private static var stir: Double { @_noLocks get { 0.35 } }
    /// Time constant of the fastest servo's position loop, s.
    private static var shortestLag: Double { @_noLocks get { 2e-3 } }
    /// Lower limit of the frequencies that are checked for an oscillation, rad/s. The motion of a
    /// hand has lower frequencies.
    private static var hand: Double { @_noLocks get { 2 * .pi * 8 } }

    /// Creates a controller whose servos are at zero.
    public init(parameters: Parameters) { self.parameters = parameters }

    /// State of the servos after the last control period.
    var state: MotorState {
        @_noLocks @inline(always) get {
            var state = MotorState()
            state.saturated = saturated
            state.oscillating = oscillating
            state.jolts = jolts
            state.followed = followed.share
            state.modelledJoints = modelledJoints
            return state
        }
    }

    /// Computes the joint angles to command in one control period. The input's authority limits the
    /// change of the command: it is the fraction of the distance to the desired command. If the
    /// authority is 0, the command does not change.
    ///
    /// - Returns: Commanded joint angles within the joints' range; unchanged if the input is not
    ///   usable.
    @_noLocks @_noAllocation
    public mutating func step(_ input: ControlInput) -> MotorOutput {
        if input.isUsable { command(input) }
        return MotorOutput(enabled: true, angle: joints, power: AxisVector(repeating: 1))
    }

    /// Time constant of the lasting attitude error, s. `loopGain` does not apply to an error that
    /// lasts longer, because the prediction removes such an error.
    static var lastingSeconds: Double { @_noLocks @_noAllocation get { 0.5 } }

    private mutating func command(_ input: ControlInput) {
        let (attitude, rate, setpoint, dt) = (
            input.attitude, input.rate, input.setpoint, input.dt
        )
        let excitation = AxisVector(
            yaw: input.excitation.z, roll: input.excitation.x, pitch: input.excitation.y)
        attitudeError = attitude.error(to: setpoint.attitude)
        lasting += (attitudeError - lasting) * (dt / (Self.lastingSeconds + dt))
        let arrived = history.value(age: parameters.delay + parameters.sensorDelay, dt: dt)
        let before = modelledJoints
        let p = parameters
        modelledJoints = servoModels.step {
            $0.follow(
                arrived[$1],
                ServoPositionModel.Parameters(
                    lag: p.lag, deadBand: p.deadBand, maxRate: p.maxRate[$1]),
                dt: dt)
        }
        modelledRates = (modelledJoints - before) * (1 / dt)
        noteJolts(dt: dt)

        // Current attitude and rate of the handle.
        let relative = JointKinematics.attitude(joints: modelledJoints)
        let kinematics = JointKinematics(joints: modelledJoints)
        // Attitude and modelled joint angles must both refer to the sampling instant.
        let sampled = attitude * Quaternion(rotationVector: rate * -input.attitudeLead)
        let handle = sampled * relative.conjugate
        watchOscillation(
            commanded: kinematics.relativeRate(jointRates: commandedRates), rate: rate,
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

        // Handle attitude and set-point, predicted for the time when the command takes effect.
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
        // The angles are continued beyond ±180°, where a servo cannot turn on.
        let angles = JointKinematics.joints(attitude: predicted.conjugate * goal)
        let wanted = joints + (angles - joints).wrapped
        move(towards: wanted + excitation, authority: min(max(input.authority, 0), 1), dt: dt)
        history.append(joints, dt: dt)
    }

    /// Restarts the controller under the assumption that the servos are at `joints`, rad.
    @_noLocks @_noAllocation
    public mutating func reset(joints: AxisVector = .zero) {
        self.joints = joints
        modelledJoints = joints
        modelledRates = .zero
        jolts = .zero
        servoModels.change { $0 = ServoPositionModel(angle: joints[$1]) }
        history.fill(joints)
        handleMotion = HandleTracker()
        followed = FollowedShare()
        shaking = OscillationGuard(least: Self.leastShare)
        commandedRates = .zero
        lasting = .zero
        attitudeError = .zero
        saturated = .none
    }

    /// The camera axes with a detected oscillation. The gains remain reduced until the outputs are
    /// switched on again.
    var oscillating: AxisSet { @_noLocks get { shaking.oscillating } }

    /// Restarts the check for oscillations, because the camera's recent motion is unknown.
    @_noLocks
    mutating func forgetMotion() { shaking.forgetMotion() }

    /// Part of the handle's predicted rotation that the servos do not compensate, handle frame,
    /// rad.
    private mutating func tremorLeft(
        turn: Vector3, lead: Vector3, learns: Bool, dt: Double
    ) -> Vector3 {
        guard parameters.leavesTremor else {
            followed = FollowedShare()
            return .zero
        }
        return followed.step(turn: turn, lead: lead, servo: parameters, learns: learns, dt: dt)
    }

    /// Updates `jolts`, the largest change of the joint rates. The horn of the modelled servo turns
    /// continuously. A real servo receives all changes of the command within a pulse period at
    /// once, and responds within its lag. Therefore, at a low pulse rate, the real horn turns
    /// several times as fast as the modelled horn and rests between two pulses.
    private mutating func noteJolts(dt: Double) {
        let p = parameters
        let mean = p.delay + p.sensorDelay
        let step =
            history.value(age: max(mean - 0.5 * p.frame, 0), dt: dt)
            - history.value(age: mean + 0.5 * p.frame, dt: dt)
        // The period of a slow loop is longer than the lag, but does not slow the horn.
        let lag = max(p.lag, min(dt, Self.shortestLag))
        // Remaining fraction of a command step after one pulse period.
        let rest = cm_exp(-p.frame / lag)
        func jolt(_ step: Double, _ modelled: Double, _ limit: Double) -> Double {
            max(min(abs(step) / lag, limit) * (1 + rest), 2 * abs(modelled))
        }
        jolts = AxisVector(
            yaw: jolt(step.yaw, modelledRates.yaw, p.maxRate.yaw),
            roll: jolt(step.roll, modelledRates.roll, p.maxRate.roll),
            pitch: jolt(step.pitch, modelledRates.pitch, p.maxRate.pitch))
    }

    /// Checks whether the servos make the camera oscillate.
    private mutating func watchOscillation(
        commanded: Vector3, rate: Vector3, isExcited: Bool, dt: Double
    ) {
        guard parameters.watchesOscillation else {
            shaking = OscillationGuard(least: Self.leastShare)
            return
        }
        guard !isExcited else { return shaking.forgetMotion() }
        func sight(_ commanded: Double, _ rate: Double) -> OscillationWatch.Signals {
            OscillationWatch.Signals(
                commanded: commanded, rate: rate, floor: Self.stir, corner: Self.hand,
                followsHand: true)
        }
        let lowered = shaking.step(
            yaw: sight(commanded.z, rate.z), roll: sight(commanded.x, rate.x),
            pitch: sight(commanded.y, rate.y),
            dt: dt)
        // If the oscillation decays with the lower gains, no further reduction is necessary.
        if !lowered.isEmpty { shaking.forgetMotion() }
    }

    /// Smoothing factor of the command: its change in one period, as a fraction of the distance to
    /// the desired command; below 1 after an oscillation. The smallest factor of the three axes
    /// applies to all servos, because all servos have the same assumed delay. If this delay is
    /// wrong, the axis with the smallest stability margin oscillates first.
    private func softness(dt: Double) -> Double {
        let share = min(shaking.share.yaw, min(shaking.share.roll, shaking.share.pitch))
        guard share < 1 else { return 1 }
        let cutOff = Self.softest * share * dt
        return cutOff / (1 + cutOff)
    }

    /// Additional correction of the attitude error `error`, camera frame, rad: the error times
    /// (loop gain - 1).
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
        // During a soft start, the rate is also limited. Therefore a reversed joint moves only a
        // little before the reversal is detected.
        let limit = parameters.maxRate * (authority * dt)
        let step = change.clamped(to: limit)
        saturated = bounded.differing(from: wanted)
        saturated.insert(step.differing(from: change))
        joints = joints + step
        commandedRates = step * (1 / dt)
    }
}
