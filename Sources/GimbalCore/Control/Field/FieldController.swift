internal import CMathShim

/// Controller for brushless motors without encoders. From the camera's attitude and set-point, the
/// controller computes the angle of each stator's magnetic field.
///
/// The field of a stator acts on the rotor like a spring. A fixed field would drag the camera along
/// with the handle. Therefore an observer (`FieldObserver`) estimates each rotor's angle from the
/// gyroscope. The controller sets the field to the rotor's angle plus a load angle for the
/// requested torque. Therefore the motor acts as a torque motor; its largest torque is the pull-out
/// torque. If a hand turns the rotor by force, the field follows, so the rotor stays locked to the
/// field.
///
/// The electrical angle of each rotor, the inertia and the loop delay are unknown at the first
/// start. While the power ramps up, `FieldSearch` measures them with a tremor of the camera, or with
/// the motion of a falling camera. At later starts only the angles are unknown; the observers
/// determine them while the power ramps up.
///
/// Runs on the loop thread only, in constant time and without allocation.
public struct FieldController: MotorController {
    /// Tuning of the controller of motors without encoders.
    public var parameters: Parameters {
        didSet { inertias.adapt(from: oldValue, to: parameters) }
    }
    /// Shortest rotation from attitude to set-point in the last step, camera frame, rad.
    public private(set) var attitudeError = Vector3.zero
    /// The motors whose command exceeded the largest load angle in the last step.
    public private(set) var saturated = AxisSet.none
    /// Output of the last control period.
    public private(set) var output = MotorOutput(enabled: true)
    /// Joint angles from the rotor observers, rad; used if the joints have no encoders.
    public private(set) var modelledJoints = AxisVector.zero

    /// Assumed inertia about the camera's axes, kg·m²; the gains are proportional to this inertia.
    /// The value is the configured inertia until the search for the rotors has measured the
    /// inertia.
    public private(set) var inertia: AxisVector

    /// The rotors that have slipped out of their magnetic field within the last second.
    public var slipping: AxisSet {
        @_noLocks get { sinceSlip < Self.slipMemory ? lastSlipped : .none }
    }
    /// Torque of the motors at the sampling instant of the gyroscope in the last step, N·m. The
    /// torque is computed from the field's angle and power at this instant, and from the rotor's
    /// angle. The rotor's angle is derived from the motion of its joint. The computed torque does
    /// not depend on the assumed inertia.
    public private(set) var exerted = AxisVector.zero
    /// The camera axes with reduced gains after an oscillation.
    var oscillating: AxisSet { @_noLocks @inline(always) get { inertias.oscillating } }
    /// Requested torques in the last step, N·m, limited to the torques that the fields can exert.
    public private(set) var asked = AxisVector.zero
    /// True if the controller can follow a set-point: the rotors are locked, and the inertia is
    /// known.
    public private(set) var isReady = false
    /// The joints that turned opposite to their field in the last step.
    public private(set) var opposed = AxisSet.none
    /// Standard deviation of the natural logarithm of `inertia`. Before the inertia is measured,
    /// two standard deviations correspond to a factor of four.
    var inertiaSigma: AxisVector { @_noLocks @inline(always) get { inertias.sigmas } }

    /// Loop delay that the controller assumes, s (see `assumedDelay`).
    var loopDelay: Double { @_noLocks @inline(always) get { tuning.loopDelay } }

    /// True if `exerted` is reliable, because the angles of all rotors are known.
    private var isPlaced: Bool {
        @_noLocks @inline(always) get {
            !isSearching && rotors.yaw.isPlaced && rotors.roll.isPlaced && rotors.pitch.isPlaced
        }
    }

    /// Time since the soft start reached its full power, s.
    private var running = 0.0
    private var sinceSlip = Double.infinity
    private var lastSlipped = AxisSet.none
    /// Time for which a slipped rotor is reported, s.
    private static var slipMemory: Double { @_noLocks get { 1 } }
    private var power = FieldPower()
    var inertias = FieldInertia()
    private var rotors = PerAxis(FieldObserver())
    var search = FieldSearch()
    /// True if the next start must search for the rotors: until a search has ended, and after an
    /// oscillation, a lost rotor or a measurement by `RotorFit`.
    private var mustSearch = true
    /// Tuning for the measured loop delay and the reduced corner frequencies.
    private var tuning: Parameters
    private var mirrors = PerAxis(JointPolarity())
    private var fields = JointHistory()
    private var powers = JointHistory()

