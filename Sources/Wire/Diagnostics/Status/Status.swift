public import GimbalCore

/// Content of `status`; the daemon and the client use the same type. The last part of a key is the
/// unit; an unknown number is `null`. This type has properties only for values that programs read.
/// All other values in the answer come from the cases of `Observable`.
public struct Status: Hashable, Sendable, Codable {
    /// Time of this status, seconds on the loop's clock.
    public var t: Number = .unknown
    /// Version of airframed.
    public var version = ""
    /// Time since the daemon's start, s.
    public var uptimeS: Number = .unknown
    /// Value of the setting `hardware.backend`: `simulated`, `lockstep` or `linux`.
    public var backend = ""
    /// Name of the mode, as in the configuration.
    public var mode = "inactive"
    /// Name of the client in control, such as "diagnostics client 3 (pid 812)"; absent if there is
    /// none.
    public var holder: String?
    /// Time since the last request of the client in control, s; absent if there is none.
    public var holderAgeS: Number?
    /// Name of the client in control of the wheels; absent if there is none.
    public var driver: String?
    /// Name of the client that requested the latched emergency stop; absent if there is none.
    public var stoppedBy: String?
    /// Number of refused requests for motion since the start.
    public var refusals = 0
    /// The latest refusal of a request for motion, as text with source, reason and age.
    public var lastRefusal: String?
    /// Text about a client that stopped sending rates during a rotation, and about the gimbal's
    /// reaction. The text is absent if there is no such client, and after the next request.
    public var controlLost: String?
    /// True if the power stages are on.
    public var isEnabled = false
    /// State of the supervisor, such as `starting`, `off`, `soft start`, `running` or `stopped`.
    public var state = ""
    /// Reasons that prevent motion, most severe first; empty while the camera can move.
    public var inhibitions: [Inhibition] = []
    /// Conditions that do not prevent motion; empty if there are none.
    public var notices: [Inhibition] = []
    /// Attitude of the camera.
    public var attitude = AttitudeStatus()
    /// Set-point: angles in the earth frame, order Z-X-Y, degrees.
    public var setpointDeg = AxisNumbers()
    /// Target of the set-point, and its source.
    public var pointing = PointingStatus()
    /// Attitude error: rotation from the attitude to the set-point about each axis, degrees.
    public var errorDeg = AxisNumbers()
    /// Angular rate of the camera, deg/s: yaw about the camera's z axis, roll about the x axis,
    /// pitch about the y axis.
    public var rateDps = AxisNumbers()
    /// Results of the attitude estimator.
    public var estimator = EstimatorStatus()
    /// Newest sample and state of the inertial sensor.
    public var imu = IMUStatus()
    /// Joint angles and their source.
    public var joints = JointStatus()
    /// State of the motors.
    public var motors = MotorStatus()
    /// The simulator that supplies the clock; absent with other backends.
    public var lockstep: LockstepStatus?
    /// State of Bluetooth; absent if it is off.
    public var bluetooth: BluetoothStatus?
    /// State of the other enabled links.
    public var links: [LinkStatus] = []
    /// Connected companion programs.
    public var companions: [CompanionStatus] = []
    /// State of a robot's stepper motors; absent if there are none.
    public var robot: RobotStatus?
    /// State of a robot's two wheels; absent if there are none.
    public var drive: WheelStatus?
    /// State of the drives on a CAN bus; absent if there are none.
    public var can: CANStatus?
    /// State of the motors on a serial port; absent if there are none.
    public var serial: SerialStatus?
    /// State of the battery; absent if no battery is configured.
    public var battery: BatteryStatus?
    /// State of the motors' supply; absent if no setting uses the supply voltage.
    public var supply: SupplyStatus?
    /// Effective gains and stability margins.
    public var control = ControlStatus()
    /// Timing of the loop.
    public var loop = LoopStatus()
    /// Counters of data that was lost between threads and on buses.
    public var faults = FaultStatus()
    /// Privileges that the kernel granted.
    public var realtime = RealtimeStatus()
    /// Memory of the process.
    public var memory = MemoryStatus()
    /// Connections to the diagnostics socket; filled in by the server.
    public var clients = ClientStatus()
    /// Configuration files and unsaved changes.
    public var configuration = ConfigurationStatus()
    /// State of the flight recorder.
    public var recorder = RecorderStatus()

    /// Creates a status with unknown values.
    public init() {}
}

/// A reason that prevents motion.
public struct Inhibition: Hashable, Sendable, Codable {
    /// Name for scripts, such as `imu_missing`.
    public var name: String
    /// Meaning and remedy, as text for the user.
    public var sentence: String

    /// Creates a reason with the given name.
    public init(name: String, sentence: String) {
        self.name = name
        self.sentence = sentence
    }
}

/// One number for each joint of the gimbal. The last part of the key in `status` is the unit.
public struct AxisNumbers: Hashable, Sendable, Codable {
    /// Value of the yaw joint, the outermost joint.
    public var yaw: Number
    /// Value of the roll joint, the middle joint.
    public var roll: Number
    /// Value of the pitch joint, the innermost joint.
    public var pitch: Number

    /// Creates the three numbers, by default unknown.
    public init(yaw: Number = .unknown, roll: Number = .unknown, pitch: Number = .unknown) {
        self.yaw = yaw
        self.roll = roll
        self.pitch = pitch
    }

    /// Creates the numbers from values in the unit of the key.
    public init(_ axes: AxisVector) {
        self.init(yaw: Number(axes.yaw), roll: Number(axes.roll), pitch: Number(axes.pitch))
    }
}

/// Three components in the camera's body frame (x forward, y right, z down). The last part of the
/// key is the unit.
public struct VectorNumbers: Hashable, Sendable, Codable {
    /// Forward component.
    public var x: Number
    /// Right component.
    public var y: Number
    /// Down component.
    public var z: Number

    /// Creates the three numbers, by default unknown.
    public init(x: Number = .unknown, y: Number = .unknown, z: Number = .unknown) {
        self.x = x
        self.y = y
        self.z = z
    }

    /// Creates the numbers from values in the unit of the key.
    public init(_ vector: Vector3) {
        self.init(x: Number(vector.x), y: Number(vector.y), z: Number(vector.z))
    }
}

extension Inhibition {
    /// Names of the reasons that a user has requested, such as `inactive_mode`.
    private static let wishes = Set(
        Conditions.catalogue.filter { Supervisor.wishes.intersects($0.condition) }.map(\.name))

    /// True if the reason is a problem; false if the motors are off because a user has requested it
    /// (`Supervisor.wishes`).
    public var isProblem: Bool { !Self.wishes.contains(name) }
}
