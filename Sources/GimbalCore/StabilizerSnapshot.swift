/// Where joint angles come from.
public enum JointSource: UInt8, Sendable, BitwiseCopyable {
    /// Nobody measures them: what they are when the handle is held upright.
    case assumed
    /// Encoders.
    case encoders
    /// What the servos were told.
    case servoCommand
    /// The field angle of the motors, less their load.
    case fieldAngle
    /// A second IMU on the handle.
    case handleIMU

    /// Written out: the loop's checker refuses the derived comparison.
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

/// Where the set-point is and where it is going, in one tick. Earth-frame angles, Z-X-Y.
public struct PointingSnapshot: Sendable, BitwiseCopyable {
    /// Angles of the set-point, rad; yaw counts whole turns.
    public var angles = AxisVector.zero
    /// Their rates, rad/s.
    public var rates = AxisVector.zero
    /// Their accelerations, rad/s².
    public var accelerations = AxisVector.zero
    /// Where each angle is going, rad.
    public var target = AxisVector.zero
    /// How far each angle is behind the handle that it follows, rad; zero on an axis that does not follow.
    public var followError = AxisVector.zero
    /// How far yaw can turn from its angle.
    public var yawRoom = TurnRoom.endless
    /// Seconds until mode `tracking` ends by itself; NaN in other modes.
    public var trackingSeconds = Double.nan

    /// Before the first tick.
    @_noLocks
    public init() {}
}

/// Everything a viewer may want to know about one tick, copied out of the stabilizer. SI units, frames as in
/// `IMUSample`; no reference to anything, so that it can travel through a ring.
public struct StabilizerSnapshot: Sendable, BitwiseCopyable {
    /// What the gimbal is asked to do.
    public var mode = Mode.inactive
    /// Where the outputs stand.
    public var phase = Supervisor.Phase.off
    /// Share of the controller's output that reaches the motors, 0...1.
    public var authority = 0.0
    /// Everything that holds now.
    public var conditions: Conditions = .none
    /// On which axes those hold that belong to a motor or a joint.
    public var conditionAxes = ConditionAxes()
    /// Estimated attitude, body to earth.
    public var attitude = Quaternion.identity
    /// Commanded attitude, body to earth.
    public var setpoint = Quaternion.identity
    /// How the command moves.
    public var pointing = PointingSnapshot()
    /// Rotation from the estimate to the command, body frame, rad.
    public var attitudeError = Vector3.zero
    /// Angular rate without bias, body frame, rad/s.
    public var rate = Vector3.zero
    /// Estimated gyroscope bias, body frame, rad/s.
    public var bias = Vector3.zero
    /// Standard deviation of `bias`, rad/s.
    public var biasSigma = Vector3.zero
    /// Standard deviation of the inclination, rad.
    public var inclinationSigma = 0.0
    /// Standard deviation of the heading against magnetic north, rad; π where no magnetometer says anything.
    public var headingSigma = Double.pi
    /// Estimated relative scale error of each gyroscope axis, body frame.
    public var gyroScale = Vector3.zero
    /// Estimated share of the following axis's rate that each axis of the gyroscope reads: of y in
    /// x, of z in y, of x in z.
    public var gyroCrossNext = Vector3.zero
    /// Estimated share of the preceding axis's rate that each axis of the gyroscope reads: of z in
    /// x, of x in y, of y in z.
    public var gyroCrossAfter = Vector3.zero
    /// Distance of the sensor from its centre of rotation, body frame, m.
    public var lever = Vector3.zero
    /// Weight of the last accelerometer correction, 0...1: below 1 an acceleration is being rejected.
    public var accelerationWeight = 1.0
    /// Root mean square of the estimator's normalised innovation over a second: up to 1 is as modelled.
    public var innovation = 0.0
    /// Whether a gyroscope axis was at the end of its range in the last sample.
    public var isGyroSaturated = false
    /// Root mean square of the specific force above 31 Hz over a second, m/s².
    public var accelVibration = 0.0
    /// Root mean square of the rate above 31 Hz over a second, rad/s.
    public var gyroVibration = 0.0
    /// Whether the estimator sees rest.
    public var isAtRest = false
    /// Last specific force, body frame, corrected, m/s².
    public var accel = Vector3.zero
    /// Every rate of this tick, camera frame, bias included: what a spectrum is made of.
    public var gyro = GyroBatch()
    /// Last rate as the sensor said it, sensor frame, rad/s: what calibration looks at.
    public var rawGyro = Vector3.zero
    /// Last specific force as the sensor said it, sensor frame, m/s².
    public var rawAccel = Vector3.zero
    /// Last magnetic field as the sensor said it, sensor frame, µT; valid with `hasMagneticField`.
    public var rawMagneticField = Vector3.zero
    /// Whether the last sample carried a magnetic field.
    public var hasMagneticField = false
    /// Last temperature of the sensor, °C; NaN where it delivers none.
    public var temperature = Double.nan
    /// Joint angles, rad.
    public var joints = AxisVector.zero
    /// Where `joints` come from.
    public var jointSource = JointSource.assumed
    /// Inertia about the camera's axes, found or configured, kg·m²; motors of type torque only.
    public var inertia = AxisVector.zero
    /// Sliding friction of each joint as learned, N·m; zero where it is not compensated.
    public var friction = AxisVector.zero
    /// Mass times offset of the camera's centre of mass as learned, camera frame, kg·m.
    public var imbalance = Vector3.zero
    /// Moment of the feedback above 50 Hz about the camera's axes, N·m RMS over about a second: what the gyroscope's noise makes the
    /// motors do; motors of type torque only.
    public var hum = AxisVector.zero
    /// Share of stiffness that each of the camera's axes has given up to bound its hum, 0...1.
    public var calm = AxisVector.zero
    /// Standard deviation of `inertia`, natural logarithm: 0.1 is 10 %, 0 is given.
    public var inertiaSigma = AxisVector.zero
    /// What motors without encoder exerted at the joints when the gyroscope saw the camera as it is now, N·m; zero for
    /// others.
    public var exerted = AxisVector.zero
    /// Whether there is, or with the outputs on there will be, something that shows the joints.
    public var showsJoints = false
    /// Requests for a mode since the start, emergency stops among them.
    public var modeRequests: UInt64 = 0
    /// The excitation that runs, or ran last.
    public var excitation = Exciter.State()
    /// What the motors were told.
    public var output = MotorOutput.off
    /// When the newest sample was taken.
    public var sampleTime = Instant(nanoseconds: 0)
    /// Samples and faults since the start.
    public var samples = SampleScreen.Counters()

    /// Before the first tick.
    public init() {}
}