    /// Creates a controller. All joints are assumed to be at angle zero.
    public init(parameters: Parameters) {
        self.parameters = parameters
        inertia = parameters.inertia
        tuning = parameters
        power.reset(load, parameters)
    }

    /// State of the motors after the last control period.
    var state: MotorState {
        @_noLocks @inline(always) get {
            var state = MotorState()
            state.saturated = saturated
            state.oscillating = oscillating
            state.isShaking = inertias.isShaking
            state.opposed = opposed
            state.slipping = slipping
            state.isReady = isReady
            state.inertia = (inertia, inertiaSigma)
            state.bandwidth = parameters.stretch(to: loopDelay) * inertias.bandwidthFactor
            state.push = isPlaced ? .exerted(exerted) : .unknown
            state.exerted = exerted
            state.asked = asked
            state.modelledJoints = modelledJoints
            state.restPower = power.rest
            return state
        }
    }

    /// Computes the fields of one control period. While following a set-point, the controller also
    /// exerts the input's excitation. The input's `authority` scales the power. While `authority`
    /// increases to 1, the observers converge to the rotors' electrical angles.
    ///
    /// - Returns: Field angles and powers; the values of the previous period if the input is not
    ///   usable.
    @_noLocks @_noAllocation
    public mutating func step(_ input: ControlInput) -> MotorOutput {
        if input.isUsable { lead(input) }
        return output
    }

    private mutating func lead(_ input: ControlInput) {
        let (attitude, rate, setpoint, dt) = (input.attitude, input.rate, input.setpoint, input.dt)
        attitudeError = attitude.error(to: setpoint.attitude)
        let share = min(max(input.authority, 0), 1)
        if let measuredJoints = input.measuredJoints { modelledJoints = measuredJoints }
        let kinematics = JointKinematics(joints: modelledJoints)
        let stage = stage(share: share, dt: dt)
        if case .holding = stage { isReady = true } else { isReady = false }
        let rates = kinematics.jointRates(relativeRate: rate)
        var known = rates
        if let handleRate = input.handleRate, handleRate.isFinite {
            let turning = JointKinematics.attitude(joints: modelledJoints).inverseRotate(handleRate)
            known = kinematics.jointRates(relativeRate: rate - turning)
        }
        observe(rates: rates, known: known, kinematics: kinematics, stage: stage, dt: dt)
        let cameraRates = kinematics.torques(moment: rate)
        if !inertias.isMeasured {
            fitRotors(kinematics, cameraRates: cameraRates, jointRates: known, dt: dt)
        }
        var (moment, planned) = moment(
            attitude: attitude, lead: input.attitudeLead, rate: rate, setpoint: setpoint,
            stage: stage)
        if case .holding = stage { moment += input.excitation }
        let torques = kinematics.torques(moment: moment)
        drive(torques: torques, rates: known, share: share, dt: dt)
        let isSearching = isSearching
        if isSearching {
            turnFields(
                kinematics, cameraRates: cameraRates, jointRates: rates, share: share, dt: dt)
        }
        if !parameters.watchesOscillation {
            inertias.stopWatching()
        } else if input.excitation == .zero, !isSearching {
            watchOscillation(kinematics, planned, rate: rate, share: share, dt: dt)
        } else {
            inertias.forgetMotion()
        }
        if isReady { notice(attitude: attitude, dt: dt) }
        if isReady { opposed = opposedJoints(known, dt: dt) } else { forgetMotion() }
        fields.append(output.field, dt: dt, covering: loopDelay)
        powers.append(output.power, dt: dt, covering: loopDelay)
    }

    /// Restarts the controller with the power off. The joint angles are `joints`, rad; the rotors'
    /// electrical angles are unknown.
    @_noLocks @_noAllocation
    public mutating func reset(joints: AxisVector = .zero) {
        modelledJoints = joints
        let field = joints * parameters.polePairs
        rotors.change { $0.reset(electrical: field[$1]) }
        output = MotorOutput(enabled: true)
        output.field = field
        fields.fill(field)
        powers.fill(.zero)
        attitudeError = .zero
        saturated = .none
        forgetMotion()
        inertias.restart(isProbed: parameters.probesInertia)
        sinceSlip = .infinity
        running = 0
        isReady = false
        power.reset(load, parameters)
        if !search.fitted.isEmpty { mustSearch = true }
        if parameters.probesInertia, mustSearch || !inertias.isMeasured {
            search.begin(field: field, loopDelay: parameters.loopDelay)
        } else {
            search.cancel()
        }
    }

