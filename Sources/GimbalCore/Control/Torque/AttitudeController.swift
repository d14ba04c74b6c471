internal import CMathShim

/// Cascaded controller for torque motors. The outer loop is a proportional controller of the
/// quaternion error; the inner loop is a PID controller of the rate in body axes. The moment is
/// then mapped to joint torques.
///
/// The set-point's rate and acceleration are fed forward, so the camera follows a moving set-point
/// without an error. The feedback compares the measurement with an earlier set-point, because newer
/// set-points have not yet affected the measurement. The age of this set-point is `loopDelay` minus
/// the estimator's look-ahead. With the present set-point, the feedback would treat every start of
/// a movement as an error, and the movement would overshoot.
///
/// Runs on the loop thread only, in constant time and without allocation. The gains command
/// accelerations; the controller multiplies them by the inertia.
public struct AttitudeController: MotorController {
    /// Tuning of the controller.
    public var parameters: Parameters { @_noLocks @inline(__always) get { tuning } }
    /// Shortest rotation from attitude to set-point in the last step, camera frame, rad.
    public private(set) var attitudeError = Vector3.zero
    /// The motors whose command exceeded their limit in the last step.
    public private(set) var saturated = AxisSet.none

    /// Present torque limit of each motor, N·m: the configured limit, or less while the motor is
    /// hot.
    var limit: AxisVector
    /// Range of the joints. If the joints are measured, no torque pushes a joint beyond its range.
    var jointRange: JointRange?

    /// Additional loop delay if the loop is faster than the sensor, s (see `SamplePace`): the mean
    /// sample interval minus one tick period.
    var sampleWait = 0.0 {
        didSet { if sampleWait != oldValue { apply(tuning) } }
    }
    /// Part of the tuning's loop delay that does not exist, because the samples are newer than
    /// assumed, s.
    var spareWait = 0.0 {
        didSet { if spareWait != oldValue { apply(tuning) } }
    }

    private(set) var tuning: Parameters
    private var pids = PerAxis(PIDController())
    private(set) var friction = JointFrictions()
    private var imbalance = ImbalanceCompensator()
    /// Recently commanded torques, N·m.
    private var commanded = JointHistory()
    /// Camera's rate in the last period, body frame, rad/s; nil if unknown.
    private var lastRate: Vector3?
    private(set) var inertia: InertiaSearch
    private(set) var oscillation = OscillationResponse()
    private var lag = LagCompensator()
    private var noise = MotorNoise()
    /// Gain from attitude error to commanded rate, including all reductions, 1/s.
    private var attitudeGain = AxisVector.zero
    /// True if a joint is beyond the end of its range.
    private var isAtStop = false
    /// Feedback moment of the last step, camera frame, N·m.
    private var feedback = Vector3.zero
    /// Feedback part of the commanded torques, N·m: without the parts for set-point, known loads,
    /// friction and probe.
    private(set) var answer = AxisVector.zero
    /// Joint torques that are not explained by the camera's inertia, by its known load or by the
    /// learned friction, N·m; in the joint's positive direction; NaN if unknown.
    private(set) var unexplained = AxisVector.unknown
    /// True if the controller learns friction and imbalance; false while a hand pushes the camera.
    var learnsLoads = true
    /// Motion of the camera that the set-point alone requests.
    private(set) var planned = MotorEffect.Planned()

    /// Additional delay that is assumed before the delay has been measured, s. With a `loopDelay`
    /// of 3.5 ms, the additional delay reduces the feedback by 3 dB.
    static var unmeasuredDelay: Double { @_noLocks get { 0.0015 } }

    /// Creates a controller at rest.
    public init(parameters: Parameters) {
        tuning = parameters
        limit = parameters.torqueLimit
        inertia = Self.search(parameters)
        apply(parameters)
    }

    /// Inertia about the camera's axes, identified or configured, kg·m².
    public var learnedInertia: AxisVector { @_noLocks @inline(__always) get { inertia.values } }

    /// True if the inertia is known well enough to follow a set-point. Until the inertia is known,
    /// the camera is held at its present attitude.
    public var isReady: Bool { @_noLocks @inline(__always) get { inertia.isReady } }

    /// Thresholds at which the camera's response to a torque counts as reversed.
    var responseBar: ResponseBar {
        @_noLocks @inline(always) get {
            ResponseBar(
                findsInertia: tuning.findsInertia, isInertiaFound: inertia.isReady,
                isDelayKnown: inertia.isDelayKnown)
        }
    }

