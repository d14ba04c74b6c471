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
public struct AttitudeController: MotorController {
    /// What the user tunes; a change keeps the integrated torque.
    public var parameters: Parameters {
        @_noLocks @inline(__always) get { tuning }
        @_noLocks set {
            let restarts =
                !(newValue.inertia == tuning.inertia)
                || newValue.findsInertia != tuning.findsInertia
                || newValue.checksInertia != tuning.checksInertia
            tuning = newValue
            if restarts { believeInertia() }
            distribute()
        }
    }
    /// From attitude to set-point the short way, camera frame, rad; as of the last step.
    public private(set) var attitudeError = Vector3.zero
    /// The motors that were asked for more than their limit in the last step.
    public private(set) var saturated = AxisSet.none

    /// Largest torque of each motor at present, N·m: the configured one, or less while a motor is hot.
    var limit: AxisVector
    /// Range of the joints; where they are measured, no torque pushes beyond it.
    var jointRange: JointRange?

    /// How much longer than a tick a sample has to last, s: it adds to the delay.
    var sampleWait = 0.0 {
        didSet { if sampleWait != oldValue { distribute() } }
    }

    private var tuning: Parameters
    private var pids = PerAxis(PIDController())
    private var friction = JointFrictions()
    private var imbalance = ImbalanceCompensator()
    /// Torques of the last moments, N·m.
    private var told = JointHistory()
    /// Camera's rate in the last period, body frame, rad/s; nil: not known.
    private var lastRate: Vector3?
    private var inertia: InertiaSearch
    private var oscillation = OscillationResponse()
    private var lag = LagCompensator()
    private var lags = PerAxis(LagCompensator.Coefficients())
    private var noise = MotorNoise()
    /// Attitude error to rate with all that slows the loop down, 1/s.
    private var attitudeGain = AxisVector.zero
    private var period = 0.0
    /// Whether a joint is beyond the end of its range.
    private var isAtStop = false
    /// What the errors alone asked for in the last step, camera frame, N·m.
    private var feedback = Vector3.zero
    /// Torques that answer the errors: the commanded ones without what the set-point, known loads and the probe ask for, N·m.
    private(set) var answer = AxisVector.zero
    /// Motion that the set-point alone asked for.
    private(set) var planned = MotorEffect.Planned()

    /// By how much longer than believed a delay is taken to be until it is measured, s: 3 dB less feedback at 3.5 ms.
    private static var unmeasured: Double { @_noLocks get { 0.0015 } }

    /// A controller at rest.
    public init(parameters: Parameters) {
        tuning = parameters
        limit = parameters.torqueLimit
        inertia = Self.search(parameters)
        distribute()
    }

    /// The inertia about the camera's axes as found, or as configured, kg·m².
    public var learnedInertia: AxisVector { @_noLocks @inline(__always) get { inertia.values } }

    /// Standard deviation of `learnedInertia`, natural logarithm: 0.1 is 10 %.
    public var inertiaSigma: AxisVector { @_noLocks @inline(__always) get { inertia.sigmas } }

    /// Whether the inertia is known well enough to follow a set-point; before that the camera is held where it is.
    public var isReady: Bool { @_noLocks @inline(__always) get { inertia.isReady } }

    /// Bar for a wrong answer to a torque.
    var responseBar: ResponseBar {
        @_noLocks @inline(__always) get {
            ResponseBar(
                findsInertia: tuning.findsInertia, isInertiaFound: inertia.isReady,
                isDelayKnown: inertia.isDelayKnown)
        }
    }

    /// The camera's axes whose gains are down because they have oscillated.
    var oscillating: AxisSet { @_noLocks @inline(__always) get { oscillation.oscillating } }

    /// The axes on which the probe that looks for the inertia has come back upside down.
    var reversed: AxisSet {
        @_noLocks @inline(__always) get { isAtStop ? .none : inertia.reversed }
    }

    /// The camera's axes whose inertia could not be found, and is looked for again later.
    var abandoned: AxisSet { @_noLocks @inline(__always) get { inertia.abandoned } }

    /// The camera's axes whose given inertia belongs to another camera.
    var stale: AxisSet { @_noLocks @inline(__always) get { inertia.stale } }