    private mutating func stage(share: Double, dt: Double) -> Stage {
        tuning = parameters.stretched(to: assumedDelay).narrowed(inertias.bandwidthFactor)
        inertia = inertias.belief(first: parameters.inertia, isProbed: parameters.probesInertia)
        if running == 0, share < 1 || isSearching { return .locking }
        running += dt
        return running < Self.lockTime ? .locking : .holding
    }

    /// Inertia, kg·m², and sliding friction, N·m, that determine the power without load.
    private var load: (inertia: AxisVector, friction: AxisVector) {
        @_noLocks @inline(always) get { inertias.load(isProbed: parameters.probesInertia) }
    }

    private var isSearching: Bool {
        @_noLocks @inline(always) get { !search.sought.isEmpty }
    }

    /// Turns the fields of the motors whose rotor has not been found.
    private mutating func turnFields(
        _ kinematics: JointKinematics, cameraRates: AxisVector, jointRates: AxisVector,
        share: Double, dt: Double
    ) {
        let (sought, fields) = (search.sought, search.fields)
        let found = search.step(
            cameraRates: cameraRates, jointRates: jointRates, authority: share,
            parameters: parameters, dt: dt)
        inertias.adopt(found, in: kinematics, first: parameters.inertia)
        if search.sought.isEmpty {
            mustSearch = false
            power.reset(load, parameters)
        }
        output.field = fields.angle.replacing(output.field, outside: sought)
        output.power = fields.power.replacing(output.power, outside: sought)
        asked = AxisVector.zero.replacing(asked, outside: sought)
        rotors.change {
            guard sought.contains($1) else { return }
            $0.reset(
                electrical: found.electrical[$1].isNaN ? fields.angle[$1] : found.electrical[$1])
        }
    }

    /// Measures the rotors and the inertia that the search has not found.
    private mutating func fitRotors(
        _ kinematics: JointKinematics, cameraRates: AxisVector, jointRates: AxisVector, dt: Double
    ) {
        let delay = tuning.loopDelay
        let found = search.fit(
            parameters.probesInertia ? inertias.unmeasured : .none, cameraRates: cameraRates,
            moved: jointRates * (parameters.polePairs * dt),
            field: fields.value(age: delay, dt: dt),
            pull: parameters.peakTorque * powers.value(age: delay, dt: dt), dt: dt)
        inertias.adopt(found, in: kinematics, first: parameters.inertia)
        rotors.change {
            if !found.electrical[$1].isNaN { $0.adopt(measured: found.electrical[$1]) }
        }
    }

    private mutating func opposedJoints(_ known: AxisVector, dt: Double) -> AxisSet {
        let hidden = rotors.map { $0.hiddenRate }
        return mirrors.judge { $0.step(known: known[$1], hidden: hidden[$1], dt: dt) }
    }

    /// Discards the camera's recent motion, because the motors did not cause it.
    @_noLocks @_noAllocation
    mutating func forgetMotion() {
        opposed = .none
        mirrors = PerAxis(JointPolarity())
    }

    /// Restarts the search for each lost rotor. During the search, the gains are low.
    private mutating func notice(attitude: Quaternion, dt: Double) {
        sinceSlip += dt
        let lost = rotors.axes { $0.isLost }
        guard !lost.isEmpty else { return }
        if sinceSlip >= Self.slipMemory { lastSlipped = .none }
        lastSlipped.insert(lost)
        sinceSlip = 0
        // The rotor has slipped by an unknown number of pole pairs. The search restarts with the
        // joint angle of an upright handle.
        let angles = EulerZXY.angles(attitude)
        if lost.contains(.roll) { modelledJoints.roll = angles.roll }
        if lost.contains(.pitch) { modelledJoints.pitch = angles.pitch }
        rotors.change { rotor, _ in if rotor.isLost { rotor.search() } }
        mustSearch = true
        power.noteSlip()
        // `running` must be positive: 0 means that the soft start has not reached full power.
        running = dt
    }

    /// Reduces the gains if the motors make the camera oscillate, apart from the planned motion.
    private mutating func watchOscillation(
        _ kinematics: JointKinematics, _ planned: MotorEffect.Planned, rate: Vector3,
        share: Double, dt: Double
    ) {
        inertias.watch(
            moment: kinematics.moment(torques: asked) - planned.moment * share,
            largest: parameters.peakTorque * parameters.maxPower, rate: rate - planned.rate,
            belief: inertia, delay: tuning.loopDelay, dt: dt)
        if !oscillating.isEmpty { mustSearch = true }
    }