    /// The camera axes whose gains are reduced after an oscillation.
    var oscillating: AxisSet { @_noLocks @inline(always) get { oscillation.oscillating } }

    /// Load moment that the integrals compensate, camera frame, N·m.
    public var integralMoment: Vector3 {
        Vector3(
            pids.roll.integralTorque, pids.pitch.integralTorque, pids.yaw.integralTorque)
    }

    /// Learned product of mass and centre-of-mass offset, camera frame, kg·m.
    public var learnedImbalance: Vector3 {
        @_noLocks @inline(__always) get { imbalance.imbalance }
    }

    /// Learned friction of each joint, N·m; zero while it is not compensated.
    public var learnedFriction: AxisVector { @_noLocks @inline(__always) get { friction.inUse } }

    /// State of the motors after the last control period.
    var state: MotorState {
        @_noLocks @inline(always) get {
            var state = MotorState()
            state.saturated = saturated
            state.oscillating = oscillating
            state.abandoned = inertia.abandoned
            state.stale = inertia.stale
            state.reversedCameraAxes = isAtStop ? .none : inertia.reversed
            state.isReady = isReady
            state.inertia = (inertia.values, inertia.sigmas)
            (state.friction, state.imbalance) = (learnedFriction, learnedImbalance)
            state.bandwidth = stretch / fastest
            state.hum = (noise.rms, noise.softening)
            state.unexplained = unexplained
            state.isProbing = inertia.isProbing
            state.push = .commanded(answer, planned: planned)
            return state
        }
    }

    /// Computes the torques of one control period. The controller compensates friction only with
    /// encoders or with a gyroscope on the handle. If the authority is 0, the integrals are reset
    /// to zero.
    ///
    /// - Returns: Torques within the motors' limits. If the input is not usable, the torques are
    ///   zero, and the controller's state does not change.
    @_noLocks @_noAllocation
    public mutating func step(_ input: ControlInput) -> MotorOutput {
        if !(input.excitation == .zero) { oscillation.forgetMotion() }
        return MotorOutput(
            enabled: true, torque: input.isUsable ? torques(input) : .zero, angle: input.joints,
            power: AxisVector(repeating: input.areJointsMeasured ? 1 : 0))
    }

    private mutating func torques(_ input: ControlInput) -> AxisVector {
        let (rate, joints, dt) = (input.rate, input.joints, input.dt)
        let (kinematics, specificForce) = (input.kinematics, input.specificForce)
        let share = min(max(input.authority, 0), 1)
        let asked = moment(
            attitude: input.attitude, lead: input.attitudeLead, rate: rate,
            setpoint: input.setpoint, authority: share, dt: dt)
        let scale = inertia.isDelayKnown ? 1 : loopDelay / (loopDelay + Self.unmeasuredDelay)
        let known = imbalance.moment(specificForce: specificForce) + inertia.probe
        var sliding = AxisVector.zero
        var showsFriction = input.areJointsMeasured
        let deviation = rate - planned.rate
        if let handleRate = input.handleRate, handleRate.isFinite {
            let handle = JointKinematics.attitude(joints: joints).inverseRotate(handleRate)
            sliding = friction.torques(
                jointRates: kinematics.jointRates(relativeRate: rate - handle),
                deviation: kinematics.jointRates(relativeRate: deviation), dt: dt)
            showsFriction = true
        } else if input.areJointsMeasured {
            // The encoders' angles were measured at the sampling instant, whereas the attitude is
            // extrapolated to a later time.
            let angle = attitudeError + deviation * input.attitudeLead
            sliding = friction.torques(
                joints: joints, deviation: kinematics.jointRates(relativeRate: -angle), dt: dt)
        }
        let wanted = kinematics.torques(moment: asked * scale + known) + sliding
        var bounds = TorqueBounds(limit: limit)
        saturated = bounds.clamp(wanted).differing(from: wanted)
        isAtStop = false
        if input.areJointsMeasured, let range = jointRange {
            bounds.keepOff(range, joints: joints)
            isAtStop = !range.contains(joints)
        }
        // A joint's end stop acts as a spring. Below the natural frequency of camera and spring,
        // the response has the opposite sign, as with a reversed motor.
        if isAtStop, !inertia.reversed.isEmpty { beginSearch() }
        let torque = bounds.clamp(wanted)
        let residual = residual(
            rate: rate, kinematics: kinematics, specificForce: specificForce, dt: dt)
        unexplained = friction.explained - residual
        if !(torque == wanted) {
            let excess = kinematics.moment(torques: wanted - torque)
            pids.change { $0.unwind(excess: excess[$1]) }
        } else if share == 1, !inertia.isProbing, learnsLoads, input.excitation == .zero {
            if showsFriction, !residual.yaw.isNaN { friction.learn(residual: residual, dt: dt) }
            learnImbalance(specificForce: specificForce, dt: dt)
        }
        guard share > 0 else {
            clearIntegrals()
            lastRate = nil
            answer = .zero
            return .zero
        }
        commanded.append(torque * share, dt: dt, covering: loopDelay)
        lastRate = rate
        let exerted = kinematics.moment(torques: torque * share)
        answer =
            (torque - sliding - kinematics.torques(moment: known + planned.moment * scale)) * share
        watchOscillation(
            exerted: kinematics.moment(torques: answer), rate: rate - planned.rate, dt: dt)
        if inertia.observe(moment: exerted, rate: rate, dt: dt) {
            apply(tuning)
            oscillation.expectTransient()
        }
        watchNoise(rate: rate - planned.rate, share: share, dt: dt)
        return torque * share
    }

