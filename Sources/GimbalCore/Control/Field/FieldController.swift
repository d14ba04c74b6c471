internal import CMathShim

/// Controller for brushless motors without encoders: computes the angle of each stator's magnetic
/// field from attitude and set-point of the camera.
///
/// The field of a stator holds the rotor as a spring would. A fixed field would drag the camera
/// along with the handle. Therefore an observer (`FieldObserver`) estimates each rotor's angle from
/// the gyroscope. The controller sets the field to the rotor's angle plus the load angle that
/// produces the requested torque. Because the controller sets the load angle, the motor acts as a
/// torque motor; its largest torque is the pull-out torque. If a hand turns the rotor by force, the
/// field follows, so the rotor stays locked to the field.
///
/// The electrical angle of each rotor is unknown at the start. While the power ramps up, the
/// observer determines the rotor's electrical angle, and the controller turns the field to this
/// angle. Therefore the camera does not move at the start.
///
/// Runs on the loop thread only, in constant time and without allocation.
public struct FieldController: MotorController {
    /// Tuning of the controller of motors without encoders.
    public var parameters: Parameters
    /// Shortest rotation from attitude to set-point in the last step, camera frame, rad.
    public private(set) var attitudeError = Vector3.zero
    /// The motors whose command exceeded the largest load angle in the last step.
    public private(set) var saturated = AxisSet.none
    /// Output of the last control period.
    public private(set) var output = MotorOutput(enabled: true)
    /// Joint angles according to the rotors' observers, rad: the source of joint angles without
    /// encoders.
    public private(set) var modelledJoints = AxisVector.zero

    /// Inertia about the camera's axes on which the gains are based, kg·m². Until the test swing at
    /// the start has measured the inertia, `inertia` is the configured inertia.
    public private(set) var inertia: AxisVector

    /// The rotors that have slipped out of their magnetic field within the last second.
    public var slipping: AxisSet {
        @_noLocks get { sinceSlip < Self.slipMemory ? lastSlipped : .none }
    }
    /// Torque of the motors at the time of the gyroscope's sample in the last step, N·m. The torque
    /// is computed from the field's angle and power at the time of the sample, and from the rotor's
    /// angle. The rotor's angle follows from the motion of its joint. The result does not depend on
    /// the assumed inertia.
    public private(set) var exerted = AxisVector.zero
    /// The camera axes whose gains are reduced after an oscillation.
    public var oscillating: AxisSet { @_noLocks get { search.oscillating } }
    /// Torques that the last step requested through the load angles of the fields, N·m, limited to
    /// the torques that the fields can exert.
    public private(set) var asked = AxisVector.zero
    /// True if the rotors are locked and the inertia is known, so that the controller can follow a
    /// set-point.
    public private(set) var isReady = false
    /// The joints that turned opposite to their field in the last step.
    public private(set) var opposed = AxisSet.none
    /// Standard deviation of the natural logarithm of `inertia`. Before the inertia is measured,
    /// two standard deviations correspond to a factor of four.
    public var inertiaSigma: AxisVector {
        @_noLocks get { search.sigmas }
    }

    /// True if `exerted` is reliable, which requires that the angles of all rotors are known.
    private var isPlaced: Bool {
        @_noLocks @inline(__always) get {
            rotors.yaw.isPlaced && rotors.roll.isPlaced && rotors.pitch.isPlaced
        }
    }

    /// Time since the soft start reached its full power, s.
    private var running = 0.0
    private var sinceSlip = Double.infinity
    private var lastSlipped = AxisSet.none
    /// Time for which a slipped rotor is reported, s.
    private static var slipMemory: Double { @_noLocks get { 1 } }
    private var strength = 0.0
    private var search = FieldInertia()
    private var rotors = PerAxis(FieldObserver())
    private var mirrors = PerAxis(JointPolarity())
    private var fields = JointHistory()
    private var powers = JointHistory()

    /// Creates a controller under the assumption that every joint is at angle zero.
    public init(parameters: Parameters) {
        self.parameters = parameters
        inertia = parameters.inertia
        strength = parameters.power
    }

