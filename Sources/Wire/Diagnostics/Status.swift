public import GimbalCore

/// Content of `status`, in one type that daemon and client share. The unit is the last part of a
/// key; an unknown number is `null`. A number that no program reads from `status` has no property
/// here; its declaration (`Observable`) adds it to the answer.
public struct Status: Hashable, Sendable, Codable {
    /// Time of this status, seconds on the loop's clock.
    public var t: Number = .unknown
    /// Version of airframed.
    public var version = ""
    /// Seconds since the daemon started.
    public var uptimeS: Number = .unknown
    /// Value of the setting `hardware.backend`: simulated, lockstep or linux.
    public var backend = ""
    /// Mode by its configuration name.
    public var mode = "inactive"
    /// Name of the client in control: "diagnostics client 3 (pid 812)"; absent if there is none.
    public var holder: String?
    /// Seconds since the last request of the client in control; absent if there is none.
    public var holderAgeS: Number?
    /// Name of the client in control of the wheels; absent if there is none.
    public var driver: String?
    /// Name of the client that requested the latched emergency stop; absent if there is none.
    public var stoppedBy: String?
    /// Number of refused requests for motion since the start.
    public var refusals = 0
    /// The newest refusal of a request for motion, in words: source, reason, age.
    public var lastRefusal: String?
    /// Name of a client that stopped sending while it turned the camera, and the reaction of the
    /// gimbal; absent otherwise, and after the next request.
    public var controlLost: String?
    /// Whether the power stages are on.
    public var isEnabled = false
    /// State of the supervisor: "starting", "off", "soft start", "running", "stopped", …
    public var state = ""
    /// Reasons that prevent motion, most severe first; empty while the camera can move.
    public var inhibitions: [Inhibition] = []
    /// Conditions that do not prevent motion; empty if there are none.
    public var notices: [Inhibition] = []
    /// Attitude of the camera.
    public var attitude = AttitudeStatus()
    /// Set-point: earth-frame angles, Z-X-Y.
    public var setpointDeg = AxisNumbers()
    /// Target of the set-point, and the cause of this target.
    public var pointing = PointingStatus()
    /// Rotation from attitude to set-point, about each axis.
    public var errorDeg = AxisNumbers()
    /// Angular rate of the camera about each axis: yaw about z, roll about x, pitch about y of its
    /// body.
    public var rateDps = AxisNumbers()
    /// Results of the attitude estimator.
    public var estimator = EstimatorStatus()
    /// The last sample.
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
    /// Companion programs that are connected.
    public var companions: [CompanionStatus] = []
    /// State of a robot's stepper motors; absent if there are none.
    public var robot: RobotStatus?
    /// Effective gains and margins.
    public var control = ControlStatus()
    /// Timing of the loop.
    public var loop = LoopStatus()
    /// Counters of lost data between threads and on buses.
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

    /// Creates a status whose values are unknown.
    public init() {}
}

/// A reason that prevents motion.
public struct Inhibition: Hashable, Sendable, Codable {
    /// Name for scripts: `imu_missing`.
    public var name: String
    /// Meaning and remedy, for a person.
    public var sentence: String

    /// Creates a reason with the given name.
    public init(name: String, sentence: String) {
        self.name = name
        self.sentence = sentence
    }
}

/// One number for each gimbal axis, from handle to camera; the last part of the key in `status`
/// states their unit.
public struct AxisNumbers: Hashable, Sendable, Codable {
    /// Value of the outermost joint.
    public var yaw: Number
    /// Value of the middle joint.
    public var roll: Number
    /// Value of the innermost joint.
    public var pitch: Number

    /// Creates the three numbers, by default unknown.
    public init(yaw: Number = .unknown, roll: Number = .unknown, pitch: Number = .unknown) {
        self.yaw = yaw
        self.roll = roll
        self.pitch = pitch
    }

    /// Creates the numbers from values that already have the unit of the key.
    public init(_ axes: AxisVector) {
        self.init(yaw: Number(axes.yaw), roll: Number(axes.roll), pitch: Number(axes.pitch))
    }
}

/// Three Cartesian components in the camera's body frame (x forward, y right, z down); the key
/// states the unit.
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

    /// Creates the numbers from values that already have the unit of the key.
    public init(_ vector: Vector3) {
        self.init(x: Number(vector.x), y: Number(vector.y), z: Number(vector.z))
    }
}

extension Inhibition {
    /// Name of the only reason that is not a problem, because no motion is requested.
    public static let inactiveName = "inactive_mode"

    /// Whether the reason is a problem; a reason is not a problem if only a request for motion is
    /// missing.
    public var isProblem: Bool { name != Self.inactiveName }
}