    /// Restarts the measurement of the inertia, because the motion since the last period is
    /// unknown.
    @_noLocks @_noAllocation
    mutating func forgetMotion() {
        inertia.forget()
        oscillation.forgetMotion()
    }

    /// Resets the integrals to zero. A load that the integrals compensated then moves the camera
    /// until the integrals have grown again.
    @_noLocks @_noAllocation
    public mutating func clearIntegrals() {
        pids.change { pid, _ in pid.clearIntegral() }
        oscillation.forgetLoad()
    }

    /// Clears the errors, the integrals and the history of the controller. The learned friction and
    /// imbalance do not change.
    @_noLocks @_noAllocation
    public mutating func reset(joints: AxisVector = .zero) {
        pids.change { pid, _ in pid.reset() }
        friction.reset()
        commanded.fill(.zero)
        lastRate = nil
        imbalance.resetCovariance()
        beginSearch()
        oscillation.reset()
        apply(tuning)
        lag.reset()
        answer = .zero
        attitudeError = .zero
        saturated = .none
    }

    private mutating func beginSearch() {
        inertia.begin(
            torqueLimit: tuning.torqueLimit, loopDelay: loopDelay - inertia.extraDelay)
    }

    /// Requested moment on the camera, body frame, N·m, before any limit.
    private mutating func moment(
        attitude: Quaternion, lead: Double, rate: Vector3, setpoint: Setpoint, authority: Double,
        dt: Double
    ) -> Vector3 {
        attitudeError = attitude.error(to: setpoint.attitude)
        // The measurement responds to the set-point of one loop delay ago, not to newer set-points.
        let delay = loopDelay
        let reference = setpoint.earlier(by: delay - lead).attitude
        let toCamera = attitude.conjugate * reference
        let share = parameters.feedForward
        let feedforward = toCamera.rotate(setpoint.rate - setpoint.acceleration * delay) * share
        let acceleration = toCamera.rotate(setpoint.acceleration) * share

        let law = RateCommand(
            gain: attitudeGain,
            maxRate: parameters.maxRate, maxAcceleration: parameters.maxAcceleration)
        let command = law.rate(error: toCamera.rotationVector) + feedforward
        let error = command - rate
        // The derivative acts on the rate relative to the set-point; it therefore does not oppose
        // the set-point's motion.
        let relative = rate - feedforward
        let axes = inertia.values
        let demand = pids.step {
            $0.demand(error: error[$1], rate: relative[$1], dt: dt, integrate: authority)
        }
        let ahead = axes.times(acceleration)
        // If the true delay were shorter than assumed, the lag compensator would raise the gain too
        // far. Therefore the compensator is off until the delay is known.
        feedback = lag.step(
            Vector3(demand.roll, demand.pitch, demand.yaw),
            delay: inertia.isDelayKnown ? delay : 0, softening: noise.softening, dt: dt)
        planned = MotorEffect.Planned(moment: ahead, rate: feedforward)
        // The gyroscopic moment grows with the square of the rate. If the assumed inertia were far
        // too large (for example, twenty times the true inertia), the computed moment would
        // accelerate the camera without limit.
        let gyroscopic = rate.cross(axes.times(rate)) * inertia.caution.smallest
        return feedback + ahead + gyroscopic
    }

