internal import CMathShim

/// Attitude to field angles, for brushless motors without encoders.
///
/// Each rotor hangs in its stator's field like on a spring. A field that stood still would drag the
/// camera along with the handle; therefore an observer (`FieldObserver`) finds from the gyroscope
/// where each rotor is, the field is set on it, and is led by just the load angle whose torque the
/// attitude loop asks for. The motor thereby acts as a torque motor whose limit is the pull-out
/// torque, and the field follows a rotor that is turned by force instead of losing it.
///
/// Nobody knows the rotor's electrical angle at the start. The power ramps up while the observer
/// locks on to the rotor: the field comes to the rotor, and the camera stays where it is.
///
/// Loop thread only; constant time, no allocation.
public struct FieldController: MotorController {
    /// What the user tunes.
    public var parameters: Parameters
    /// From attitude to set-point the short way, camera frame, rad; as of the last step.
    public private(set) var attitudeError = Vector3.zero
    /// The motors that were asked for more than their largest load angle can give in the last step.
    public private(set) var saturated = AxisSet.none
    /// What the motors were told last.
    public private(set) var output = MotorOutput(enabled: true)
    /// Where the rotors' observers believe the joints to be, rad: the joint source when there is no
    /// encoder.
    public private(set) var modelledJoints = AxisVector.zero

    /// What the gains count with: the inertia about the camera's axes as configured, or as its
    /// probe has found it, kg·m².
    public private(set) var inertia: AxisVector

    /// The rotors that have left their field, now or within a second.
    public var slipping: AxisSet {
        @_noLocks get { sinceSlip < Self.slipMemory ? lastSlipped : .none }
    }
    /// What the motors exerted when the gyroscope saw the camera as it was in the last step, N·m:
    /// by field and power of then, with each rotor where its joint's motion says. No belief in an
    /// inertia is in it.
    public private(set) var exerted = AxisVector.zero
    /// The camera's axes whose gains are down because their motors have made it oscillate.
    public var oscillating: AxisSet { @_noLocks get { search.oscillating } }
    /// The torques that the fields were led for in the last step, N·m: nothing that was measured
    /// since is in them.
    public private(set) var asked = AxisVector.zero
    /// Whether the rotors are locked and the inertia is known, so that a set-point can be followed.
    public private(set) var isReady = false
    /// The joints that turn the other way than their field, as of the last step.
    public private(set) var mirrored = AxisSet.none
    /// Standard deviation of `inertia`, natural logarithm: a factor of four is possible before it
    /// has been found.
    public var inertiaSigma: AxisVector {
        @_noLocks get { search.sigmas }
    }

    /// Whether `exerted` can be relied on: the places of all rotors are known.
    private var isPlaced: Bool {
        @_noLocks @inline(__always) get {
            rotors.yaw.isPlaced && rotors.roll.isPlaced && rotors.pitch.isPlaced
        }
    }

    /// Seconds since full authority.
    private var running = 0.0
    private var sinceSlip = Double.infinity
    private var lastSlipped = AxisSet.none
    /// How long a slip is told, s.
    private static var slipMemory: Double { @_noLocks get { 1 } }
    private var strength = 0.0
    private var search = FieldInertia()
    private var rotors = PerAxis(FieldObserver())
    private var mirrors = PerAxis(MirroredJoint())
    private var fields = JointHistory()
    private var powers = JointHistory()

    /// A controller whose rotors are believed at joint angle zero.
    public init(parameters: Parameters) {
        self.parameters = parameters
        inertia = parameters.inertia
        strength = parameters.power
    }

    /// As of the last period.
    var state: MotorState {
        @_noLocks @inline(__always) get {
            var state = MotorState()
            state.saturated = saturated
            state.oscillating = oscillating
            state.isShaking = search.isShaking
            state.mirrored = mirrored
            state.slipping = slipping
            state.isReady = isReady
            state.inertia = (inertia, inertiaSigma)
            state.push = isPlaced ? .exerted(exerted) : .unknown
            state.exerted = exerted
            state.asked = asked
            state.modelledJoints = modelledJoints
            return state
        }
    }

