/// Source of the joint angles.
public enum JointSource: UInt8, Sendable, BitwiseCopyable {
    /// No source exists; the handle is assumed to be upright. While the motors stop after a failure
    /// of the encoders, the angles are those that the encoders have measured last.
    case assumed
    /// The joints' encoders.
    case encoders
    /// A model of the servos that receives the same commands as the servos.
    case servoCommand
    /// The rotor observers of motors without encoders.
    case fieldAngle
    /// A second IMU on the handle.
    case handleIMU

    /// True if two sources are different. The comparison is a method, because the real-time checker
    /// rejects the synthesized operator.
    @_noLocks
    func differs(from other: JointSource) -> Bool {
        switch (self, other) {
        case (.assumed, .assumed), (.encoders, .encoders), (.servoCommand, .servoCommand),
            (.fieldAngle, .fieldAngle), (.handleIMU, .handleIMU):
            false
        default: true
        }
    }
}

/// The set-point and its target in one tick. All angles are earth-frame angles, Euler sequence
/// Z-X-Y.
public struct PointingSnapshot: Sendable, BitwiseCopyable {
    /// Angles of the set-point, rad; yaw includes whole turns.
    public var angles = AxisVector.zero
    /// Rates of the set-point angles, rad/s.
    public var rates = AxisVector.zero
    /// Accelerations of the set-point angles, rad/s².
    public var accelerations = AxisVector.zero
    /// Target of each angle, rad.
    public var target = AxisVector.zero
    /// Lag of each angle behind the followed handle angle, rad; zero on an axis that does not
    /// follow the handle.
    public var followError = AxisVector.zero
    /// Angles by which yaw can still turn in each direction until a joint reaches the end of its
    /// range.
    public var yawRoom = TurnRange.endless
    /// Seconds until mode `tracking` ends automatically; NaN in other modes.
    public var trackingSeconds = Double.nan

    /// Creates the values that apply until the first tick.
    @_noLocks
    public init() {}
}