    /// The load that the integrals hold at present, camera frame, N·m.
    public var integralMoment: Vector3 {
        Vector3(
            pids.roll.integralTorque, pids.pitch.integralTorque, pids.yaw.integralTorque)
    }

    /// Mass times offset of the centre of mass as learned so far, camera frame, kg·m.
    public var learnedImbalance: Vector3 {
        @_noLocks @inline(__always) get { imbalance.imbalance }
    }

    /// Moment of the feedback above 50 Hz about the camera's axes, N·m RMS over about a second.
    public var hum: AxisVector { @_noLocks @inline(__always) get { noise.rms } }

    /// Share of stiffness that each of the camera's axes has given up to bound its hum, 0...1.
    public var calm: AxisVector { @_noLocks @inline(__always) get { noise.calm } }

    /// The friction of each joint as learned so far, N·m.
    public var learnedFriction: AxisVector { @_noLocks @inline(__always) get { friction.sizes } }

    /// As of the last period.
    var state: MotorState {
        @_noLocks @inline(__always) get {
            var state = MotorState()
            state.saturated = saturated
            state.oscillating = oscillating
            state.abandoned = abandoned
            state.stale = stale
            state.reversed = reversed
            state.isReady = isReady
            state.inertia = (learnedInertia, inertiaSigma)
            state.friction = learnedFriction
            state.imbalance = learnedImbalance
            state.hum = (hum, calm)
            state.push = .told(answer, planned: planned)
            return state
        }
    }

    /// One period. Friction is compensated only with encoders or with a gyroscope on the handle. At an
    /// authority of 0 the integrals are kept at zero.
    ///
    /// - Returns: Torques within the limits. Zero, and no change of state, when the input is not usable.
    @_noLocks @_noAllocation
    public mutating func step(_ input: ControlInput) -> MotorOutput {
        if !(input.excitation == .zero) { forgetOscillation() }
        return MotorOutput(
            enabled: true, torque: input.isUsable ? torques(input) : .zero, angle: input.joints,
            power: AxisVector(repeating: input.areJointsMeasured ? 1 : 0))
    }

    private mutating func torques(_ input: ControlInput) -> AxisVector {
        let (rate, joints, dt) = (input.rate, input.joints, input.dt)
        let (kinematics, specificForce) = (input.kinematics, input.specificForce)
        let share = min(max(input.authority, 0), 1)
        let asked = moment(
            attitude: input.attitude, rate: rate, setpoint: input.setpoint, authority: share,
            dt: dt)
        let scale = inertia.isDelayKnown ? 1 : loopDelay / (loopDelay + Self.unmeasured)
        let known = imbalance.moment(specificForce: specificForce) + inertia.probe
        var sliding = AxisVector.zero
        var showsFriction = input.areJointsMeasured
        let astray = rate - planned.rate
        if let handleRate = input.handleRate, handleRate.isFinite {
            let handle = JointKinematics.attitude(joints: joints).inverseRotate(handleRate)
            sliding = friction.torques(
                jointRates: kinematics.jointRates(relativeRate: rate - handle),
                astray: kinematics.jointRates(relativeRate: astray), dt: dt)
            showsFriction = true
        } else if input.areJointsMeasured {
            // The encoders are read with the sample that the attitude looks ahead of.
            let angle = attitudeError + astray * parameters.attitudeLead
            sliding = friction.torques(
                joints: joints, astray: kinematics.jointRates(relativeRate: -angle), dt: dt)
        }
        let wanted = kinematics.torques(moment: asked * scale + known) + sliding
        var bounds = TorqueBounds(limit: limit)
        saturated = bounds.clamp(wanted).differing(from: wanted)
        isAtStop = false
        if input.areJointsMeasured, let range = jointRange {
            bounds.keepOff(range, joints: joints)
            isAtStop = !range.contains(joints)
        }
        // A stop is a spring, and mirrors what is slower than itself.
        if isAtStop, !inertia.reversed.isEmpty { beginSearch() }
        let torque = bounds.clamp(wanted)
        if !(torque == wanted) {
            let excess = kinematics.moment(torques: wanted - torque)
            pids.change { $0.unwind(excess: excess[$1]) }
        } else if share == 1, !inertia.isProbing {
            if showsFriction {
                learnFriction(
                    rate: rate, kinematics: kinematics, specificForce: specificForce, dt: dt)
            }
            learnImbalance(specificForce: specificForce, dt: dt)
        }
        guard share > 0 else {
            clearIntegrals()
            lastRate = nil
            answer = .zero
            return .zero
        }
        told.append(torque * share, dt: dt)
        lastRate = rate
        let exerted = kinematics.moment(torques: torque * share)
        answer =
            (torque - sliding - kinematics.torques(moment: known + planned.moment * scale)) * share
        watchOscillation(
            exerted: kinematics.moment(torques: answer), rate: rate - planned.rate, dt: dt)
        if inertia.observe(moment: exerted, rate: rate, dt: dt) { distribute() }
        watchNoise(rate: rate - planned.rate, share: share, dt: dt)
        return torque * share
    }

