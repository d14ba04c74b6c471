internal import CMathShim

/// Attitude to motor torque: a proportional attitude loop on the quaternion error around a PID rate loop in body
/// axes, mapped to the joints.
///
/// The commanded rate and acceleration are fed forward, so that a moving set-point needs no error to be followed. What
/// the feedback compares with is the set-point of `loopDelay` ago (less what the estimator looks ahead), because that is
/// what the measurement can show at best; without it every start of a movement would look like an error and end in
/// overshoot.
///
/// Loop thread only; constant time, no allocation. All gains are normalised by the inertia.
public struct AttitudeController: Sendable, BitwiseCopyable {
    /// What the user tunes. Axis values act about the camera's own axes: yaw about z, roll about x, pitch about y.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Attitude error to rate, 1/s.
        public var attitudeGain = AxisVector(repeating: 73)
        /// Rate error to acceleration, 1/s.
        public var rateGain = AxisVector(repeating: 162)
        /// Integrated rate error to acceleration, 1/s².
        public var rateIntegralGain = AxisVector(repeating: 7760)
        /// Angular acceleration to acceleration, 1.
        public var rateDerivativeGain = AxisVector(repeating: 0.455)
        /// Corner of the derivative's low-pass, Hz.
        public var derivativeCutoffHz = 80.0
        /// Inertia of camera and carried parts about the camera's axes, kg·m²; where the search for it starts, if
        /// `findsInertia`.
        public var inertia = AxisVector(repeating: 2.5e-3)
        /// Whether the inertia is looked for by a small probe whenever the outputs come on; without it `inertia` is taken
        /// as true.
        public var findsInertia = false
        /// Largest torque of each motor, N·m.
        public var torqueLimit = AxisVector(repeating: 0.25)
        /// Largest rate that an attitude error may command, rad/s.
        public var maxRate = 2 * Double.pi
        /// Deceleration that a large attitude error plans with, rad/s².
        public var maxAcceleration = 40.0
        /// Share of the commanded rate and acceleration that is fed forward, 0...1.
        public var feedForward = 1.0
        /// From the camera's motion to the torque that answers it, s: sensor filter, bus, actuator.
        public var loopDelay = 0.0035
        /// How far the attitude that the controller is given looks ahead of the sensor, s.
        public var attitudeLead = 0.003
        /// How fast the joints' friction is learned for its compensation, 1/s; 0 = no compensation.
        public var frictionLearningRate = 0.5
        /// Largest friction that is compensated, N·m.
        public var frictionLimit = 0.05
        /// How far a joint moves until its friction has turned over, rad.
        public var frictionBreakawayAngle = 0.9e-3

