/// Set-point to motor output: the controller that fits the kind of motor.
///
/// Loop thread only; constant time, no allocation.
struct MotorDrive: Sendable, BitwiseCopyable {
    let type: MotorType
    /// As of the last period, reset or change of the tuning.
    private(set) var state = MotorState()
    private(set) var torque: AttitudeController
    private(set) var servo: ServoController
    private(set) var field: FieldController
    private(set) var thermal = ThermalBudget()
    private(set) var watch = ResponseWatch()
    private var motors: ThermalBudget.Parameters

    /// Motors at rest.
    init(_ parameters: Stabilizer.Parameters) {
        type = parameters.motorType
        torque = AttitudeController(parameters: parameters.controller)
        servo = ServoController(parameters: parameters.servo)
        field = FieldController(parameters: parameters.field)
        motors = parameters.motors
        torque.jointRange = parameters.jointRange
        note()
    }

    /// The state as the controller in use knows it.
    @_noLocks
    private mutating func note() {
        switch type {
        case .torque: state = torque.state
        case .servo: state = servo.state
        case .field: state = field.state
        }
        state.reversed.insert(watch.reversed)
    }

    /// Changes the tuning; the type stays, integrators too.
    @_noLocks
    mutating func apply(_ parameters: Stabilizer.Parameters) {
        torque.parameters = parameters.controller
        servo.parameters = parameters.servo
        field.parameters = parameters.field
        motors = parameters.motors
        torque.jointRange = parameters.jointRange
        note()
    }

    /// Forgets what the integrals hold. Servos and motors without encoders have none: a model and an observer, which
    /// are no guess that could be stale, stand in their place.
    @_noLocks
    mutating func clearIntegrals() { torque.clearIntegrals() }

    /// The motors whose torque is limited because they are hot.
    var hot: AxisSet { @_noLocks @inline(__always) get { thermal.lowered } }

    /// The joints that cannot be at these angles, rad. A servo's horn cannot be far beyond its
    /// range: started from there, it would jump.
    @_noLocks @inline(__always)
    func outOfReach(_ joints: AxisVector) -> AxisSet {
        guard case .servo = type else { return .none }
        let slack = AxisVector(repeating: 0.2)
        return JointRange(
            minimum: servo.parameters.minimum - slack, maximum: servo.parameters.maximum + slack
        ).outside(joints)
    }

    /// Source of `modelledJoints`.
    var modelSource: JointSource {
        @_noLocks @inline(__always) get {
            if case .field = type { .fieldAngle } else { .servoCommand }
        }
    }

    /// From a command of motors that exert a torque to the sample that shows it, as configured or
    /// found, s.
    var loopDelay: Double {
        @_noLocks @inline(__always) get {
            if case .field = type { field.parameters.loopDelay } else { torque.loopDelay }
        }
    }

    /// How much longer than a tick a sample has to last, s: a delay that nobody has configured.
    var sampleWait: Double {
        @_noLocks get { torque.sampleWait }
        @_noLocks @inline(__always) set { torque.sampleWait = newValue }
    }

    /// One period with the outputs off: the motors cool.
    @_noLocks
    mutating func rest(dt: Double) { thermal.pass(torque: .zero, parameters: motors, dt: dt) }

    /// Outputs are about to come on with the joints at these angles, rad.
    @_noLocks
    mutating func reset(joints: AxisVector) {
        torque.reset(joints: joints)
        servo.reset(joints: joints)
        field.reset(joints: joints)
        watch.reset()
        note()
    }

    /// What the camera did lately says nothing about the motors.
    @_noLocks
    mutating func forgetResponse() {
        watch.reset()
        torque.forgetMotion()
        servo.forgetMotion()
        field.forgetMotion()
        note()
    }

    /// One period with the outputs on.
    @_noLocks
    mutating func step(_ input: ControlInput) -> MotorOutput {
        let output: MotorOutput
        switch type {
        case .torque:
            torque.limit = thermal.limit(
                peak: torque.parameters.torqueLimit, parameters: motors)
            output = torque.step(input)
            thermal.pass(torque: output.torque, parameters: motors, dt: input.dt)
            watchResponse(to: output.torque, input)
        case .servo:
            output = servo.step(input)
            watchResponse(input)
        case .field:
            output = field.step(input)
        }
        note()
        return output
    }

    /// What stops the camera while the gyroscope cannot be used, until the outputs are off.
    struct Brake: Sendable, BitwiseCopyable {
        /// The camera's rate as far as it is known, camera frame, rad/s.
        var rate: Vector3
        /// Estimated camera attitude, body to earth.
        var attitude: Quaternion
        /// Joint angles, rad.
        var joints: AxisVector
        /// Whether `joints` come from encoders.
        var areJointsMeasured: Bool
        /// 0...1.
        var authority: Double
        /// Seconds since the previous period.
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

    /// One period of braking.
    ///
    /// Motors that exert a torque damp the camera's rate; servos stay where they are. A rotor without encoder whose camera's rate
    /// is not known loses its field and is kicked by it, so it is let go.
    ///
    /// - Parameters:
    ///   - brake: What is known of the motion.
    ///   - last: The output of the previous period.
    /// - Returns: What the motors are to do in this period.
    @_noLocks
    mutating func step(_ brake: Brake, after last: MotorOutput) -> MotorOutput {
        switch type {
        case .servo: return last
        case .field: return MotorOutput(enabled: true, field: last.field, power: .zero)
        case .torque: return damp(brake)
        }
    }

    private mutating func damp(_ brake: Brake) -> MotorOutput {
        let kinematics = JointKinematics(joints: brake.joints)
        let inertia = kinematics.inertia(from: torque.learnedInertia)
        let rates = kinematics.components(of: brake.rate)
        // The phase that the delay costs stays below 0.35 rad.
        let gain = min(120, 0.35 / max(torque.parameters.loopDelay, 1e-3)) * brake.authority
        let limit = thermal.limit(peak: torque.parameters.torqueLimit, parameters: motors)
        let torques = (rates * inertia * -gain).clamped(to: limit)
        thermal.pass(torque: torques, parameters: motors, dt: brake.dt)
        return MotorOutput(
            enabled: true, torque: torques, angle: brake.joints,
            power: AxisVector(repeating: brake.areJointsMeasured ? 1 : 0))
    }

    /// Share of a motor's torque that it must have been told before the camera's answer is judged: less moves nothing against
    /// friction, and where a sign is wrong it grows past this.
    private static var leastPush: Double { @_noLocks get { 0.03 } }

    /// Whether the camera goes where torques take it.
    private mutating func watchResponse(to torques: AxisVector, _ input: ControlInput) {
        // At the end of its range a joint is pushed by its stop.
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
            dt: input.dt)
    }

    /// Whether the camera goes where the servos take it.
    private mutating func watchResponse(_ input: ControlInput) {
        let kinematics = JointKinematics(joints: servo.modelledJoints)
        watch.step(
            jointRates: servo.modelledRates, rates: kinematics.jointRates(relativeRate: input.rate),
            wanted: kinematics.jointRates(relativeRate: input.setpoint.rate),
            errors: kinematics.jointRates(relativeRate: servo.attitudeError), dt: input.dt)
    }
}
