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
            areJointsMeasured = joints.isMeasured
            handleRate = joints.handleRate
            self.specificForce = specificForce
            self.excitation = excitation
            self.authority = authority
            self.dt = dt
        }
    }

    private let type: MotorType
    private var torque: AttitudeController
    private var servo: ServoController
    private var field: FieldController
    private var thermal = ThermalBudget()
    private var watch = ResponseWatch()
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

    // What only looks is inlined: to call it, the compiler would copy all of this, some 12 kB, in every tick.

    /// The motors whose torque is limited because they are hot.
    var hot: AxisSet { @_noLocks @inline(__always) get { thermal.lowered } }

    /// One period with the outputs off: the motors cool.
    @_noLocks
    mutating func rest(dt: Double) { thermal.pass(torque: .zero, parameters: motors, dt: dt) }

    /// The motors that were asked for more than they can give in the last step.
    var saturated: AxisSet {
        @_noLocks @inline(__always) get {
            switch type {
            case .torque: torque.saturated
            case .servo: servo.saturated
            case .field: field.saturated
            }
        }
    }

    /// The camera's axes whose gains are down because their motors have made it oscillate.
    var oscillating: AxisSet {
        @_noLocks @inline(__always) get {
            switch type {
            case .torque: torque.oscillating
            case .field: field.oscillating
            case .servo: servo.oscillating
            }
        }
    }

    /// The camera's axes whose inertia could not be found, and is looked for again later.
    var abandoned: AxisSet {
        @_noLocks @inline(__always) get {
            if case .torque = type { torque.abandoned } else { .none }
        }
    }

    /// The camera's axes whose given inertia belongs to another camera.
    var stale: AxisSet {
        @_noLocks @inline(__always) get { if case .torque = type { torque.stale } else { .none } }
    }

    /// The joints that answered the wrong way round in the last step: a motor or the sensor has the wrong sign.
    var reversed: AxisSet {
        @_noLocks @inline(__always) get {
            switch type {
            case .torque:
                var both = watch.reversed
                both.insert(torque.reversed)
                return both
            case .servo: return watch.reversed
            case .field: return .none
            }
        }
    }

    /// The motors without encoder that turn the other way than their field, or a handle that turns twice as fast as the
    /// camera looks like that.
    var mirrored: AxisSet {
        @_noLocks @inline(__always) get { if case .field = type { field.mirrored } else { .none } }
    }

    /// The joints that cannot be at these angles, rad. A servo's horn cannot be far beyond its range: started from
    /// there, it would jump.
    @_noLocks @inline(__always)
    func outOfReach(_ joints: AxisVector) -> AxisSet {
        guard case .servo = type else { return .none }
        let slack = AxisVector(repeating: 0.2)
        return JointRange(
            minimum: servo.parameters.minimum - slack, maximum: servo.parameters.maximum + slack
        ).outside(joints)
    }

    /// The rotors that have left their field, now or within a second.
    var slipping: AxisSet {
        @_noLocks @inline(__always) get { if case .field = type { field.slipping } else { .none } }
    }

    /// What `modelledJoints` rest on.
    var modelSource: JointSource {
        @_noLocks @inline(__always) get {
            if case .field = type { .fieldAngle } else { .servoCommand }
        }
    }

    /// From a command of motors that exert a torque to the sample that shows it, as configured or found, s.
    var loopDelay: Double {
        @_noLocks @inline(__always) get {
            if case .field = type { field.parameters.loopDelay } else { torque.loopDelay }
        }
    }

    /// Whether a set-point can be followed: false while the inertia is being looked for.
    var isReady: Bool {
        @_noLocks @inline(__always) get {
            switch type {
            case .torque: torque.isReady
            case .servo: true
            case .field: field.isReady
            }
        }
    }

    /// Sliding friction of each joint as learned, N·m: of motors that exert torques.
    var friction: AxisVector {
        @_noLocks get { if case .torque = type { torque.learnedFriction } else { .zero } }
    }

    /// Mass times offset of the camera's centre of mass as learned, camera frame, kg·m.
    var imbalance: Vector3 {
        @_noLocks get { if case .torque = type { torque.learnedImbalance } else { .zero } }
    }

    /// The inertia about the camera's axes as found or configured, kg·m², and its standard deviation, natural logarithm;
    /// zero where the kind of motor does not need it.
    var inertia: (values: AxisVector, sigmas: AxisVector) {
        @_noLocks @inline(__always) get {
            switch type {
            case .torque: (torque.learnedInertia, torque.inertiaSigma)
            case .servo: (.zero, .zero)
            case .field: (field.inertia, field.inertiaSigma)
            }
        }
    }

    /// What motors without encoder exerted when the gyroscope saw the camera as it is now, N·m; zero for others.
    var exerted: AxisVector {
        @_noLocks @inline(__always) get {
            if case .field = type { field.exerted } else { .zero }
        }
    }

    /// How fast the servos' model believes the joints to turn, rad/s; zero for others.
    var servoRates: AxisVector {
        @_noLocks @inline(__always) get {
            if case .servo = type { servo.modelledRates } else { .zero }
        }
    }

    /// The torques of motors without encoders; unknown while the place of a rotor is, and for other kinds of motors.
    var rotorPush: MotorEffect.Push {
        @_noLocks @inline(__always) get {
            guard case .field = type, field.isPlaced else { return .unknown }
            return .exerted(field.exerted)
        }
    }

    /// The torques that motors without encoder are asked for, N·m, as far as their fields can give them; zero for others.
    var asked: AxisVector {
        @_noLocks @inline(__always) get {
            if case .field = type { field.asked } else { .zero }
        }
    }

    /// Where the motors' own model believes the joints to be, rad; nil where the kind of motor has none.
    var modelledJoints: AxisVector? {
        @_noLocks @inline(__always) get {
            switch type {
            case .torque: nil
            case .servo: servo.modelledJoints
            case .field: field.modelledJoints
            }
        }
    }

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
        let kinematics = JointKinematics(joints: input.joints)
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