/// All published values of one tick, copied from the stabilizer. The values are in SI units, in the
/// frames of `IMUSample`. A snapshot contains no references, so it can be stored in a ring buffer.
public struct StabilizerSnapshot: Sendable, BitwiseCopyable {
    /// Mode of the set-point.
    public var mode = Mode.inactive
    /// State of the outputs.
    public var phase = Supervisor.Phase.off
    /// Fraction of the controller's output that reaches the motors, 0...1.
    public var authority = 0.0
    /// All conditions that hold now.
    public var conditions: Conditions = .none
    /// Axes on which the conditions of motors, joints and camera axes hold.
    public var conditionAxes = ConditionAxes()
    /// Estimated attitude, body to earth.
    public var attitude = Quaternion.identity
    /// Commanded attitude, body to earth.
    public var setpoint = Quaternion.identity
    /// Motion of the set-point.
    public var pointing = PointingSnapshot()
    /// Fractions of the configured limits that the set-point's motion may use.
    public var motion = MotionLimits()
    /// Rotation from the estimated to the commanded attitude, body frame, rad.
    public var attitudeError = Vector3.zero
    /// Angular rate without bias, body frame, rad/s.
    public var rate = Vector3.zero
    /// Estimated gyroscope bias, body frame, rad/s.
    public var bias = Vector3.zero
    /// Standard deviation of `bias`, rad/s.
    public var biasSigma = Vector3.zero
    /// Standard deviation of the inclination, rad.
    public var inclinationSigma = 0.0
    /// Standard deviation of the heading relative to magnetic north, rad; π without magnetometer
    /// data.
    public var headingSigma = Double.pi
    /// Estimated relative scale error of each gyroscope axis, body frame.
    public var gyroScale = Vector3.zero
    /// Vector from the sensor's centre of rotation to the sensor, body frame, m.
    public var lever = Vector3.zero
    /// Weight of the last accelerometer correction, 0...1. The weight is below 1 if the camera
    /// accelerates more than assumed, as in a braking vehicle; 0 while the accelerometer is not
    /// used.
    public var accelerationWeight = 1.0
    /// RMS of the estimator's velocity innovation over the last second, in standard deviations. The
    /// value is at most 1 if the estimator's assumptions hold.
    public var innovation = 0.0
    /// True if a gyroscope axis was at full scale in the last sample.
    public var isGyroSaturated = false
    /// RMS of the specific force, high-passed at 31 Hz, over about 1 s, m/s².
    public var accelVibration = 0.0
    /// RMS of the rate, high-passed at 31 Hz, over about 1 s, rad/s.
    public var gyroVibration = 0.0
    /// True if the estimator detects rest.
    public var isAtRest = false
    /// Last corrected specific force, body frame, m/s².
    public var accel = Vector3.zero
    /// All measured rates of this tick, camera frame, bias included, rad/s, for spectra.
    public var gyro = GyroBatch()
    /// Last raw rate, sensor frame, rad/s, for calibration.
    public var rawGyro = Vector3.zero
    /// Last raw specific force, sensor frame, m/s².
    public var rawAccel = Vector3.zero
    /// Last raw magnetic field, sensor frame, µT. Most samples contain no field, because a
    /// magnetometer is slower than the other sensors.
    public var rawMagneticField = Vector3.zero
    /// Time of the sample that contained `rawMagneticField`; zero before the first field.
    public var magneticTime = Instant(nanoseconds: 0)
    /// Last temperature of the sensor, °C; NaN if the sensor does not measure its temperature.
    public var temperature = Double.nan
    /// Joint angles, rad.
    public var joints = AxisVector.zero
    /// Source of `joints`.
    public var jointSource = JointSource.assumed
    /// Inertia about the camera's axes, identified or configured, kg·m²; zero for servos.
    public var inertia = AxisVector.zero
    /// Learned sliding friction of each joint, N·m; zero if the friction is not compensated.
    public var friction = AxisVector.zero
    /// Learned product of mass and centre-of-mass offset of the camera, camera frame, kg·m.
    public var imbalance = Vector3.zero
    /// Torque of a hand on each joint, N·m; zero while the detection `HandPush` is off.
    public var hand = AxisVector.zero
    /// RMS of the feedback torque about each camera axis, high-passed at 50 Hz, over about 1 s,
    /// N·m. The gyroscope's noise causes this torque. The value applies only to motors of type
    /// `torque`.
    public var hum = AxisVector.zero
    /// Reduction of each camera axis's stiffness by `MotorNoise`, as a fraction of the largest
    /// reduction, 0...1; 0 means no reduction.
    public var softening = AxisVector.zero
    /// Fraction of the handle's fast motion that servos compensate, about the handle's axes, 0...1.
    /// The value is 1 if `servo.leave_tremor` is false, and NaN if the motors are not servos.
    public var followed = AxisVector(repeating: .nan)
    /// Power of each motor without encoder while it has no load, as a fraction of the power stage's
    /// maximum, 0...1; NaN for other motors.
    public var restPower = AxisVector.unknown
    /// Standard deviation of the natural logarithm of `inertia`. 0.1 corresponds to 10 %; 0 means a
    /// configured inertia.
    public var inertiaSigma = AxisVector.zero
    /// Loop delay that the controller assumes, configured or measured, s; not for servos.
    public var loopDelay = 0.0
    /// Factor by which all corner frequencies of the controller are reduced after an oscillation,
    /// and because `loopDelay` is longer than assumed, 0...1; 1 for servos.
    public var bandwidth = 1.0
    /// Part of `loopDelay` that a sensor slower than the loop causes, s; see `SamplePace`.
    public var sampleWait = 0.0
    /// Torque on each joint at the time of the gyroscope's newest sample, N·m; zero for motors with
    /// encoders and for servos.
    public var exerted = AxisVector.zero
    /// True if a source of joint angles exists, or will exist when the outputs are switched on.
    public var showsJoints = false
    /// Number of requests for a mode since start-up, including emergency stops.
    public var modeRequests: UInt64 = 0
    /// State of the running or the most recent excitation.
    public var excitation = Exciter.State()
    /// Commands to the motors.
    public var output = MotorOutput.off
    /// Time of the newest sample.
    public var sampleTime = Instant(nanoseconds: 0)
    /// Numbers of samples and of faults since start-up.
    public var samples = SampleScreen.Counters()

    /// Creates the values that apply until the first tick.
    public init() {}
}

extension StabilizerSnapshot {
    /// Time since the last magnetic field, s; nil before the first field.
    @_noLocks
    func sinceMagneticField(at time: Instant) -> Double? {
        magneticTime.nanoseconds == 0 ? nil : time.seconds(since: magneticTime)
    }
}
