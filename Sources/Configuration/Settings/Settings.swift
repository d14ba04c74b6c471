public import GimbalCore

/// All configurable values, in the units of the configuration file, such as degrees and
/// milliseconds.
///
/// The initial values of the properties are the defaults. Each property has exactly one entry in
/// `Schema.settings`, with its key, range and meaning. A test detects missing properties and
/// entries.
public struct Settings: Sendable, Equatable {
    /// Settings of sensors and motors.
    public var hardware = Hardware()
    /// Settings of the control loop's thread.
    public var loop = Loop()
    /// Settings of the inertial sensor.
    public var imu = IMU()
    /// Settings of the attitude estimator.
    public var estimator = Estimator()
    /// Settings of the attitude and rate controllers.
    public var control = Control()
    /// Filters of the controllers' rate input.
    public var filter = Filter()
    /// Settings of the service for AirOS apps.
    public var airos = AirOS()
    /// Settings of RedBearLab's serial service.
    public var rbl = RBL()
    /// Settings of the motors.
    public var motors = Motors()
    /// Properties of position servos.
    public var servo = Servo()
    /// Settings of the motors' supply.
    public var supply = Supply()
    /// Settings of the two wheels.
    public var drive = Drive()
    /// Settings of a remote control for the wheels.
    public var rider = Rider()
    /// Settings of the three stepper motors.
    public var robot = Robot()
    /// Settings of the computer's battery.
    public var battery = Battery()
    /// Settings of the joints between handle and camera.
    public var joints = Joints()
    /// Limits of the set-point's motion.
    public var motion = Motion()
    /// Mode at the start.
    public var mode = ModeSettings()
    /// Settings of the modes that follow the handle.
    public var follow = Following()
    /// Settings for turning the camera by hand.
    public var push = Pushing()
    /// Settings of the mode that tracks a person.
    public var tracking = Tracking()
    /// Settings of the rest pose.
    public var retract = Retraction()
    /// Settings of the supervisor, which switches the motors off after a fault and then on again.
    public var supervisor = Supervision()
    /// Settings that determine which clients can take control, and when control ends.
    public var commander = CommanderSettings()
    /// Settings of buttons, sticks, dials and gamepads.
    public var controls = Controls()
    /// Settings of a light and a buzzer.
    public var signals = Signals()
    /// Limits of assistants.
    public var mcp = MCP()
    /// Settings of Bluetooth.
    public var bluetooth = Bluetooth()
    /// Settings of MAVLink, for autopilots and ground stations.
    public var mavlink = MAVLink()
    /// Settings of the diagnostics socket.
    public var diagnostics = Diagnostics()
    /// Settings for the storage of saved values.
    public var persistence = Storage()
    /// Settings of the flight recorder.
    public var recording = Recording()
    /// Settings of the log.
    public var log = Log()

    /// The built-in defaults.
    public init() {}
}

extension Settings {
    /// Settings of `[hardware]`.
    public struct Hardware: Sendable, Equatable {
        /// Source of sensor samples and receiver of motor commands.
        public var backend = Backend.simulated
        /// Settings of the simulated gimbal.
        public var simulation = Simulation()
        /// Settings of the chips and their buses.
        public var linux = Linux()
        /// Settings of a sensor with a kernel driver.
        public var iio = IIO()
        /// Settings of the socket for an external simulator.
        public var lockstep = Lockstep()
    }

    /// Settings of `[hardware.lockstep]`, the socket for an external simulator.
    public struct Lockstep: Sendable, Equatable {
        /// Path of the UNIX socket.
        public var socket = "/run/airframe/lockstep.sock"
        /// Longest real time between two messages from the simulator, s; then the outputs are
        /// switched off.
        public var timeout = 5.0
    }

    /// Settings of `[hardware.simulation]`, the simulated gimbal.
    public struct Simulation: Sendable, Equatable {
        /// Motion of the handle.
        public var motion = HandleMotion.walking
        /// Path of a recording of the handle's motion, which replaces `motion`; `off` for none.
        public var motionFile = "off"
        /// True if brushless motors have encoders.
        public var encoders = true
        /// Seed of the random numbers.
        public var seed = 1
        /// Scale factor for the moments of inertia of the default plant.
        public var inertiaFactor = 1.0
        /// Scale factor for the joint friction of the default plant.
        public var frictionFactor = 1.0
        /// Offset of the centre of mass along each axis, mm.
        public var imbalanceMm = 1.0
        /// Frequency of a simulated vibration of the sensor, Hz.
        public var vibrationHz = 83.0
        /// Amplitude of the simulated vibration about each axis, deg/s.
        public var vibrationDps = 0.0
    }

    /// Settings of `[loop]`.
    public struct Loop: Sendable, Equatable {
        /// Ticks of the control loop per second.
        public var rateHz = 1000
        /// SCHED_FIFO priority of the loop's thread.
        public var priority = 80
        /// CPU of the loop's thread and of the bus thread; -1 means the last CPU, see
        /// `RealtimeSetup.preferredCPU`.
        public var cpu = -1
        /// True if all memory of the process is locked.
        public var lockMemory = true
    }