    /// What happened since the last period is not known: the search for the inertia measures again.
    @_noLocks @_noAllocation
    mutating func forgetMotion() {
        inertia.forget()
        oscillation.forgetMotion()
    }

    /// The camera is shaken on purpose: its oscillation is nobody's fault.
    @_noLocks @_noAllocation
    private mutating func forgetOscillation() { oscillation.forgetMotion() }

    /// The integrals start from zero again; a load that they held moves the camera until they hold it again.
    @_noLocks @_noAllocation
    public mutating func clearIntegrals() {
        pids.change { pid, _ in pid.clearIntegral() }
        oscillation.forgetLoad()
    }

    /// Back to rest: no error, no integral, no history. What was learned about friction and imbalance stays.
    @_noLocks @_noAllocation
    public mutating func reset(joints: AxisVector = .zero) {
        pids.change { pid, _ in pid.reset() }
        friction.reset()
        told.fill(.zero)
        lastRate = nil
        imbalance.doubt()
        beginSearch()
        distribute()
        lag.reset()
        oscillation = OscillationResponse()
        answer = .zero
        attitudeError = .zero
        saturated = .none
    }

    private mutating func beginSearch() {
        inertia.begin(
            torqueLimit: tuning.torqueLimit, loopDelay: tuning.loopDelay + sampleWait)
    }

    /// The moment on the camera that the errors ask for, body frame, N·m, before any limit.
    private mutating func moment(
        attitude: Quaternion, rate: Vector3, setpoint: Setpoint, authority: Double, dt: Double
    ) -> Vector3 {
        attitudeError = attitude.error(to: setpoint.attitude)
        // What the measurement can show.
        let delay = loopDelay
        let reference = setpoint.earlier(by: delay - parameters.attitudeLead).attitude
        let toCamera = attitude.conjugate * reference
        let share = parameters.feedForward
        let feedforward = toCamera.rotate(setpoint.rate - setpoint.acceleration * delay) * share
        let acceleration = toCamera.rotate(setpoint.acceleration) * share

        let law = RateCommand(
            gain: attitudeGain,
            maxRate: parameters.maxRate, maxAcceleration: parameters.maxAcceleration)
        let command = law.rate(error: toCamera.rotationVector) + feedforward
        let error = command - rate
        // What the set-point moves by itself is no disturbance that the derivative should brake.
        let astray = rate - feedforward
        let axes = inertia.values
        let demand = pids.step {
            $0.demand(
                error: error[$1], rate: astray[$1], acceleration: 0, dt: dt, integrate: authority)
        }
        if dt != period {
            period = dt
            // A lead for more delay than there is would be too much gain.
            let delay = inertia.isDelayKnown ? loopDelay : 0
            let calm = noise.calm
            lags.change { $0 = LagCompensator.Coefficients(delay: delay, dt: dt, calm: calm[$1]) }
        }
        let ahead = axes.times(acceleration)
        feedback = lag.step(Vector3(demand.roll, demand.pitch, demand.yaw), lags)
        planned = MotorEffect.Planned(moment: ahead, rate: feedforward)
        return feedback + ahead + rate.cross(axes.times(rate))
    }

