/// Dispatcher to the motor controllers: passes each control period's input to the controller of the
/// configured kind of motor.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct MotorDrive: Sendable, BitwiseCopyable {
    let type: MotorType
    /// State of the motors after the last control period, reset or change of the tuning.
    private(set) var state = MotorState()
    /// Controllers of the three kinds of motors; only one of them runs.
    var torque: AttitudeController
    private(set) var servo: ServoController
    private(set) var field: FieldController
    private(set) var thermal = ThermalBudget()
    private(set) var watch = ResponseWatch()
    /// Thermal properties of the motors.
    var motors: ThermalBudget.Parameters {
        didSet {
            thermal.adapt(from: oldValue.continuousTorque, to: motors.continuousTorque)
        }
    }

    /// Creates the controllers of motors at rest.
    init(_ parameters: Stabilizer.Parameters) {
        type = parameters.motorType
        torque = AttitudeController(parameters: parameters.controller)
        servo = ServoController(parameters: parameters.servo)
        field = FieldController(parameters: parameters.field)
        motors = parameters.motors
        torque.jointRange = parameters.jointRange
        noteState()
    }

    /// Changes the tuning of all controllers.
    @_noLocks
    mutating func apply(_ parameters: Stabilizer.Parameters) {
        torque.apply(parameters.controller)
        torque.jointRange = parameters.jointRange
        servo.parameters = parameters.servo
        field.parameters = parameters.field
        motors = parameters.motors
        noteState()
    }

    /// Copies the state of the controller in use to `state`.
    @_noLocks
    mutating func noteState() {
        switch type {
        case .torque: state = torque.state
        case .servo: state = servo.state
        case .field: state = field.state
        }
        state.reversed.insert(watch.reversed)
    }

    /// Clears the integrators of the torque motors' controller. The controllers of servos and of
    /// motors without encoders have no integrators. The models and observers of these controllers
    /// remain valid.
    @_noLocks
    mutating func clearIntegrals() { torque.clearIntegrals() }

    /// The motors whose torque is reduced because they are hot.
    var hot: AxisSet {
        @_noLocks @inline(always) get {
            thermal.lowered(peak: torque.parameters.torqueLimit, parameters: motors)
        }
    }

    /// Angle beyond the range of a joint's servo that still counts as possible, rad: an inexact
    /// mounting of the horn and an error of the encoder.
    private static var servoSlack: Double { @_noLocks get { 0.2 } }

    /// The joints whose angle (rad) is impossible, because it is far beyond the range of the
    /// joint's servo. If the controller started with an impossible angle, the servo's horn would
    /// jump.
    @_noLocks @inline(always)
    func outOfReach(_ joints: AxisVector) -> AxisSet {
        guard case .servo = type else { return .none }
        let slack = AxisVector(repeating: Self.servoSlack)
        return JointRange(
            minimum: servo.parameters.minimum - slack, maximum: servo.parameters.maximum + slack
        ).outside(joints)
    }

    /// Source of `modelledJoints`.
    var modelSource: JointSource {
        @_noLocks @inline(always) get {
            if case .field = type { .fieldAngle } else { .servoCommand }
        }
    }

    /// Loop delay from a motor command to the sample that contains its effect, s. The delay is
    /// configured or, for torque motors, identified.
    var loopDelay: Double {
        @_noLocks @inline(always) get {
            if case .field = type { field.parameters.loopDelay } else { torque.loopDelay }
        }
    }

    /// Loop delay that the controller assumes, s: `loopDelay`, or for motors without encoders the
    /// measured delay if it is longer.
    var assumedDelay: Double {
        @_noLocks @inline(always) get {
            if case .field = type { field.loopDelay } else { torque.loopDelay }
        }
    }

    /// Fraction of the motors' torque for the acceleration of a set-point. Feedback, friction and
    /// imbalance need the rest.
    private static var plannedShare: Double { @_noLocks get { 0.6 } }

    /// Largest acceleration for a set-point that the motors can follow, rad/s². The value is
    /// infinite for servos, and while the camera's inertia is unknown.
    var acceleration: Double {
        @_noLocks @inline(always) get {
            let torque: AxisVector
            switch type {
            case .servo: return .infinity
            case .torque: torque = self.torque.parameters.torqueLimit
            case .field:
                // Reduced gains do not reduce the camera's true inertia.
                let shares = field.inertias.gainShares
                torque = field.parameters.peakTorque * field.parameters.maxPower * shares
            }
            let (inertia, sigmas) = state.inertia
            guard sigmas.largest < UnmeasuredInertia.sigma else { return .infinity }
            // The needed torque at 1 rad/s²; an axis without motor needs none.
            let needed = inertia.shares(of: torque).largest
            return needed > 0 ? Self.plannedShare / needed : .infinity
        }
    }

    /// True if the torque motors' controller learns friction and imbalance.
    var learnsLoads: Bool {
        @_noLocks get { torque.learnsLoads }
        @_noLocks set { torque.learnsLoads = newValue }
    }

    /// Additional loop delay because the loop is faster than the sensor, s: the mean interval
    /// between samples minus one tick period.
    var sampleWait: Double {
        @_noLocks get { torque.sampleWait }
        @_noLocks @inline(always) set { torque.sampleWait = newValue }
    }

    /// Compares the age of the samples, s, with the age that the torque motors' tuning assumes. While
    /// the motors are off, the loop uses the measured age. While they are on, only a larger age
    /// counts, because the probe has measured the loop delay with the earlier age. NaN means that
    /// the age is unknown.
    @_noLocks
    mutating func note(sampleAge age: Double, isOff: Bool) {
        let assumed = torque.parameters.assumedWait
        let used = age.isNaN ? assumed : min(max(age - SamplePace.usualAge, 0), assumed)
        guard isOff || assumed - used < torque.spareWait else { return }
        torque.spareWait = assumed - used
    }

    /// Updates the motors' thermal model for one control period with the outputs off.
    @_noLocks
    mutating func rest(dt: Double) { thermal.pass(torque: .zero, parameters: motors, dt: dt) }

    /// Resets the controllers before the outputs are switched on, or because the camera's frame has
    /// changed while they are on. The rotors of motors that are on stay where they are, so the
    /// controller of motors without encoders then keeps their angles, and its fields do not jump.
    ///
    /// - Parameters:
    ///   - joints: Joint angles, rad.
    ///   - isRunning: True if the outputs are on.
    @_noLocks
    mutating func reset(joints: AxisVector, isRunning: Bool = false) {
        torque.reset(joints: joints)
        servo.reset(joints: joints)
        if isRunning { field.forgetMotion() } else { field.reset(joints: joints) }
        watch.reset()
        noteState()
    }

    /// Discards the camera's recent motion, because it is not a response to the motors. The method is
    /// not inlined, so the new values do not occupy the stack of a tick without a gap.
    @inline(never) @_noLocks
    mutating func forgetResponse() {
        watch.reset()
        torque.forgetMotion()
        servo.forgetMotion()
        field.forgetResponse()
        noteState()
    }

    /// Computes the motors' output of one control period while the outputs are on. After a gap (see
    /// `GapWatch`), the motion since the last period neither completes a measurement nor begins one.
    @_noLocks
    mutating func step(_ input: ControlInput, isAfterGap: Bool = false) -> MotorOutput {
        if isAfterGap { forgetResponse() }
        defer { if isAfterGap { forgetResponse() } }
        let output: MotorOutput
        switch type {
        case .torque:
            let limit = thermal.limit(
                peak: torque.parameters.torqueLimit, parameters: motors)
            torque.limit = (limit * Self.pausedShare).replacing(limit, outside: watch.paused)
            output = torque.step(input)
            thermal.pass(torque: output.torque, parameters: motors, dt: input.dt)
            watchResponse(to: output.torque, input)
        case .servo:
            output = servo.step(input)
            watchResponse(input)
        case .field:
            output = field.step(input)
        }
        noteState()
        return output
    }

    /// Input for braking. After a failure of the gyroscope, the motors stop the camera before the
    /// outputs are switched off.
    struct Brake: Sendable, BitwiseCopyable {
        /// Camera's rate from sources other than the failed gyroscope, camera frame, rad/s.
        var rate: Vector3
        /// Estimated camera attitude, body to earth.
        var attitude: Quaternion
        /// Joint angles, rad.
        var joints: AxisVector
        /// True if the angles in `joints` come from encoders.
        var areJointsMeasured: Bool
        /// Fraction of the output that reaches the motors, 0...1.
        var authority: Double
        /// Time since the previous control period, s.
        var dt: Double

        @_noLocks
        init(
            rate: Vector3, attitude: Quaternion, joints: AxisVector, areJointsMeasured: Bool,
            authority: Double, dt: Double
        ) {
            self.rate = rate
            self.attitude = attitude
            self.joints = joints
            self.areJointsMeasured = areJointsMeasured
            self.authority = authority
            self.dt = dt
        }
    }

    /// Brakes the camera for one control period.
    ///
    /// Torque motors damp the camera's rate; servos hold their position. Motors without encoders
    /// are switched off. Without a known camera rate, the field would lose its alignment with the
    /// rotor and jerk the camera.
    ///
    /// - Parameters:
    ///   - brake: Authority, and motion of the camera and the joints, in this period.
    ///   - last: The motors' output of the previous control period.
    /// - Returns: The motors' output in this period.
    @_noLocks
    mutating func step(_ brake: Brake, after last: MotorOutput) -> MotorOutput {
        switch type {
        case .servo: return last
        case .field: return MotorOutput(enabled: true, field: last.field, power: .zero)
        case .torque: return damp(brake)
        }
    }

    /// Largest gain from rate to acceleration while the motors brake the camera, 1/s.
    private static var dampingGain: Double { @_noLocks get { 120 } }
    /// Phase margin that the loop delay may cost while the motors brake the camera, rad.
    private static var dampingLag: Double { @_noLocks get { 0.35 } }

    private mutating func damp(_ brake: Brake) -> MotorOutput {
        let kinematics = JointKinematics(joints: brake.joints)
        // While the inertia is uncertain, the torque for the estimate could fling a light camera.
        let safe = torque.learnedInertia * torque.inertia.caution
        let inertia = kinematics.inertia(from: safe)
        let rates = kinematics.components(of: brake.rate)
        let most = Self.dampingLag / max(torque.loopDelay, TimeLimit.shortest)
        let gain = min(Self.dampingGain, most) * brake.authority
        let limit = thermal.limit(peak: torque.parameters.torqueLimit, parameters: motors)
        let torques = (rates * inertia * -gain).clamped(to: limit)
        thermal.pass(torque: torques, parameters: motors, dt: brake.dt)
        // The response to these torques determines the signs for the rest of the braking.
        state.push = .commanded(torques, planned: MotorEffect.Planned())
        return MotorOutput(
            enabled: true, torque: torques, angle: brake.joints,
            power: AxisVector(repeating: brake.areJointsMeasured ? 1 : 0))
    }

    /// Smallest command for the polarity check, as a fraction of a motor's largest torque. Smaller
    /// commands do not overcome friction. If a sign is wrong, the attitude error grows, and the
    /// command soon exceeds this value.
    private static var leastPush: Double { @_noLocks get { 0.03 } }
    /// Torque limit during a test of the sign, as a fraction of the motor's limit.
    private static var pausedShare: Double { @_noLocks get { 0.1 } }

    /// Checks the polarity of the camera's response to the torques.
    private mutating func watchResponse(to torques: AxisVector, _ input: ControlInput) {
        // Beyond the end of a joint's range, the mechanical stop affects the camera's motion too.
        if input.areJointsMeasured, let range = torque.jointRange, !range.contains(input.joints) {
            return watch.reset()
        }
        let kinematics = input.kinematics
        let inertia = kinematics.inertia(from: torque.learnedInertia)
        let limit = torque.parameters.torqueLimit * Self.leastPush
        watch.step(
            accelerations: AxisVector(
                yaw: torques.yaw / inertia.yaw, roll: torques.roll / inertia.roll,
                pitch: torques.pitch / inertia.pitch),
            delay: torque.loopDelay,
            rates: kinematics.components(of: input.rate),
            wanted: kinematics.components(of: input.setpoint.rate),
            errors: kinematics.components(of: torque.attitudeError),
            joints: input.measuredJoints, bar: torque.responseBar,
            least: AxisVector(
                yaw: limit.yaw / inertia.yaw, roll: limit.roll / inertia.roll,
                pitch: limit.pitch / inertia.pitch),
            saturated: torque.saturated, dt: input.dt)
    }

    /// Checks the polarity of the camera's response to the servos.
    private mutating func watchResponse(_ input: ControlInput) {
        let kinematics = JointKinematics(joints: servo.modelledJoints)
        watch.step(
            jointRates: servo.modelledRates, rates: kinematics.jointRates(relativeRate: input.rate),
            wanted: kinematics.jointRates(relativeRate: input.setpoint.rate),
            errors: kinematics.jointRates(relativeRate: servo.attitudeError), dt: input.dt)
    }
}