    /// State of the motors after the last control period.
    var state: MotorState {
        @_noLocks @inline(__always) get {
            var state = MotorState()
            state.saturated = saturated
            state.oscillating = oscillating
            state.isShaking = search.isShaking
            state.opposed = opposed
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

    /// Computes the fields of one control period. While following a set-point, the controller also
    /// exerts the input's excitation. `authority` of the input scales the power; while it increases
    /// to 1, the observers converge to the rotors' electrical angles.
    ///
    /// - Returns: Field angles and powers; the values of the previous period if the input is not
    ///   usable.
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
        if isReady { opposed = opposedJoints(known, dt: dt) } else { forgetMotion() }
        fields.append(output.field, dt: dt)
        powers.append(output.power, dt: dt)
    }

    /// Restarts the controller with the power off, with the joints at `joints`, rad, and with
    /// unknown electrical angles of the rotors.
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

    /// Stage of the controller's start-up.
    private enum Stage {
        /// The power ramps up, and the observers search for the rotors' electrical angles.
        case locking
        /// A small test swing of the joints measures the inertia.
        case probing
        /// The camera is stabilised.
        case holding
    }

    /// Fraction of the largest torque that the controller uses for the test swing, which measures
    /// the inertia; the remaining torque holds the camera during the swing.
    private static var swingShare: Double { @_noLocks get { 0.8 } }
    /// Bandwidth of the observers while they search for the angles of their rotors, rad/s; with
    /// this bandwidth the observers are stable with any inertia.
    private static var lockingBandwidth: Double { @_noLocks get { 80 } }
    /// Bandwidth of the observers during the test swing, which measures the inertia, rad/s. A
    /// faster observer would attribute the motion of the camera to a moving rotor, so the swing
    /// would contain no information about the inertia.
    private static var probingBandwidth: Double { @_noLocks get { 20 } }
    /// Smallest pull (see `FieldObserver`) at which a rotor can be located, as a fraction of the
    /// pull at the configured power.
    private static var smallestPull: Double { @_noLocks get { 0.2 } }
    /// Largest gains of the attitude loop until the inertia is known, 1/s; with these gains the
    /// loop is stable for any inertia.
    private static var gentleRateGain: Double { @_noLocks get { 30 } }
    private static var gentleAttitudeGain: Double { @_noLocks get { 5 } }
    /// Sine of the load angle above which more power is requested: 45 electrical degrees.
    private static var fullLoad: Double { @_noLocks get { 0.7 } }
    /// Time constant with which the power falls when the load decreases, s.
    private static var powerMemory: Double { @_noLocks get { 0.5 } }
    /// Time at full power in which the observers' estimates converge to the rotors' angles, before
    /// the test swing, s.
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
        // The value 0 of `running` is reserved for a soft start that has not reached its full
        // power.
        running = dt
        return .locking
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

    /// Restarts the search for each rotor whose observer has lost the rotor's angle. The gains are
    /// low during the search.
    private mutating func notice(attitude: Quaternion, dt: Double) {
        sinceSlip += dt
        let lost = rotors.axes { $0.isLost }
        guard !lost.isEmpty else { return }
        if sinceSlip >= Self.slipMemory { lastSlipped = .none }
        lastSlipped.insert(lost)
        sinceSlip = 0
        // The rotor has slipped by an unknown number of pole pairs, so the search starts again
        // under the assumption of an upright handle.
        let angles = EulerZXY.angles(attitude)
        modelledJoints.roll = angles.roll
        modelledJoints.pitch = angles.pitch
        rotors.change { rotor, _ in if rotor.isLost { rotor.search() } }
        // The value 0 of `running` is reserved for a soft start that has not reached its full
        // power.
        running = dt
        if parameters.probesInertia { search.doubt(first: parameters.inertia) }
    }

    /// Reduces the assumed inertia, and with it every gain, if the motors make the camera
    /// oscillate.
    private mutating func watchOscillation(
        _ kinematics: JointKinematics, rate: Vector3, dt: Double
    ) {
        let mustSwing = search.watch(
            moment: kinematics.moment(torques: asked),
            largest: parameters.peakTorque * parameters.maxPower, rate: rate, belief: inertia,
            delay: parameters.loopDelay, dt: dt)
        // The value 0 of `running` is reserved for a soft start that has not reached its full
        // power.
        if mustSwing, parameters.probesInertia { running = dt }
    }

    /// Updates the estimates of the rotors' angles for one control period.
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
        // While the observer searches for the electrical angle at joint angle zero, its corrections
        // are not motion of the joint.
        let moved = isLearning ? known * dt : (after - before) * (1 / p.polePairs)
        modelledJoints = modelledJoints + moved
    }

    /// The moment on the camera that corrects the errors, body frame, N·m.
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
        // The set-point at the time of the measurement.
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

    /// Sets each field to its rotor's angle plus the load angle of the requested torque.
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

    /// Raises the motors' power at once if a load angle would exceed 45 electrical degrees;
    /// afterwards the power falls slowly.
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
    /// Copy of this vector with the value of each axis limited to `most`.
    @_noLocks
    fileprivate func capped(_ most: Double) -> AxisVector {
        AxisVector(yaw: min(yaw, most), roll: min(roll, most), pitch: min(pitch, most))
    }
}