    /// Settings of `[imu]`, the inertial sensor.
    public struct IMU: Sendable, Equatable {
        /// Permitted values of `filterDelayMs`.
        static let filterDelaysMs = 0.0...20.0

        /// Mounting of the sensor in the camera's body frame, degrees.
        public var mountingDeg = AxisVector.zero
        /// Full scale of the gyroscope, deg/s.
        public var gyroRangeDps = 2000.0
        /// Full scale of the accelerometer, g.
        public var accelRangeG = 24.0
        /// Duration of identical samples after which the sensor is considered frozen, ms.
        public var frozenMs = 40.0
        /// True if the gyroscope is checked for plausibility against the motor torques, the joint
        /// angles and its own earlier readings.
        public var witnessGyro = true
        /// Group delay of the gyroscope's filter, ms.
        public var filterDelayMs = 3.0
        /// Maximum age of the newest sample, ms; then the sensor is considered stale.
        public var timeoutMs = 20.0
        /// Hold time of a reported sensor fault after the last occurrence, ms.
        public var faultHoldMs = 50.0
    }

    /// Settings of `[estimator]`, the attitude estimator.
    public struct Estimator: Sendable, Equatable {
        private static let core = AttitudeEstimator.Parameters()

        /// Gyroscope noise density, deg/s/√Hz.
        public var gyroNoiseDpsSqrthz = core.gyroNoiseDensity.degrees
        /// Standard deviation of the bias at start, deg/s.
        public var biasSigmaInitialDps = core.initialBiasSigma.degrees
        /// Bias random walk, deg/s per √s.
        public var biasWalkDpsSqrts = core.biasWalk.degrees
        /// Noise density of the camera's velocity, m/s·√s: its standard deviation times √(2 ·
        /// correlation time).
        public var velocityNoiseMpsSqrts = core.velocityNoiseDensity
        /// Rest threshold of the angular rate's RMS deviation from its mean, deg/s.
        public var restRateDps = core.restRateThreshold.degrees
        /// Rest threshold of the specific force's RMS deviation from its mean, m/s².
        public var restAccelMps2 = core.restForceThreshold
        /// Minimum time below the two rest thresholds before the camera is considered at rest, s.
        public var restTimeS = core.restTime
        /// Standard deviation of the sensor's distance from the centre of rotation, m.
        public var leverSigmaM = core.leverSigma
        /// Process noise of the angle, the first of an app's three Kalman values.
        public var kalmanQAngle = 0.001
        /// Process noise of the bias, the second of an app's three Kalman values.
        public var kalmanQBias = 0.003
        /// Measurement noise, the third of an app's three Kalman values.
        public var kalmanRMeasure = 0.03
        /// Largest standard deviation of the inclination at which the motors can start, degrees.
        public var convergedInclinationDeg = core.convergedInclinationSigma.degrees
    }

    /// Settings of `[control]`.
    public struct Control: Sendable, Equatable {
        /// Gain from attitude error (rad) to commanded rate (rad/s), 1/s.
        public var attitudeGain = AttitudeController.Parameters().attitudeGain
        /// Gain from rate error (rad/s) to commanded angular acceleration (rad/s²), 1/s.
        public var rateGain = AttitudeController.Parameters().rateGain
        /// Gain from integrated rate error to angular acceleration, 1/s².
        public var rateIntegralGain = AttitudeController.Parameters().rateIntegralGain
        /// Gain from measured to commanded angular acceleration, dimensionless.
        public var rateDerivativeGain = AttitudeController.Parameters().rateDerivativeGain
        /// Corner frequency of the derivative's low-pass filter, Hz.
        public var derivativeCutoffHz = AttitudeController.Parameters().derivativeCutoffHz
        /// Moment of inertia about each camera axis, kg·m². If the inertia is identified, the value
        /// is the initial estimate.
        public var inertiaKgM2 = AttitudeController.Parameters().inertia
        /// True if the inertia is identified when the motors are switched on.
        public var findInertia = true
        /// True if oscillation of the camera reduces the gains.
        public var watchOscillation = true
        /// Largest rate that the attitude controller commands, deg/s.
        public var maxRateDps = 360.0
        /// Loop delay: time from the camera's motion to the responding torque, ms.
        public var loopDelayMs = 3.5
        /// Feed-forward factor of the commanded rate.
        public var feedForward = 1.0
        /// Learning rate of the joints' friction, 1/s.
        public var frictionLearningRate = 0.5
        /// Largest friction torque that the controller compensates, N·m.
        public var frictionLimitNm = 0.1
        /// Largest noise of the feedback torque, percent of the torque limit; 0 means no limit.
        public var noiseLimitPercent = 3.0
    }