    /// Gains go down for as long as the motors shake the camera.
    private mutating func watchOscillation(exerted: Vector3, rate: Vector3, dt: Double) {
        guard tuning.watchesOscillation else { return }
        let change = oscillation.step(
            OscillationResponse.Loop(
                exerted: exerted, rate: rate, delay: loopDelay, limit: limit, load: integralMoment),
            inertia: &inertia, dt: dt)
        guard change != .none else { return }
        distribute()
        guard change == .lowered else { return }
        // A swing against the motors' limit has filled the integrals with what no load is.
        let load = oscillation.calmLoad
        pids.change { $0.hold(load[$1]) }
    }

    /// An axis that hums becomes calmer, where there is a lead that it can do without.
    private mutating func watchNoise(rate: Vector3, share: Double, dt: Double) {
        guard share == 1, !inertia.isProbing, oscillating.isEmpty, saturated.isEmpty else {
            return noise.pause()
        }
        let bound = loopDelay >= 2 * dt ? limit * tuning.noiseLimit : .zero
        if noise.step(feedback: feedback, rate: rate, bound: bound, dt: dt) { distribute() }
    }

    /// Friction is what the motors exert beyond what accelerates the camera and carries its known load.
    private mutating func learnFriction(
        rate: Vector3, kinematics: JointKinematics, specificForce: Vector3, dt: Double
    ) {
        guard let lastRate else { return }
        let inertial = inertia.values.times((rate - lastRate) * (1 / dt))
        let carried = inertial + imbalance.moment(specificForce: specificForce)
        friction.learn(
            residual: told.value(age: loopDelay, dt: dt) - kinematics.torques(moment: carried),
            dt: dt)
    }

    /// What is learned of a load leaves the integrals.
    private mutating func learnImbalance(specificForce: Vector3, dt: Double) {
        let learned = imbalance.learn(
            feedback: feedback, specificForce: specificForce,
            limit: tuning.torqueLimit.smallest / 2, dt: dt)
        pids.change { $0.release(learned[$1]) }
    }

    /// From motion to torque, s: as configured, or longer where the probe came back later than that.
    var loopDelay: Double {
        @_noLocks @inline(__always) get { tuning.loopDelay + sampleWait + inertia.extraDelay }
    }

    /// A loop with more delay than it was tuned for keeps its shape, and its margins, when every corner moves down with it. One with
    /// less has more margins, and stays as it was tuned.
    private var stretch: Double {
        oscillation.slack * (loopDelay > 0 ? min(1, tuning.loopDelay / loopDelay) : 1)
    }

    private mutating func distribute() {
        limit = tuning.torqueLimit
        period = 0
        friction.parameters.learningRate = tuning.frictionLearningRate
        friction.parameters.limit = min(tuning.frictionLimit, limit.smallest / 2)
        friction.parameters.lead = loopDelay
        let gains = PerAxis(yaw: gains(.yaw), roll: gains(.roll), pitch: gains(.pitch))
        attitudeGain = gains.map { $0.attitude }
        pids.change { $0.parameters = gains[$1].rate }
    }

    private mutating func believeInertia() { inertia = Self.search(tuning) }

    private static func search(_ tuning: Parameters) -> InertiaSearch {
        InertiaSearch(
            start: tuning.inertia, isKnown: !tuning.findsInertia, isChecked: tuning.checksInertia)
    }

    /// Of one axis: attitude error to rate, 1/s, and rate error to torque.
    private struct Gains: Sendable, BitwiseCopyable {
        var attitude: Double
        var rate: PIDController.Parameters
    }

    /// Gains of one axis: every corner of the loop moves down together, so that its shape stays stable whatever the inertia is.
    private func gains(_ axis: GimbalAxis) -> Gains {
        let stretch = stretch
        let caution = inertia.caution[axis]
        let root = cm_sqrt(caution)
        let share = MotorNoise.Share(calm: noise.calm[axis])
        var rate = PIDController.Parameters()
        rate.kp = tuning.rateGain[axis] * stretch * share.rate
        rate.ki =
            tuning.rateIntegralGain[axis] * caution * root * (stretch * stretch) * share.integral
        rate.kd = tuning.rateDerivativeGain[axis] * share.derivative
        rate.derivativeCutoffHz = tuning.derivativeCutoffHz * stretch * share.cutoff
        rate.inertia = inertia.values[axis] * caution
        rate.limit = tuning.torqueLimit[axis]
        return Gains(
            attitude: tuning.attitudeGain[axis] * root * stretch * share.attitude, rate: rate)
    }
}