    /// Updates the estimates of the rotors' angles for one control period.
    private mutating func observe(
        rates: AxisVector, known: AxisVector, kinematics: JointKinematics, stage: Stage,
        dt: Double
    ) {
        let p = tuning
        var bandwidth = p.observerBandwidth
        var isLearning = false
        switch stage {
        case .locking:
            isLearning = true
            bandwidth = bandwidth.capped(Self.lockingBandwidth)
        case .holding: break
        }
        let field = fields.value(age: p.loopDelay, dt: dt)
        let power = powers.value(age: p.loopDelay, dt: dt)
        // `exerted` belongs to the configured delay, which every user of `exerted` assumes.
        let configured = fields.value(age: parameters.loopDelay, dt: dt)
        // Torques at a load angle of 90 electrical degrees, N·m.
        let pull = p.peakTorque * power
        let smallest = p.peakTorque * self.power.rest * Self.smallestPull
        let before = rotors.map { $0.electrical }
        // If the axes of two joints are not at right angles, each motor accelerates both joints.
        let shares = AxisVector(
            yaw: rotors.yaw.share(field: field.yaw), roll: rotors.roll.share(field: field.roll),
            pitch: rotors.pitch.share(field: field.pitch))
        let pushed = kinematics.jointRates(
            relativeRate: inertia.dividing(kinematics.moment(torques: pull * shares)))
        rotors.change {
            $0.predict(
                measured: rates[$1], knownJointRate: known[$1], acceleration: pushed[$1],
                field: configured[$1], polePairs: p.polePairs, dt: dt)
        }
        let lacking = kinematics.torques(
            moment: inertia.times(
                kinematics.relativeRate(jointRates: rotors.map { $0.innovation })))
        rotors.change {
            $0.correct(
                unexplained: smallest[$1] > 0 ? lacking[$1] / max(pull[$1], smallest[$1]) : 0,
                polePairs: p.polePairs, bandwidth: bandwidth[$1], dt: dt)
        }
        exerted =
            p.peakTorque * powers.value(age: parameters.loopDelay, dt: dt)
            * rotors.map { $0.expected }
        let after = rotors.map { $0.electrical }
        // While the observer searches for the initial electrical angle, its corrections do not
        // represent motion of the joint.
        let moved = isLearning ? known * dt : (after - before) * (1 / p.polePairs)
        modelledJoints = modelledJoints + moved
    }

    /// Requested moment on the camera, body frame, N·m, and the set-point's part of it.
    @inline(always)
    private func moment(
        attitude: Quaternion, lead: Double, rate: Vector3, setpoint: Setpoint, stage: Stage
    ) -> (moment: Vector3, planned: MotorEffect.Planned) {
        let p = tuning
        var rateGain = p.rateGain
        var attitudeGain = p.attitudeGain
        switch stage {
        case .holding: break
        case .locking:
            rateGain = rateGain.capped(Self.gentleRateGain)
            attitudeGain = attitudeGain.capped(Self.gentleAttitudeGain)
        }
        // The set-point at the time of the attitude estimate.
        let reference = setpoint.earlier(by: p.loopDelay - lead).attitude
        let toCamera = attitude.conjugate * reference
        let law = RateCommand(
            gain: attitudeGain, maxRate: p.maxRate, maxAcceleration: p.maxAcceleration)
        let feedforward = toCamera.rotate(setpoint.rate - setpoint.acceleration * p.loopDelay)
        let lacking = law.rate(error: toCamera.rotationVector) + feedforward - rate
        let ahead = inertia.times(toCamera.rotate(setpoint.acceleration))
        let feedback = inertia.times(rateGain.times(lacking))
        return (
            feedback + ahead + rate.cross(inertia.times(rate)),
            MotorEffect.Planned(moment: ahead, rate: feedforward)
        )
    }

    /// Sets each field to its rotor's angle plus the load angle of the requested torque.
    private mutating func drive(
        torques: AxisVector, rates: AxisVector, share: Double, dt: Double
    ) {
        let p = tuning
        power.follow(torques, load: load, parameters, dt: dt)
        let peak = p.peakTorque * power.shares
        let bound = cm_sin(p.loadLimit)
        let wanted = torques.shares(of: peak)
        let bounded = wanted.clamped(to: AxisVector(repeating: bound))
        saturated = bounded.differing(from: wanted)
        asked = bounded * peak * share
        let ahead = p.loopDelay * p.polePairs
        output.field = rotors.step {
            $0.electrical + (rates[$1] + $0.hiddenRate) * ahead + cm_asin(bounded[$1])
        }
        output.power = power.shares * share
    }
}
