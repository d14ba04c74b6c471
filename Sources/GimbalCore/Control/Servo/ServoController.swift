/// Attitude to absolute joint angles, for position servos.
///
/// A servo hides its position, answers after a delay, and cannot be pushed by torque, so feedback
/// alone is slow. The controller therefore carries a model of the servos (pure delay, lag, dead
/// band, rate limit): camera attitude and modelled joint angles together tell where the handle is;
/// a tracker extrapolates it to the moment at which a command takes effect, and the joints are set
/// to what will be right then (internal model control). An error of the model, such as a servo's
/// zero, appears as handle attitude and is thereby taken out like an integral would.
///
/// Loop thread only; constant time, no allocation.
public struct ServoController: MotorController {
    /// What the user tunes.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// From command to the start of the servo's answer, including half a frame of waiting, s.
        public var delay = 0.011
        /// Lag of the servo's own position loop, s.
        public var lag = 0.004
        /// How far a command must be from the horn before the servo moves, rad.
        public var deadBand = 0.2 * Double.pi / 180
        /// From the camera's motion to the sample that shows it, s.
        public var sensorDelay = 0.0015
        /// How far the attitude that the controller is given looks ahead of its sample, s.
        public var attitudeLead = 0.003
        /// Up to which frequency the handle's rate is looked ahead, rad/s: lower is calmer, higher
        /// follows faster motion.
        public var trackerBandwidth = 62.0
        /// The same where a second IMU measures the handle's rate.
        public var measuredTrackerBandwidth = 250.0
        /// How fast the handle's attitude then follows what camera and servos say, 1/s.
        public var trackerLeaning = 20.0
        /// Factor on both bandwidths for rotation about each of the handle's axes.
        public var bandwidth = AxisVector(repeating: 1)
        /// Gain of the loop: how much of an attitude error that the model does not explain is taken
        /// out at once; 1 is all of it, 2 the end of stability without look-ahead.
        public var loopGain = AxisVector(repeating: 1)
        /// Factor on how far the handle's motion is looked ahead until a command takes effect.
        public var lookAhead = AxisVector(repeating: 1)
        /// Fastest movement of the servos, rad/s.
        public var maxRate = AxisVector(repeating: 600 * Double.pi / 180)
        /// Smallest joint angle, rad.
        public var minimum = AxisVector(repeating: -1.5)
        /// Largest joint angle, rad.
        public var maximum = AxisVector(repeating: 1.5)
        /// Whether gains go down where the servos make the camera oscillate.
        public var watchesOscillation = true