    /// One period. The excitation is exerted while a set-point is followed. The authority scales the
    /// power; until it is 1 the rotors' electrical angles are learned.
    ///
    /// - Returns: Field angles and powers; unchanged when the input is not usable.
    @_noLocks @_noAllocation
    public mutating func step(_ input: ControlInput) -> MotorOutput {
        if input.isUsable { lead(input) }
        return output
    }

    private mutating func lead(_ input: ControlInput) {
        let (attitude, rate, setpoint, dt) = (
            input.attitude, input.rate, input.setpoint, input.dt
        )
        let excitation = input.excitation
        attitudeError = attitude.error(to: setpoint.attitude)
        let share = min(max(input.authority, 0), 1)
        if let measuredJoints = input.measuredJoints { modelledJoints = measuredJoints }
        let kinematics = JointKinematics(joints: modelledJoints)
        let stage = stage(share: share, kinematics: kinematics, dt: dt)
        if case .holding = stage { isReady = true } else { isReady = false }
        let rates = kinematics.jointRates(relativeRate: rate)
        var known = rates
        if let handleRate = input.handleRate, handleRate.isFinite {
            let turning = JointKinematics.attitude(joints: modelledJoints).inverseRotate(handleRate)
            known = kinematics.jointRates(relativeRate: rate - turning)
        }
        observe(rates: rates, known: known, kinematics: kinematics, stage: stage, dt: dt)
        var moment = moment(attitude: attitude, rate: rate, setpoint: setpoint, stage: stage)
        if case .holding = stage { moment += excitation }
        var torques = kinematics.torques(moment: moment)
        if case .probing = stage {
            torques =
                torques
                + search.swing(
                    rates: rates,
                    expected: rotors.map { $0.expected },
                    inertia: kinematics.inertia(from: inertia),
                    largest: parameters.peakTorque * (Self.swingShare * parameters.maxPower),
                    seconds: running - Self.lockTime, dt: dt)
        }
        drive(torques: torques, rates: known, share: share, dt: dt)
        if !parameters.watchesOscillation {
            search.stopWatching()
        } else if excitation == .zero {
            watchOscillation(kinematics, rate: rate, dt: dt)
        } else {
            search.forgetMotion()
        }
        if isReady { notice(attitude: attitude, dt: dt) }
        if isReady { mirrored = mirroredJoints(known, dt: dt) } else { forgetMotion() }
        fields.append(output.field, dt: dt)
        powers.append(output.power, dt: dt)
    }

