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
        @_noLocks @inline(__always) get { yaw.isPlaced && roll.isPlaced && pitch.isPlaced }
    }

    /// Seconds since full authority.
    private var running = 0.0
    private var sinceSlip = Double.infinity
    private var lastSlipped = AxisSet.none
    /// How long a slip is told, s.
    private static var slipMemory: Double { @_noLocks get { 1 } }
    private var strength = 0.0
    private var search = FieldInertia()
    private var yaw = FieldObserver()
    private var roll = FieldObserver()
    private var pitch = FieldObserver()
    private var yawMirror = MirroredJoint()
    private var rollMirror = MirroredJoint()
    private var pitchMirror = MirroredJoint()
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
                    expected: AxisVector(
                        yaw: yaw.expected, roll: roll.expected, pitch: pitch.expected),
                    inertia: kinematics.inertia(from: inertia),
                    largest: parameters.peakTorque * (0.8 * parameters.maxPower),
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
        yaw.reset(electrical: field.yaw)
        roll.reset(electrical: field.roll)
        pitch.reset(electrical: field.pitch)
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
        let isYaw = yawMirror.step(known: known.yaw, hidden: yaw.hiddenRate, dt: dt)
        let isRoll = rollMirror.step(known: known.roll, hidden: roll.hiddenRate, dt: dt)
        let isPitch = pitchMirror.step(known: known.pitch, hidden: pitch.hiddenRate, dt: dt)
        return AxisSet(yaw: isYaw, roll: isRoll, pitch: isPitch)
    }

    /// What the camera did lately says nothing about the motors' signs.
    @_noLocks @_noAllocation
    mutating func forgetMotion() {
        mirrored = .none
        yawMirror = MirroredJoint()
        rollMirror = MirroredJoint()
        pitchMirror = MirroredJoint()
    }

    /// A rotor that is lost is looked for again, with gentle gains.
    private mutating func notice(attitude: Quaternion, dt: Double) {
        sinceSlip += dt
        let lost = AxisSet(yaw: yaw.isLost, roll: roll.isLost, pitch: pitch.isLost)
        guard !lost.isEmpty else { return }
        if sinceSlip >= Self.slipMemory { lastSlipped = .none }
        lastSlipped.insert(lost)
        sinceSlip = 0
        // By how many pole pairs it slipped nobody knows: begin again with an upright handle.
        let angles = EulerZXY.angles(attitude)
        modelledJoints.roll = angles.roll
        modelledJoints.pitch = angles.pitch
        if yaw.isLost { yaw.search() }
        if roll.isLost { roll.search() }
        if pitch.isLost { pitch.search() }
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
            bandwidth = bandwidth.capped(80)
        // An observer that explains the swing by a moving rotor would hide what it is to show.
        case .probing: bandwidth = bandwidth.capped(20)
        case .holding: break
        }
        let field = fields.value(age: p.loopDelay, dt: dt)
        let power = powers.value(age: p.loopDelay, dt: dt)
        let inertia = kinematics.inertia(from: self.inertia)
        let full = AxisVector(
            yaw: p.peakTorque.yaw / inertia.yaw, roll: p.peakTorque.roll / inertia.roll,
            pitch: p.peakTorque.pitch / inertia.pitch)
        let before = AxisVector(
            yaw: yaw.electrical, roll: roll.electrical, pitch: pitch.electrical)
        _ = AxisVector(
            yaw: yaw.update(
                measured: rates.yaw, knownJointRate: known.yaw, field: field.yaw,
                pull: full.yaw * power.yaw, smallestPull: full.yaw * p.power * 0.2,
                polePairs: p.polePairs, bandwidth: bandwidth.yaw, dt: dt),
            roll: roll.update(
                measured: rates.roll, knownJointRate: known.roll, field: field.roll,
                pull: full.roll * power.roll, smallestPull: full.roll * p.power * 0.2,
                polePairs: p.polePairs, bandwidth: bandwidth.roll, dt: dt),
            pitch: pitch.update(
                measured: rates.pitch, knownJointRate: known.pitch, field: field.pitch,
                pull: full.pitch * power.pitch, smallestPull: full.pitch * p.power * 0.2,
                polePairs: p.polePairs, bandwidth: bandwidth.pitch, dt: dt))
        exerted = AxisVector(
            yaw: yaw.expected * inertia.yaw, roll: roll.expected * inertia.roll,
            pitch: pitch.expected * inertia.pitch)
        let after = AxisVector(
            yaw: yaw.electrical, roll: roll.electrical, pitch: pitch.electrical)
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
            // Gains that no inertia makes unstable within the short time.
            rateGain = rateGain.capped(30)
            attitudeGain = attitudeGain.capped(5)
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
            Vector3(
                lacking.x * rateGain.roll, lacking.y * rateGain.pitch, lacking.z * rateGain.yaw)
            + toCamera.rotate(setpoint.acceleration)
        let momentum = Vector3(inertia.roll * rate.x, inertia.pitch * rate.y, inertia.yaw * rate.z)
        return Vector3(
            inertia.roll * acceleration.x, inertia.pitch * acceleration.y,
            inertia.yaw * acceleration.z) + rate.cross(momentum)
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
        output.field = AxisVector(
            yaw: yaw.electrical + (rates.yaw + yaw.hiddenRate) * ahead + cm_asin(bounded.yaw),
            roll: roll.electrical + (rates.roll + roll.hiddenRate) * ahead + cm_asin(bounded.roll),
            pitch: pitch.electrical + (rates.pitch + pitch.hiddenRate) * ahead
                + cm_asin(bounded.pitch))
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
        let needed = min(max(load / 0.7, p.power), max(p.maxPower, p.power))
        strength = needed > strength ? needed : strength + (needed - strength) * min(dt / 0.5, 1)
    }
}

extension AxisVector {
    /// No axis above `most`.
    @_noLocks
    fileprivate func capped(_ most: Double) -> AxisVector {
        AxisVector(yaw: min(yaw, most), roll: min(roll, most), pitch: min(pitch, most))
    }
}
