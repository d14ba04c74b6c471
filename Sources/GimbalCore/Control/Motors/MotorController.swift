/// Input of a motor controller in one control period, common to all kinds of motors.
public struct ControlInput: Sendable, BitwiseCopyable {
    /// Estimated camera attitude, body to earth.
    public var attitude: Quaternion
    /// Look-ahead of `attitude` relative to the gyroscope's newest sample, s: the estimator's
    /// `sensorDelay`.
    public var attitudeLead: Double
    /// Camera rate without bias, body frame, rad/s.
    public var rate: Vector3
    /// The camera's set-point in this control period.
    public var setpoint: Setpoint
    /// Joint angles, rad.
    public var joints: AxisVector
    /// Geometry of the joints at the angles `joints`.
    var kinematics: JointKinematics
    /// True if the angles in `joints` come from encoders.
    public var areJointsMeasured: Bool
    /// Rate of the handle from a second IMU, handle frame, rad/s; nil without a second IMU.
    public var handleRate: Vector3?
    /// Measured specific force, camera frame, m/s²; zero if unknown.
    public var specificForce: Vector3
    /// Excitation for the identification: a moment about the camera's axes, N·m, or for servos
    /// joint angles, rad.
    public var excitation: Vector3
    /// Authority during a soft start, 0...1: a scale factor for the torque, for the change of a
    /// servo's command, or for a field's power.
    public var authority: Double
    /// Time since the previous control period, s, more than 0, at most 0.1.
    public var dt: Double

    /// Creates an input. Omit values that are not measured or not requested.
    @_noLocks
    public init(
        attitude: Quaternion, attitudeLead: Double = AttitudeEstimator.Parameters().sensorDelay,
        rate: Vector3, setpoint: Setpoint, joints: AxisVector = .zero,
        areJointsMeasured: Bool = false,
        handleRate: Vector3? = nil, specificForce: Vector3 = .zero, excitation: Vector3 = .zero,
        authority: Double, dt: Double
    ) {
        self.init(
            attitude: attitude, attitudeLead: attitudeLead, rate: rate, setpoint: setpoint,
            joints: joints, kinematics: JointKinematics(joints: joints),
            areJointsMeasured: areJointsMeasured,
            handleRate: handleRate, specificForce: specificForce, excitation: excitation,
            authority: authority, dt: dt)
    }

    /// Creates the input of one control period from the joints' state.
    @_noLocks
    init(
        attitude: Quaternion, attitudeLead: Double, rate: Vector3, setpoint: Setpoint,
        joints: AxisVector, kinematics: JointKinematics, areJointsMeasured: Bool,
        handleRate: Vector3?, specificForce: Vector3, excitation: Vector3, authority: Double,
        dt: Double
    ) {
        self.attitude = attitude
        self.attitudeLead = attitudeLead
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

    /// True if a controller can use the input: all values are finite, and `dt` is in its range.
    var isUsable: Bool {
        @_noLocks get {
            attitude.isFinite && rate.isFinite && joints.isFinite && setpoint.isFinite
                && specificForce.isFinite && authority.isFinite && dt > 0
                && dt <= TimeLimit.longestPeriod
        }
    }

    /// Joint angles from encoders, rad; nil without encoders.
    var measuredJoints: AxisVector? { @_noLocks get { areJointsMeasured ? joints : nil } }
}

/// State of the motors after the last period of their controller. Properties that do not apply to a
/// kind of motor have their default values.
struct MotorState: Sendable, BitwiseCopyable {
    /// The motors whose command exceeds their limit.
    var saturated = AxisSet.none
    /// The camera axes with reduced gains after an oscillation.
    var oscillating = AxisSet.none
    /// True if motors without encoders have made the camera oscillate within the last seconds.
    /// During an oscillation, the camera's response is not evidence of a wrong sign.
    var isShaking = false
    /// The camera axes on which the identification of the inertia has failed. The identification is
    /// repeated later.
    var abandoned = AxisSet.none
    /// The camera axes on which the measured inertia contradicts the configured inertia, because
    /// the camera has been swapped.
    var stale = AxisSet.none
    /// The joints whose response is reversed, because a motor or the sensor has the wrong sign.
    var reversed = AxisSet.none
    /// The camera axes on which the response to the probe is reversed, for the same reasons.
    var reversedCameraAxes = AxisSet.none
    /// The motors without encoder that seem to turn opposite to their field. A handle rotation at
    /// twice the camera's rate has the same effect on the gyroscope as a reversed motor.
    var opposed = AxisSet.none
    /// The rotors that have slipped out of their magnetic field within the last second.
    var slipping = AxisSet.none
    /// True if the controller can follow a set-point; false while the inertia is being identified.
    var isReady = true
    /// Inertia about the camera's axes, identified or configured: `values` in kg·m², `sigmas` as
    /// standard deviations of the natural logarithm.
    var inertia = (values: AxisVector.zero, sigmas: AxisVector.zero)
    /// Learned sliding friction of each joint, N·m.
    var friction = AxisVector.zero
    /// Learned product of mass and centre-of-mass offset of the camera, camera frame, kg·m.
    var imbalance = Vector3.zero
    /// Motor noise of each camera axis (see `MotorNoise`). `rms` is the RMS feedback moment above
    /// 50 Hz, N·m; `softening` is the resulting stiffness reduction, 0...1.
    var hum = (rms: AxisVector.zero, softening: AxisVector.zero)
    /// Torques for the polarity check. If the camera moves in the opposite direction, a motor or a
    /// sensor has the wrong sign.
    var push = MotorEffect.Push.unknown
    /// Factor by which all corner frequencies of the controller are reduced after an oscillation,
    /// and because the loop delay is longer than configured, 0...1; 1 for servos.
    var bandwidth = 1.0
    /// Torque of motors without encoders at the sampling instant of the gyroscope's newest sample,
    /// N·m.
    var exerted = AxisVector.zero
    /// Requested torques of motors without encoders, N·m, limited to the torques that their fields
    /// can exert.
    var asked = AxisVector.zero
    /// Power without load of motors without encoders, 0...1; NaN for other motors.
    var restPower = AxisVector.unknown
    /// Largest possible change of the servos' joint rates within a sample period, given their
    /// commands, rad/s.
    var jolts = AxisVector.zero
    /// Fraction of the handle's fast motion that servos compensate, about the handle's axes, 0...1.
    var followed = AxisVector.zero
    /// Torques on the joints that neither inertia, nor imbalance, nor friction explains, N·m; NaN
    /// while they are unknown.
    var unexplained = AxisVector.unknown
    /// True while a probe measures the inertia.
    var isProbing = false
    /// Joint angles according to a model of the motors, rad; nil without a model.
    var modelledJoints: AxisVector?

    @_noLocks
    init() {}
}

/// A controller for one kind of motor.
///
/// Runs on the loop thread only, in constant time and without allocation.
protocol MotorController: Sendable, BitwiseCopyable {
    /// Computes the motors' output of one control period while the outputs are on.
    mutating func step(_ input: ControlInput) -> MotorOutput
    /// Resets the controller before the outputs are switched on; the joints are at the angles
    /// `joints`, rad.
    mutating func reset(joints: AxisVector)
    /// Discards the camera's recent motion, because it is not a response to the motors.
    mutating func forgetMotion()
    /// State of the motors.
    var state: MotorState { get }
}