        /// The defaults: for the default plant with 3.5 ms of delay the smallest answer to a push that leaves 6 dB and
        /// 45°, which `LoopMargins` computes.
        public init() {}
    }

    /// What the user tunes; a change keeps the integrated torque.
    public var parameters: Parameters {
        @_noLocks get { tuning }
        @_noLocks set {
            let restarts =
                !(newValue.inertia == tuning.inertia)
                || newValue.findsInertia != tuning.findsInertia
            tuning = newValue
            if restarts { believeInertia() }
            distribute()
        }
    }
    /// From attitude to set-point the short way, camera frame, rad; as of the last step.
    public private(set) var attitudeError = Vector3.zero
    /// Whether a motor was asked for more than its limit in the last step.
    public private(set) var isSaturated = false

    /// Largest torque of each motor at present, N·m: the configured one, or less while a motor is hot.
    var limit: AxisVector
    /// Range of the joints; where they are measured, no torque pushes beyond it.
    var jointRange: JointRange?

    private var tuning: Parameters
    private var rollPID = PIDController()
    private var pitchPID = PIDController()
    private var yawPID = PIDController()
    private var yawFriction = FrictionCompensator()
    private var rollFriction = FrictionCompensator()
    private var pitchFriction = FrictionCompensator()
    private var friction = FrictionCompensator.Parameters()
    private var inertia: InertiaSearch
    private var lag = LagCompensator()
    private var lagCoefficients = LagCompensator.Coefficients()
    private var period = 0.0

    /// A controller at rest.
    public init(parameters: Parameters) {
        tuning = parameters
        limit = parameters.torqueLimit
        inertia = InertiaSearch(start: parameters.inertia, isKnown: !parameters.findsInertia)
        distribute()
    }

    /// The inertia about the camera's axes as found, or as configured, kg·m².
    public var learnedInertia: AxisVector { @_noLocks get { inertia.values } }

    /// Standard deviation of `learnedInertia`, natural logarithm: 0.1 is 10 %.
    public var inertiaSigma: AxisVector { @_noLocks get { inertia.sigmas } }

    /// Whether the inertia is known well enough to follow a set-point; before that the camera is held where it is.
    public var isReady: Bool { @_noLocks get { inertia.isReady } }

    /// The load that the integrals hold at present, camera frame, N·m.
    public var integralMoment: Vector3 {
        Vector3(rollPID.integralTorque, pitchPID.integralTorque, yawPID.integralTorque)
    }

    /// The friction of each joint as learned so far, N·m.
    public var learnedFriction: AxisVector {
        AxisVector(yaw: yawFriction.size, roll: rollFriction.size, pitch: pitchFriction.size)
    }

    /// One period.
    ///
    /// - Parameters:
    ///   - attitude: Estimated camera attitude, body to earth.
    ///   - rate: Camera rate without bias, body frame, rad/s.
    ///   - setpoint: Where the camera is to look now.
    ///   - joints: Joint angles, rad.
    ///   - areJointsMeasured: Whether `joints` come from encoders.
    ///   - handleRate: What a gyroscope on the handle says, handle frame, rad/s; nil without one. Friction is compensated
    ///     only with this or with encoders.
    ///   - authority: 0...1, scales the output: the soft start. At 0 the integrals are kept at zero.
    ///   - dt: Seconds since the previous call, more than 0, at most 0.1.
    /// - Returns: Torque on the outer part of each joint, N·m, within the limits. Zero, and no change of state, when an
    ///   argument is not finite or `dt` is out of range.
    @_noLocks @_noAllocation
    public mutating func step(
        attitude: Quaternion, rate: Vector3, setpoint: Setpoint, joints: AxisVector,
        areJointsMeasured: Bool = false, handleRate: Vector3? = nil, authority: Double,
        dt: Double
    ) -> AxisVector {
        guard attitude.isFinite, rate.isFinite, joints.isFinite, setpoint.isFinite,
            authority.isFinite, dt > 0, dt <= 0.1
        else { return .zero }
        let share = min(max(authority, 0), 1)
        let demand =
            moment(attitude: attitude, rate: rate, setpoint: setpoint, authority: share, dt: dt)
            + inertia.probe
        let kinematics = JointKinematics(joints: joints)
        let feedback = kinematics.torques(moment: demand)
        var wanted = feedback
        var showsFriction = areJointsMeasured
        if let handleRate, handleRate.isFinite {
            let carried = JointKinematics.attitude(joints: joints).inverseRotate(handleRate)
            let rates = kinematics.jointRates(relativeRate: rate - carried)
            wanted = feedback + frictionTorque(jointRates: rates, dt: dt)
            showsFriction = true
        } else if areJointsMeasured {
            wanted = feedback + frictionTorque(joints: joints, dt: dt)
        }
        var bounds = TorqueBounds(limit: limit)
        isSaturated = !(bounds.clamp(wanted) == wanted)
        if areJointsMeasured, let range = jointRange { bounds.keepOff(range, joints: joints) }
        let torque = bounds.clamp(wanted)
        if !(torque == wanted) {
            let excess = kinematics.moment(torques: wanted - torque)
            rollPID.unwind(excess: excess.x)
            pitchPID.unwind(excess: excess.y)
            yawPID.unwind(excess: excess.z)
        } else if showsFriction, share == 1, !inertia.isProbing {
            yawFriction.learn(feedback: feedback.yaw, parameters: friction, dt: dt)
            rollFriction.learn(feedback: feedback.roll, parameters: friction, dt: dt)
            pitchFriction.learn(feedback: feedback.pitch, parameters: friction, dt: dt)
        }
        guard share > 0 else {
            rollPID.clearIntegral()
            pitchPID.clearIntegral()
            yawPID.clearIntegral()
            return .zero
        }
        let exerted = kinematics.moment(torques: torque * share)
        if inertia.observe(moment: exerted, rate: rate, dt: dt) { distribute() }
        return torque * share
    }

    /// Back to rest: no error, no integral, no history. What was learned about the joints' friction stays.
    @_noLocks @_noAllocation
    public mutating func reset() {
        rollPID.reset()
        pitchPID.reset()
        yawPID.reset()
        yawFriction.reset()
        rollFriction.reset()
        pitchFriction.reset()
        inertia.begin(torqueLimit: tuning.torqueLimit, loopDelay: tuning.loopDelay)
        distribute()
        lag.reset()
        attitudeError = .zero
        isSaturated = false
    }

    /// The moment on the camera that the errors ask for, body frame, N·m, before any limit.
    private mutating func moment(
        attitude: Quaternion, rate: Vector3, setpoint: Setpoint, authority: Double, dt: Double
    ) -> Vector3 {
        attitudeError = attitude.error(to: setpoint.attitude)
        // The set-point at the time that the measurement shows, from its own rate and acceleration.
        let delay = loopDelay
        let age = delay - parameters.attitudeLead
        let behind = setpoint.acceleration * (0.5 * age * age) - setpoint.rate * age
        let reference = setpoint.attitude * Quaternion(rotationVector: behind)
        let toCamera = attitude.conjugate * reference
        let share = parameters.feedForward
        let feedforward = toCamera.rotate(setpoint.rate - setpoint.acceleration * delay) * share
        let acceleration = toCamera.rotate(setpoint.acceleration) * share

        let command = rateCommand(error: toCamera.rotationVector) + feedforward
        let error = command - rate
        let axes = inertia.values
        let momentum = Vector3(axes.roll * rate.x, axes.pitch * rate.y, axes.yaw * rate.z)
        let pid = Vector3(
            rollPID.demand(
                error: error.x, rate: rate.x, acceleration: 0, dt: dt, integrate: authority),
            pitchPID.demand(
                error: error.y, rate: rate.y, acceleration: 0, dt: dt, integrate: authority),
            yawPID.demand(
                error: error.z, rate: rate.z, acceleration: 0, dt: dt, integrate: authority))
        if dt != period {
            period = dt
            lagCoefficients = LagCompensator.Coefficients(delay: loopDelay, dt: dt)
        }
        let ahead = Vector3(
            axes.roll * acceleration.x, axes.pitch * acceleration.y, axes.yaw * acceleration.z)
        return lag.step(pid, lagCoefficients) + ahead + rate.cross(momentum)
    }

    /// The rate that takes an attitude error away: proportional when small, and when large no faster than a constant
    /// deceleration can still stop (the square-root controller of multicopter autopilots).
    private func rateCommand(error: Vector3) -> Vector3 {
        let gain = parameters.attitudeGain * inertia.caution * stretch
        let linear = Vector3(gain.roll * error.x, gain.pitch * error.y, gain.yaw * error.z)
        let angle = error.norm
        let speed = linear.norm
        guard angle > 0, speed > 0 else { return .zero }
        let slope = speed / angle
        let kneeAngle = parameters.maxAcceleration / (slope * slope)
        guard angle > kneeAngle else { return linear.limited(to: parameters.maxRate) }
        let braking = cm_sqrt(2 * parameters.maxAcceleration * (angle - kneeAngle / 2))
        return linear * (min(braking, parameters.maxRate) / speed)
    }

    private mutating func frictionTorque(joints: AxisVector, dt: Double) -> AxisVector {
        AxisVector(
            yaw: yawFriction.torque(joint: joints.yaw, parameters: friction, dt: dt),
            roll: rollFriction.torque(joint: joints.roll, parameters: friction, dt: dt),
            pitch: pitchFriction.torque(joint: joints.pitch, parameters: friction, dt: dt))
    }

    private mutating func frictionTorque(jointRates: AxisVector, dt: Double) -> AxisVector {
        AxisVector(
            yaw: yawFriction.torque(rate: jointRates.yaw, parameters: friction, dt: dt),
            roll: rollFriction.torque(rate: jointRates.roll, parameters: friction, dt: dt),
            pitch: pitchFriction.torque(rate: jointRates.pitch, parameters: friction, dt: dt))
    }

    /// From motion to torque, s: as configured, or longer where the probe came back later than that.
    private var loopDelay: Double { tuning.loopDelay + inertia.extraDelay }

    /// A loop with more delay than it was tuned for keeps its shape, and its margins, when every corner moves down with it.
    private var stretch: Double { loopDelay > 0 ? tuning.loopDelay / loopDelay : 1 }

    private mutating func distribute() {
        let p = parameters
        limit = p.torqueLimit
        period = 0
        friction.learningRate = p.frictionLearningRate
        friction.limit = p.frictionLimit
        friction.lead = loopDelay
        friction.breakawayAngle = p.frictionBreakawayAngle
        // Every corner of the loop moves down together, so that its shape stays stable whatever the inertia is.
        let caution = inertia.caution
        let effective = inertia.values * caution
        let integral = p.rateIntegralGain * caution * caution * (stretch * stretch)
        let proportional = p.rateGain * stretch
        yawPID.parameters = axis(
            p, proportional.yaw, integral.yaw, p.rateDerivativeGain.yaw, effective.yaw,
            p.torqueLimit.yaw)
        rollPID.parameters = axis(
            p, proportional.roll, integral.roll, p.rateDerivativeGain.roll, effective.roll,
            p.torqueLimit.roll)
        pitchPID.parameters = axis(
            p, proportional.pitch, integral.pitch, p.rateDerivativeGain.pitch, effective.pitch,
            p.torqueLimit.pitch)
    }

    private mutating func believeInertia() {
        inertia = InertiaSearch(start: tuning.inertia, isKnown: !tuning.findsInertia)
    }

    private func axis(
        _ p: Parameters, _ kp: Double, _ ki: Double, _ kd: Double, _ inertia: Double,
        _ limit: Double
    ) -> PIDController.Parameters {
        var axis = PIDController.Parameters()
        axis.kp = kp
        axis.ki = ki
        axis.kd = kd
        axis.derivativeCutoffHz = p.derivativeCutoffHz * stretch
        axis.inertia = inertia
        axis.limit = limit
        return axis
    }
}