    /// Settings of `[filter]`.
    public struct Filter: Sendable, Equatable {
        /// Notch filters of the rate about the camera's z axis.
        public var notchYaw: [Notch] = []
        /// Notch filters of the rate about the camera's x axis.
        public var notchRoll: [Notch] = []
        /// Notch filters of the rate about the camera's y axis.
        public var notchPitch: [Notch] = []
        /// Corner frequency of each axis's low-pass filter, Hz; 0 means no filter.
        public var lowPassHz = AxisVector.zero
        /// Order of the low-pass filter.
        public var lowPassOrder = 2
    }

    /// Settings of `[motors]`.
    public struct Motors: Sendable, Equatable {
        /// Type of the motors.
        public var type = MotorType.torque
        /// Largest torque of each motor, N·m.
        public var torqueLimitNm = AxisVector(repeating: 0.25)
        /// Number of pole pairs of open-loop motors.
        public var polePairs = 7
        /// Direction of each motor: 1, or -1 if its magnetic field and the joint turn in opposite
        /// directions.
        public var direction = AxisVector(repeating: 1)
        /// Electrical angle at joint angle zero, degrees.
        public var electricalZeroDeg = AxisVector.zero
        /// PWM frequency of the half bridges, Hz.
        public var pwmHz = 1526.0
        /// Field strength of open-loop motors without load, as a fraction of the full voltage, 0...1;
        /// the most that a light camera gets (see `FieldPower`).
        public var power = FieldController.Parameters().power
        /// Continuous torque of each motor, N·m; 0 disables the thermal limit.
        public var continuousTorqueNm = ThermalBudget.Parameters().continuousTorque
        /// Thermal time constant of a motor's windings, s.
        public var thermalTimeS = ThermalBudget.Parameters().timeConstant
        /// Largest field strength of open-loop motors under load, 0...1.
        public var powerMax = FieldController.Parameters().maxPower
        /// Duration of the torque's ramp from zero to full torque, s.
        public var softStartS = 0.5
    }

    /// Settings of `[joints]`.
    public struct Joints: Sendable, Equatable {
        /// Mechanical range of each joint, degrees.
        public var rangeDeg = AxisRanges(
            lower: AxisVector(yaw: -170, roll: -45, pitch: -120),
            upper: AxisVector(yaw: 170, roll: 45, pitch: 120))
    }

    /// Settings of `[motion]`, the limits of the set-point's motion.
    public struct Motion: Sendable, Equatable {
        /// Largest set-point rate, deg/s.
        public var maxRateDps = AxisVector(repeating: 240)
        /// Largest set-point acceleration, deg/s².
        public var maxAccelerationDps2 = AxisVector(repeating: 3000)
        /// Largest set-point jerk, deg/s³.
        public var maxJerkDps3 = AxisVector(repeating: 150_000)
        /// Range of set-point angles, degrees. A yaw range of ±360° means that yaw has no limit.
        public var rangeDeg = AxisRanges(
            lower: AxisVector(yaw: -360, roll: -60, pitch: -120),
            upper: AxisVector(yaw: 360, roll: 60, pitch: 120))
    }

    /// Settings of `[supervisor]`.
    public struct Supervision: Sendable, Equatable {
        /// Duration of the torque's ramp to zero after a fault, s.
        public var softStopS = 0.2
        /// Fault-free time before the motors are switched on again, s.
        public var recoveryS = 0.5
    }

    /// Settings of `[commander]`.
    public struct CommanderSettings: Sendable, Equatable {
        /// Timeout of a rate command, s.
        public var deadManS = 1.0
        /// Timeout of requests before control is released, s.
        public var releaseAfterS = 10.0
        /// Timeout after the last rate request, s; then the mode changes to `fallbackMode`. 0
        /// disables the change. If the last requested rate was zero, the mode does not change.
        public var fallbackS = 0.0
        /// Mode that the gimbal enters after `fallbackS`: `neutral` or `retract`.
        public var fallbackMode = Mode.neutral
        /// Timeout after the last rate request, s; then the outputs are switched off. 0 means that
        /// the outputs remain on.
        public var offS = 0.0
        /// True if AirOS apps can take control.
        public var allowAiros = true
        /// True if clients of RedBearLab's serial service can take control.
        public var allowRbl = true
        /// True if senders of datagrams can take control of the wheels.
        public var allowUdp = true
        /// True if MAVLink peers can take control.
        public var allowMavlink = true
    }

    /// Settings of `[diagnostics]`.
    public struct Diagnostics: Sendable, Equatable {
        /// Path of the UNIX socket.
        public var socket = "/run/airframe/airframed.sock"
        /// Group with access to the socket.
        public var group = "airframe"
    }

    /// Settings of `[persistence]`.
    public struct Storage: Sendable, Equatable {
        /// Directory of saved values.
        public var directory = "/var/lib/airframe"
    }

    /// Settings of `[log]`.
    public struct Log: Sendable, Equatable {
        /// Lowest severity of the log messages that are written.
        public var level = LogLevel.info
    }
}

extension Double {
    /// This angle, converted from radians to degrees and rounded to six decimals.
    fileprivate var degrees: Double { (self * (180 / .pi) * 1e6).rounded() / 1e6 }
}
