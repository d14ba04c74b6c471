/// Input of one period of control, the same for every kind of motor.
public struct ControlInput: Sendable, BitwiseCopyable {
    /// Estimated camera attitude, body to earth.
    public var attitude: Quaternion
    /// Camera rate without bias, body frame, rad/s.
    public var rate: Vector3
    /// Where the camera is to look now.
    public var setpoint: Setpoint
    /// Joint angles, rad.
    public var joints: AxisVector
    /// The geometry at these angles.
    var kinematics: JointKinematics
    /// Whether `joints` come from encoders.
    public var areJointsMeasured: Bool
    /// Rate of the handle as a second IMU measures it, handle frame, rad/s; nil = none fitted.
    public var handleRate: Vector3?
    /// Specific force as measured, camera frame, m/s²; zero: not known.
    public var specificForce: Vector3
    /// Excitation added to learn from the answer: about the camera's axes, N·m, or for servos rad.
    public var excitation: Vector3
    /// The soft start, 0...1: of the torque, of the way of a servo, of the power of a field.
    public var authority: Double
    /// Seconds since the previous period, more than 0, at most 0.1.
    public var dt: Double

    /// A period; omitted values are neither measured nor wanted.
    @_noLocks
    public init(
        attitude: Quaternion, rate: Vector3, setpoint: Setpoint, joints: AxisVector = .zero,
        areJointsMeasured: Bool = false, handleRate: Vector3? = nil,
        specificForce: Vector3 = .zero, excitation: Vector3 = .zero, authority: Double, dt: Double
    ) {
        self.init(
            attitude: attitude, rate: rate, setpoint: setpoint, joints: joints,
            kinematics: JointKinematics(joints: joints), areJointsMeasured: areJointsMeasured,
            handleRate: handleRate, specificForce: specificForce, excitation: excitation,
            authority: authority, dt: dt)
    }

    /// A period of the loop, with what it knows of the joints.
    @_noLocks
    init(
        attitude: Quaternion, rate: Vector3, setpoint: Setpoint, joints: AxisVector,
        kinematics: JointKinematics, areJointsMeasured: Bool, handleRate: Vector3?,
        specificForce: Vector3, excitation: Vector3, authority: Double, dt: Double
    ) {
        self.attitude = attitude
        self.rate = rate
        self.setpoint = setpoint
        self.joints = joints
        self.kinematics = kinematics
        self.areJointsMeasured = areJointsMeasured
        self.handleRate = handleRate
        self.specificForce = specificForce
        self.excitation = excitation
        self.authority = authority
        self.dt = dt
    }

    /// Whether a controller can use it: finite, and a possible period.
    var isUsable: Bool {
        @_noLocks get {
            attitude.isFinite && rate.isFinite && joints.isFinite && setpoint.isFinite
                && specificForce.isFinite && authority.isFinite && dt > 0 && dt <= 0.1
        }
    }

    /// The joint angles as encoders measure them, rad; nil = none fitted.
    var measuredJoints: AxisVector? { @_noLocks get { areJointsMeasured ? joints : nil } }
}

/// State of the motors as their controller knows it, as of its last period; what a kind of motor
/// does not have stays as it is here.
struct MotorState: Sendable, BitwiseCopyable {
    /// The motors that were asked for more than they can give.
    var saturated = AxisSet.none
    /// The camera's axes whose gains are down because their motors have made it oscillate.
    var oscillating = AxisSet.none
    /// Whether motors without encoders have made the camera oscillate within the last seconds: its
    /// answer then proves no wrong sign.
    var isShaking = false
    /// The camera's axes whose inertia could not be found, and is looked for again later.
    var abandoned = AxisSet.none
    /// The camera's axes whose given inertia belongs to another camera.
    var stale = AxisSet.none
    /// The joints that answered the wrong way round: a motor or the sensor has the wrong sign.
    var reversed = AxisSet.none
    /// The motors without encoder that turn the other way than their field, or a handle that turns
    /// twice as fast as the camera looks like that.
    var mirrored = AxisSet.none
    /// The rotors that have left their field, now or within a second.
    var slipping = AxisSet.none
    /// Whether a set-point can be followed: false while the inertia is being looked for.
    var isReady = true
    /// The inertia about the camera's axes as found or configured, kg·m², and its standard
    /// deviation, natural logarithm.
    var inertia = (values: AxisVector.zero, sigmas: AxisVector.zero)
    /// Sliding friction of each joint as learned, N·m.
    var friction = AxisVector.zero
    /// Mass times offset of the camera's centre of mass as learned, camera frame, kg·m.
    var imbalance = Vector3.zero
    /// Moment of the feedback above 50 Hz about the camera's axes, N·m RMS, and how far each axis
    /// has become less stiff because of it, 0...1.
    var hum = (rms: AxisVector.zero, calm: AxisVector.zero)
    /// The torques whose mirror image in the camera's motion shows a wrong sign.
    var push = MotorEffect.Push.unknown
    /// Torque that motors without encoders exerted when the gyroscope saw the camera as it is now,
    /// N·m.
    var exerted = AxisVector.zero
    /// The torques that motors without encoder are asked for, N·m, as far as their fields can give
    /// them.
    var asked = AxisVector.zero
    /// Joint rates of the servos' model, rad/s.
    var modelledRates = AxisVector.zero
    /// Joint angles of the motors' own model, rad; nil where they have none.
    var modelledJoints: AxisVector?

    @_noLocks
    init() {}
}

/// A controller for one kind of motor.
///
/// Loop thread only; constant time, no allocation.
protocol MotorController: Sendable, BitwiseCopyable {
    /// One period with the outputs on.
    mutating func step(_ input: ControlInput) -> MotorOutput
    /// Outputs are about to come on with the joints at these angles, rad.
    mutating func reset(joints: AxisVector)
    /// The camera's motion of late says nothing about the motors.
    mutating func forgetMotion()
    /// Everything that the rest of the core asks for.
    var state: MotorState { get }
}
