import GimbalCore
import Realtime

/// One tick: its inputs besides samples and commands, and its results.
struct TickMessage: RecordedMessage, Sendable {
    static let name = "Tick"
    static let topic = "/tick"

    /// Number of the tick since the start.
    var tick: UInt64 = 0
    /// Beginning of the tick on the loop's clock, ns.
    var now: Int64 = 0
    /// Time since the previous tick, ns; 0 for the first.
    var dt: Int64 = 0
    var samples: UInt32 = 0
    /// `Conditions` that the loop reported.
    var reported: UInt64 = 0
    /// `Conditions` that held.
    var conditions: UInt64 = 0
    var mode: UInt32 = 0
    var phase: UInt32 = 0
    var authority = 0.0
    var isEnabled = false
    var isWarmingUp = false
    var isLook = false
    var lostTicks: UInt32 = 0
    var torque = AxisVector.zero
    var angle = AxisVector.zero
    var field = AxisVector.zero
    var power = AxisVector.zero
    var attitude = Quaternion(w: 0, x: 0, y: 0, z: 0)

    // For display.
    var attitudeDegrees = ShownAxes()
    var setpointDegrees = ShownAxes()
    var errorDegrees = ShownAxes()
    var rateDegrees = ShownAxes()
    var jointDegrees = ShownAxes()
    var biasDegrees = ShownAxes()
    var inclinationSigmaDegrees: Float = 0
    var gyroVibration: Float = 0
    var accelWeight: Float = 0
    var isAtRest = false
    var estimateMicroseconds: Float = 0
    var controlMicroseconds: Float = 0
    var wakeMicroseconds: Float = 0
    var busMicroseconds: Float = 0
    var imuToMotorMicroseconds: Float = 0

    init() {}

    /// Creates a message.
    ///
    /// - Parameters:
    ///   - frame: Number and time.
    ///   - result: The loop's result.
    ///   - dt: Time since the previous tick, ns.
    init(_ frame: TapeFrame, _ result: TapeTick, dt: Int64) {
        let output = result.output
        tick = frame.tick
        now = frame.now.nanoseconds
        self.dt = dt
        samples = UInt32(clamping: result.samples)
        reported = result.reported.rawValue
        conditions = result.conditions.rawValue
        mode = UInt32(result.mode.rawValue)
        phase = UInt32(result.phase.rawValue)
        authority = result.authority
        isEnabled = output.enabled
        isWarmingUp = result.isWarmingUp
        isLook = result.isLook
        lostTicks = result.lostTicks
        torque = output.torque
        angle = output.angle
        field = output.field
        power = output.power
        attitude = result.attitude
        attitudeDegrees = ShownAxes(degrees: EulerZXY.angles(result.attitude))
        setpointDegrees = ShownAxes(degrees: EulerZXY.angles(result.setpoint))
        errorDegrees = ShownAxes(degrees: result.attitudeError.byAxis)
        rateDegrees = ShownAxes(degrees: result.rate.byAxis)
        jointDegrees = ShownAxes(degrees: result.joints)
        biasDegrees = ShownAxes(degrees: result.bias.byAxis)
        inclinationSigmaDegrees = Float(result.inclinationSigma * 180 / .pi)
        gyroVibration = Float(result.gyroVibration * 180 / .pi)
        accelWeight = Float(result.accelerationWeight)
        isAtRest = result.isAtRest
        estimateMicroseconds = Float(result.timing.estimate) / 1e3
        controlMicroseconds = Float(result.timing.control) / 1e3
        wakeMicroseconds = Float(result.timing.wake) / 1e3
        busMicroseconds = Float(result.timing.bus) / 1e3
        imuToMotorMicroseconds = Float(result.timing.imuToMotor) / 1e3
    }

    mutating func visit(_ visitor: inout some FieldVisitor) {
        visitor.bits(FieldName("tick"), 1, &tick)
        visitor.integer(FieldName("now_ns"), 2, &now)
        visitor.integer(FieldName("dt_ns"), 3, &dt)
        visitor.count(FieldName("samples"), 4, &samples)
        visitor.bits(FieldName("reported_conditions"), 5, &reported)
        visitor.bits(FieldName("conditions"), 6, &conditions)
        visitor.choice(FieldName("mode"), 7, Self.modes, &mode)
        visitor.choice(FieldName("phase"), 8, Self.phases, &phase)
        visitor.double(FieldName("authority"), 9, &authority)
        visitor.flag(FieldName("enabled"), 10, &isEnabled)
        visitor.flag(FieldName("warming_up"), 11, &isWarmingUp)
        visitor.flag(FieldName("look"), 12, &isLook)
        visitor.count(FieldName("lost_ticks"), 13, &lostTicks)
        visitor.axes("torque", "nm", 16, &torque)
        visitor.axes("angle", "rad", 19, &angle)
        visitor.axes("field", "rad", 22, &field)
        visitor.axes("power", "", 25, &power)
        visitor.quaternion("attitude", 28, &attitude)
        visitor.shown("attitude", "deg", 32, &attitudeDegrees)
        visitor.shown("setpoint", "deg", 35, &setpointDegrees)
        visitor.shown("error", "deg", 38, &errorDegrees)
        visitor.shown("rate", "dps", 41, &rateDegrees)
        visitor.shown("joint", "deg", 44, &jointDegrees)
        visitor.shown("gyro_bias", "dps", 47, &biasDegrees)
        visitor.float(FieldName("inclination_sigma_deg"), 50, &inclinationSigmaDegrees)
        visitor.float(FieldName("gyro_vibration_dps"), 51, &gyroVibration)
        visitor.float(FieldName("accel_weight"), 52, &accelWeight)
        visitor.flag(FieldName("at_rest"), 53, &isAtRest)
        visitor.float(FieldName("estimate_us"), 54, &estimateMicroseconds)
        visitor.float(FieldName("control_us"), 55, &controlMicroseconds)
        visitor.float(FieldName("wake_us"), 56, &wakeMicroseconds)
        visitor.float(FieldName("bus_us"), 57, &busMicroseconds)
        visitor.float(FieldName("imu_to_motor_us"), 58, &imuToMotorMicroseconds)
    }

    static let modes = FieldWords(name: "Mode", words: Mode.allCases.map(\.name))
    static let phases = FieldWords(
        name: "Phase", words: Supervisor.Phase.allCases.map { "\($0)" })
}

extension Vector3 {
    /// The same numbers by axis: yaw about z, roll about x, pitch about y of the camera.
    fileprivate var byAxis: AxisVector { AxisVector(yaw: z, roll: x, pitch: y) }
}
