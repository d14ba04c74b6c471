/// Set-point to motor output: the controller that fits the kind of motor.
///
/// Loop thread only; constant time, no allocation.
struct MotorDrive: Sendable, BitwiseCopyable {
    /// What one period of control starts from.
    struct Input: Sendable, BitwiseCopyable {
        /// Estimated camera attitude, body to earth.
        var attitude: Quaternion
        /// Camera rate without bias, body frame, rad/s.
        var rate: Vector3
        /// Where the camera is to look.
        var setpoint: Setpoint
        /// Joint angles, rad.
        var joints: AxisVector
        /// The geometry at these angles.
        var kinematics: JointKinematics
        /// Whether `joints` come from encoders.
        var areJointsMeasured: Bool
        /// What a gyroscope on the handle says, handle frame, rad/s; nil without one.
        var handleRate: Vector3?
        /// What the accelerometer measures, body frame, m/s².
        var specificForce: Vector3
        /// What is exerted on top to learn from the answer: about the camera's axes, N·m, or for servos rad.
        var excitation: Vector3
        /// 0...1, the soft start.
        var authority: Double
        /// Seconds since the previous period.
        var dt: Double

        @_noLocks
        init(
            attitude: Quaternion, rate: Vector3, setpoint: Setpoint, joints: JointObserver,
            specificForce: Vector3, excitation: Vector3, authority: Double, dt: Double
        ) {
            self.attitude = attitude
            self.rate = rate
            self.setpoint = setpoint
            self.joints = joints.motion.angles
            kinematics = joints.motion.kinematics
            areJointsMeasured = joints.isMeasured
            handleRate = joints.handleRate
            self.specificForce = specificForce
            self.excitation = excitation
            self.authority = authority
            self.dt = dt
        }
    }

    let type: MotorType
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
    }

    /// Changes the tuning; the type stays, integrators too.
    @_noLocks
    mutating func apply(_ parameters: Stabilizer.Parameters) {
        torque.parameters = parameters.controller
        servo.parameters = parameters.servo
        field.parameters = parameters.field
        motors = parameters.motors
        torque.jointRange = parameters.jointRange
    }

    /// Forgets what the integrals hold. Servos and motors without encoders have none: a model and an observer, which
    /// are no guess that could be stale, stand in their place.
    @_noLocks
    mutating func clearIntegrals() { torque.clearIntegrals() }

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
        torque.reset()
        servo.reset(joints: joints)
        field.reset(joints: joints)
        watch.reset()
    }

    /// What the camera did lately says nothing about the motors.
    @_noLocks
    mutating func forgetResponse() {
        watch.reset()
        torque.forgetResponse()
        servo.forgetMotion()
        field.forgetMirrors()
    }

    /// One period with the outputs on.
    @_noLocks
    mutating func step(_ input: Input) -> MotorOutput {
        switch type {
        case .torque:
            if !(input.excitation == .zero) { torque.forgetOscillation() }
            torque.limit = thermal.limit(
                peak: torque.parameters.torqueLimit, parameters: motors)
            let torques = torque.step(
                attitude: input.attitude, rate: input.rate, setpoint: input.setpoint,
                joints: input.joints, areJointsMeasured: input.areJointsMeasured,
                handleRate: input.handleRate, specificForce: input.specificForce,
                authority: input.authority, dt: input.dt)
            thermal.pass(torque: torques, parameters: motors, dt: input.dt)
            watchResponse(to: torques, input)
            return MotorOutput(
                enabled: true, torque: torques, angle: input.joints,
                power: AxisVector(repeating: input.areJointsMeasured ? 1 : 0))
        case .servo:
            let angles = servo.step(
                attitude: input.attitude, rate: input.rate, setpoint: input.setpoint,
                handleRate: input.handleRate,
                excitation: AxisVector(
                    yaw: input.excitation.z, roll: input.excitation.x, pitch: input.excitation.y),
                authority: input.authority, dt: input.dt)
            watchResponse(input)
            return MotorOutput(
                enabled: true, angle: angles, power: AxisVector(repeating: 1))
        case .field:
            let fields = field.step(
                attitude: input.attitude, rate: input.rate, setpoint: input.setpoint,
                measuredJoints: input.areJointsMeasured ? input.joints : nil,
                handleRate: input.handleRate, excitation: input.excitation,
                authority: input.authority, dt: input.dt)
            return MotorOutput(enabled: true, field: fields.field, power: fields.power)
        }
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
    private mutating func watchResponse(to torques: AxisVector, _ input: Input) {
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
            joints: input.areJointsMeasured ? input.joints : nil, bar: torque.responseBar,
            least: AxisVector(
                yaw: limit.yaw / inertia.yaw, roll: limit.roll / inertia.roll,
                pitch: limit.pitch / inertia.pitch),
            dt: input.dt)
    }

    /// Whether the camera goes where the servos take it.
    private mutating func watchResponse(_ input: Input) {
        let kinematics = JointKinematics(joints: servo.modelledJoints)
        watch.step(
            jointRates: servo.modelledRates, rates: kinematics.jointRates(relativeRate: input.rate),
            wanted: kinematics.jointRates(relativeRate: input.setpoint.rate),
            errors: kinematics.jointRates(relativeRate: servo.attitudeError), dt: input.dt)
    }
}