        /// The defaults, tuned for the default servo.
        public init() {}
    }

    /// What the user tunes.
    public var parameters: Parameters
    /// From attitude to set-point the short way, camera frame, rad; as of the last step.
    public private(set) var attitudeError = Vector3.zero
    /// The joints that were asked to leave their range or to outrun their servo in the last step.
    public private(set) var saturated = AxisSet.none
    /// The absolute joint angles commanded last, rad.
    public private(set) var joints = AxisVector.zero
    /// Where the model believes the joints to be, rad: the joint source when there is no encoder.
    public private(set) var modelledJoints = AxisVector.zero

    /// How fast the model believes the joints to turn, rad/s.
    private(set) var modelledRates = AxisVector.zero

    private var history = JointHistory()
    private var horns = PerAxis(ServoHorn(angle: 0))
    /// The error that lasts, rad: taken out whatever the loop gain, else the dead band would hold
    /// it.
    private var lasting = Vector3.zero
    private var handleMotion = HandleTracker()
    private var shaking = OscillationGuard(least: Self.leastShare)
    /// How fast the joints were commanded to turn in the last step, rad/s.
    private var toldRates = AxisVector.zero

    /// An eighth: commands are then slower than any delay of a servo.
    private static var leastShare: Double { @_noLocks get { 1 / 8.0 } }
    /// Where commands are cut off for each share of the gains, rad/s; with all of them they are
    /// not.
    private static var softest: Double { @_noLocks get { 240 } }
    /// What a dead band makes of a loop, and sensors' noise: told rates below this are no
    /// oscillation, RMS, rad/s.
    private static var stir: Double { @_noLocks get { 0.35 } }
    /// Above this a hand turns slower than what follows it, rad/s.
    private static var hand: Double { @_noLocks get { 2 * .pi * 8 } }

    /// A controller whose servos stand at zero.
    public init(parameters: Parameters) { self.parameters = parameters }

    /// As of the last period.
    var state: MotorState {
        @_noLocks @inline(__always) get {
            var state = MotorState()
            state.saturated = saturated
            state.oscillating = oscillating
            state.modelledRates = modelledRates
            state.modelledJoints = modelledJoints
            return state
        }
    }

    /// One period. The authority is how much of the way from the present command to the wanted one
    /// may be gone; at 0 the command stands still.
    ///
    /// - Returns: Absolute joint angles within the range; unchanged when the input is not usable.
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

        // Where the handle is, and how it turns.
        let relative = JointKinematics.attitude(joints: modelledJoints)
        let kinematics = JointKinematics(joints: modelledJoints)
        // Attitude and model must speak of the same instant, that of the sample.
        let sampled = attitude * Quaternion(rotationVector: rate * -parameters.attitudeLead)
        let handle = sampled * relative.conjugate
        watchOscillation(
            told: kinematics.relativeRate(jointRates: toldRates), rate: rate,
            isExcited: !(excitation == .zero), dt: dt)
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

        // Where it will be when the command takes effect, and where it is to look then.
        let horizon = p.sensorDelay + p.delay + p.lag
        let predicted = handleMotion.predicted(after: horizon, share: p.lookAhead)
        let ahead = setpoint.rate * horizon + setpoint.acceleration * (0.5 * horizon * horizon)
        let goal =
            setpoint.attitude
            * Quaternion(rotationVector: ahead + surplus(of: attitudeError - lasting))
        let wanted = JointKinematics.joints(attitude: predicted.conjugate * goal)
        move(towards: wanted + excitation, authority: min(max(input.authority, 0), 1), dt: dt)
        history.append(joints, dt: dt)
    }

    /// Starts afresh with the servos believed to stand at `joints`, rad.
    @_noLocks @_noAllocation
    public mutating func reset(joints: AxisVector = .zero) {
        self.joints = joints
        modelledJoints = joints
        modelledRates = .zero
        horns.change { $0 = ServoHorn(angle: joints[$1]) }
        history.fill(joints)
        handleMotion = HandleTracker()
        shaking = OscillationGuard(least: Self.leastShare)
        toldRates = .zero
        lasting = .zero
        attitudeError = .zero
        saturated = .none
    }

    /// The camera's axes on which an oscillation was seen; the gains are down until the outputs
    /// come on again.
    var oscillating: AxisSet { @_noLocks get { shaking.oscillating } }

    /// What the camera did lately is not known.
    @_noLocks
    mutating func forgetMotion() { shaking.forgetMotion() }

    /// Looks for an oscillation of the loop.
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
        // What dies away with the lower gains is no reason for still lower ones.
        if !lowered.isEmpty { shaking.forgetMotion() }
    }

    /// Share of the way to the wanted command that is gone in a period: all of it, or less where
    /// the servos shook the camera. They have one delay, and a wrong one makes the loosest axis
    /// swing first.
    private func softness(dt: Double) -> Double {
        let share = min(shaking.share.yaw, min(shaking.share.roll, shaking.share.pitch))
        guard share < 1 else { return 1 }
        let cutOff = Self.softest * share * dt
        return cutOff / (1 + cutOff)
    }

    /// The part of an error, camera frame, rad, by which a loop gain other than 1 goes beyond it or
    /// stays behind.
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
        // A soft start is slow as well: what answers the wrong way round must not have gone far
        // when that is seen.
        let limit = parameters.maxRate * (authority * dt)
        let step = change.clamped(to: limit)
        saturated = bounded.differing(from: wanted)
        saturated.insert(step.differing(from: change))
        joints = joints + step
        toldRates = step * (1 / dt)
    }
}