    /// Reduces the gains if the control loop oscillates.
    private mutating func watchOscillation(exerted: Vector3, rate: Vector3, dt: Double) {
        guard tuning.watchesOscillation else { return }
        let change = oscillation.step(
            OscillationResponse.Loop(
                exerted: exerted, rate: rate, delay: loopDelay, limit: limit, load: integralMoment),
            inertia: &inertia, dt: dt)
        guard change != .none else { return }
        apply(tuning)
        guard change == .lowered else { return }
        // During an oscillation at the motors' limit, the integrals reach values that do not
        // correspond to a load.
        let load = oscillation.calmLoad
        pids.change { $0.hold(load[$1]) }
    }

    /// Reduces the gains and the lag compensation of an axis with too much motor noise.
    private mutating func watchNoise(rate: Vector3, share: Double, dt: Double) {
        guard share == 1, !inertia.isProbing, oscillating.isEmpty, saturated.isEmpty else {
            return noise.pause()
        }
        let isChanged = noise.step(
            feedback: feedback, rate: rate, bound: limit * tuning.noiseLimit,
            isCompensated: lag.suits(delay: loopDelay), dt: dt)
        if isChanged { apply(tuning) }
    }

    /// The part of the motors' torques that neither accelerates the camera nor balances its known
    /// load, N·m: the torques of friction and unknown loads. NaN if the acceleration is unknown.
    private mutating func residual(
        rate: Vector3, kinematics: JointKinematics, specificForce: Vector3, dt: Double
    ) -> AxisVector {
        guard let lastRate else { return .unknown }
        let inertial = inertia.values.times((rate - lastRate) * (1 / dt))
        let carried = inertial + imbalance.moment(specificForce: specificForce)
        return commanded.value(age: loopDelay, dt: dt) - kinematics.torques(moment: carried)
    }

    /// Learns the camera's imbalance, and subtracts the learned part of the load from the
    /// integrals.
    private mutating func learnImbalance(specificForce: Vector3, dt: Double) {
        let learned = imbalance.learn(
            feedback: feedback, specificForce: specificForce,
            limit: tuning.torqueLimit.smallest / 2, dt: dt)
        pids.change { $0.release(learned[$1]) }
    }

    /// Applies a tuning; the integrated torque does not change. A changed inertia is identified
    /// again. The controller also applies the present tuning when a gain reduction has changed.
    @_noLocks
    public mutating func apply(_ new: Parameters) {
        let restarts =
            !(new.inertia == tuning.inertia) || new.findsInertia != tuning.findsInertia
            || new.checksInertia != tuning.checksInertia
        let later = new.loopDelay - tuning.loopDelay
        tuning = new
        if spareWait > new.assumedWait { spareWait = new.assumedWait }
        // Without the check, nothing would end a reduction of the gains.
        if !new.watchesOscillation { oscillation.reset() }
        if restarts {
            inertia = Self.search(new)
            beginSearch()
        } else if later != 0 {
            inertia.changeAssumedDelay(by: later)
        }
        limit = new.torqueLimit
        inertia.changeTorqueLimit(to: limit)
        friction.parameters.learningRate = new.frictionLearningRate
        friction.parameters.limit = min(new.frictionLimit, limit.smallest / 2)
        friction.parameters.lead = loopDelay
        let (stretch, softening) = (stretch, noise.softening)
        let (axes, cautions) = (inertia.values, inertia.caution)
        var gain = AxisVector.zero
        pids.change { pid, axis in
            let caution = cautions[axis]
            let root = cm_sqrt(caution)
            let share = MotorNoise.Share(softening: softening[axis])
            gain[axis] = new.attitudeGain[axis] * root * stretch * share.attitude
            var rate = PIDController.Parameters()
            rate.kp = new.rateGain[axis] * stretch * share.rate
            rate.ki =
                new.rateIntegralGain[axis] * caution * root * (stretch * stretch) * share.integral
            rate.kd = new.rateDerivativeGain[axis] * share.derivative
            rate.derivativeCutoffHz = new.derivativeCutoffHz * stretch * share.cutoff
            rate.inertia = axes[axis] * caution
            rate.limit = new.torqueLimit[axis]
            pid.parameters = rate
        }
        attitudeGain = gain
    }

    private static func search(_ tuning: Parameters) -> InertiaSearch {
        InertiaSearch(
            start: tuning.inertia, isKnown: !tuning.findsInertia, isChecked: tuning.checksInertia)
    }
}