    /// Starts afresh: power off, the joints believed at `joints`, rad, the rotors' electrical
    /// angles unknown.
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
        search.forgetSuspicion()
        running = 0
        isReady = false
        strength = parameters.power
    }

    /// What the controller is about.
    private enum Stage {
        /// The power comes up, the observers look for the rotors.
        case locking
        /// A small swing shows the inertia.
        case probing
        /// The camera is stabilised.
        case holding
    }

    /// Share of the most torque that a swing takes: the rest holds the camera meanwhile.
    private static var swingShare: Double { @_noLocks get { 0.8 } }
    /// Bandwidth of the observers while they look for their rotors, rad/s: what no inertia makes
    /// unstable.
    private static var lockingBandwidth: Double { @_noLocks get { 80 } }
    /// The same during the swing, rad/s: an observer that explains the swing by a moving rotor would
    /// hide what it is to show.
    private static var probingBandwidth: Double { @_noLocks get { 20 } }
    /// Share of the configured power's pull that shows where a rotor is.
    private static var smallestPull: Double { @_noLocks get { 0.2 } }
    /// Gains that no inertia makes unstable within the time before the inertia is known, 1/s.
    private static var gentleRateGain: Double { @_noLocks get { 30 } }
    private static var gentleAttitudeGain: Double { @_noLocks get { 5 } }
    /// Sine of the load angle from which on more power is wanted: 45 electrical degrees.
    private static var fullLoad: Double { @_noLocks get { 0.7 } }
    /// How fast power that is no longer needed falls, s.
    private static var powerMemory: Double { @_noLocks get { 0.5 } }
    /// Time at full power in which the observers settle on their rotors before the swing, s.
    private static var lockTime: Double { @_noLocks get { 0.2 } }

    private mutating func stage(
        share: Double, kinematics: JointKinematics, dt: Double
    ) -> Stage {
        inertia = search.belief(first: parameters.inertia, isProbed: parameters.probesInertia)
        if running == 0, share < 1 { return .locking }
        running += dt
        if running < Self.lockTime {
            search.begin()
            return .locking
        }
        guard parameters.probesInertia, !search.isOver else { return .holding }
        if search.isSwinging { return .probing }
        if search.conclude(kinematics, first: parameters.inertia) { return .holding }
        // Not zero, which would wait for full authority.
        running = dt
        return .locking
    }

    private mutating func mirroredJoints(_ known: AxisVector, dt: Double) -> AxisSet {
        let hidden = rotors.map { $0.hiddenRate }
        return mirrors.judge { $0.step(known: known[$1], hidden: hidden[$1], dt: dt) }
    }

    /// What the camera did lately says nothing about the motors' signs.
    @_noLocks @_noAllocation
    mutating func forgetMotion() {
        mirrored = .none
        mirrors = PerAxis(MirroredJoint())
    }

    /// A rotor that is lost is looked for again, with gentle gains.
    private mutating func notice(attitude: Quaternion, dt: Double) {
        sinceSlip += dt
        let lost = rotors.axes { $0.isLost }
        guard !lost.isEmpty else { return }
        if sinceSlip >= Self.slipMemory { lastSlipped = .none }
        lastSlipped.insert(lost)
        sinceSlip = 0
        // By how many pole pairs it slipped nobody knows: begin again with an upright handle.
        let angles = EulerZXY.angles(attitude)
        modelledJoints.roll = angles.roll
        modelledJoints.pitch = angles.pitch
        rotors.change { rotor, _ in if rotor.isLost { rotor.search() } }
        // Not zero, which would wait for full authority.
        running = dt
        if parameters.probesInertia { search.doubt(first: parameters.inertia) }
    }

    /// Motors that make the camera oscillate: the belief in its inertia goes down, and with it
    /// every gain.
    private mutating func watchOscillation(
        _ kinematics: JointKinematics, rate: Vector3, dt: Double
    ) {
        let mustSwing = search.watch(
            moment: kinematics.moment(torques: asked),
            largest: parameters.peakTorque * parameters.maxPower, rate: rate, belief: inertia,
            delay: parameters.loopDelay, dt: dt)
        // Not zero, which would wait for full authority.
        if mustSwing, parameters.probesInertia { running = dt }
    }

    /// Follows the rotors by one period.
    private mutating func observe(
        rates: AxisVector, known: AxisVector, kinematics: JointKinematics, stage: Stage,
        dt: Double
    ) {
        let p = parameters.slackened(search.slack)
        var bandwidth = p.observerBandwidth
        var isLearning = false
        switch stage {
        case .locking:
            isLearning = true
            bandwidth = bandwidth.capped(Self.lockingBandwidth)
        case .probing: bandwidth = bandwidth.capped(Self.probingBandwidth)
        case .holding: break
        }
        let field = fields.value(age: p.loopDelay, dt: dt)
        let power = powers.value(age: p.loopDelay, dt: dt)
        let inertia = kinematics.inertia(from: self.inertia)
        let full = AxisVector(
            yaw: p.peakTorque.yaw / inertia.yaw, roll: p.peakTorque.roll / inertia.roll,
            pitch: p.peakTorque.pitch / inertia.pitch)
        let before = rotors.map { $0.electrical }
        rotors.change {
            _ = $0.update(
                measured: rates[$1], knownJointRate: known[$1], field: field[$1],
                pull: full[$1] * power[$1], smallestPull: full[$1] * p.power * Self.smallestPull,
                polePairs: p.polePairs, bandwidth: bandwidth[$1], dt: dt)
        }
        exerted = rotors.map { $0.expected } * inertia
        let after = rotors.map { $0.electrical }
        // While the electrical zero is learned, a correction says where the field is, not where the
        // joint is.
        let moved = isLearning ? known * dt : (after - before) * (1 / p.polePairs)
        modelledJoints = modelledJoints + moved
    }

    /// The moment on the camera that the errors ask for, body frame, N·m.
    private func moment(
        attitude: Quaternion, rate: Vector3, setpoint: Setpoint, stage: Stage
    ) -> Vector3 {
        let p = parameters.slackened(search.slack)
        var rateGain = p.rateGain
        var attitudeGain = p.attitudeGain
        switch stage {
        case .holding: break
        case .locking, .probing:
            rateGain = rateGain.capped(Self.gentleRateGain)
            attitudeGain = attitudeGain.capped(Self.gentleAttitudeGain)
        }
        // What the measurement can show.
        let reference = setpoint.earlier(by: p.loopDelay - p.attitudeLead).attitude
        let toCamera = attitude.conjugate * reference
        let law = RateCommand(
            gain: attitudeGain, maxRate: p.maxRate, maxAcceleration: p.maxAcceleration)
        let wanted =
            law.rate(error: toCamera.rotationVector)
            + toCamera.rotate(setpoint.rate - setpoint.acceleration * p.loopDelay)
        let lacking = wanted - rate
        let acceleration =
            rateGain.times(lacking)
            + toCamera.rotate(setpoint.acceleration)
        return inertia.times(acceleration) + rate.cross(inertia.times(rate))
    }

    /// Sets each field on its rotor, led by the load angle that gives the torque.
    private mutating func drive(
        torques: AxisVector, rates: AxisVector, share: Double, dt: Double
    ) {
        let p = parameters
        raisePower(torques: torques, dt: dt)
        let peak = p.peakTorque * strength
        let bound = cm_sin(p.loadLimit)
        let load = AxisVector(
            yaw: peak.yaw > 0 ? torques.yaw / peak.yaw : 0,
            roll: peak.roll > 0 ? torques.roll / peak.roll : 0,
            pitch: peak.pitch > 0 ? torques.pitch / peak.pitch : 0)
        let bounded = load.clamped(to: AxisVector(repeating: bound))
        saturated = bounded.differing(from: load)
        asked =
            AxisVector(
                yaw: bounded.yaw * peak.yaw, roll: bounded.roll * peak.roll,
                pitch: bounded.pitch * peak.pitch) * share
        let ahead = p.loopDelay * p.polePairs
        output.field = rotors.step {
            $0.electrical + (rates[$1] + $0.hiddenRate) * ahead + cm_asin(bounded[$1])
        }
        output.power = AxisVector(repeating: strength * share)
    }

    /// A load that would need more than 45 electrical degrees raises the power at once; it then
    /// falls back slowly.
    private mutating func raisePower(torques: AxisVector, dt: Double) {
        let p = parameters
        let peak = p.peakTorque
        let load = max(
            peak.yaw > 0 ? abs(torques.yaw) / peak.yaw : 0,
            max(
                peak.roll > 0 ? abs(torques.roll) / peak.roll : 0,
                peak.pitch > 0 ? abs(torques.pitch) / peak.pitch : 0))
        let needed = min(max(load / Self.fullLoad, p.power), max(p.maxPower, p.power))
        strength =
            needed > strength
            ? needed : strength + (needed - strength) * min(dt / Self.powerMemory, 1)
    }
}

extension AxisVector {
    /// No axis above `most`.
    @_noLocks
    fileprivate func capped(_ most: Double) -> AxisVector {
        AxisVector(yaw: min(yaw, most), roll: min(roll, most), pitch: min(pitch, most))
    }
}
