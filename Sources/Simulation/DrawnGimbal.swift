internal import CMathShim
public import GimbalCore

/// Simulated gimbal whose random properties are determined by a seed.
///
/// The configuration contains only the kind of motors, their torque in the data sheet, and the
/// loop's rate. Inertia, balance, friction, cogging, cables, delay and the sensor's errors are
/// random and not configured.
public struct DrawnGimbal: Sendable {
    /// Seed that determines all properties.
    public let seed: UInt64
    /// The physical properties.
    public private(set) var parameters = SimulatedGimbal.Parameters()
    /// Ticks of the loop per second. The sensor's nominal sample rate is the loop's rate, but the
    /// sensor has its own clock.
    public let loopHz: Int
    /// Torque limit in the motors' data sheet, N·m. The true torque limit of each motor is about
    /// 0.7 to 1.4 times the data sheet value.
    public let torqueLimit: Double

    private var random: RandomSource

    /// Creates a random gimbal.
    ///
    /// - Parameters:
    ///   - seed: Seed; the caller also uses the seed for the sensor and the motion.
    ///   - motor: Kind of the motors; nil means a random kind.
    public init(seed: UInt64, motor: MotorType? = nil) {
        self.seed = seed
        random = RandomSource(seed: seed, stream: 0xD4A3)
        let kinds: [MotorType] = [.torque, .field, .servo]
        let drawn = kinds[Int(random.uniform() * 3)]
        loopHz = Int(Self.logarithmic(200, 1000, &random))
        let size = Self.logarithmic(0.05, 5, &random)
        // Larger cameras have larger motors.
        torqueLimit = 0.25 * max(1, cm_sqrt(size))
        parameters.motor = motor ?? drawn
        drawInertia(size)
        drawJoints()
        drawMotors()
        drawLoad(size)
        drawSensor()
    }

    private mutating func between(_ low: Double, _ high: Double) -> Double {
        low + (high - low) * random.uniform()
    }

    private mutating func logarithmic(_ low: Double, _ high: Double) -> Double {
        Self.logarithmic(low, high, &random)
    }

    private static func logarithmic(
        _ low: Double, _ high: Double, _ random: inout RandomSource
    ) -> Double {
        low * cm_exp(cm_log(high / low) * random.uniform())
    }

    private mutating func axes(_ draw: (inout DrawnGimbal) -> Double) -> AxisVector {
        let yaw = draw(&self)
        let roll = draw(&self)
        return AxisVector(yaw: yaw, roll: roll, pitch: draw(&self))
    }

    private mutating func direction() -> Vector3 {
        let vector = Vector3(random.gaussian(), random.gaussian(), random.gaussian())
        return vector * (1 / max(vector.norm, 1e-6))
    }

    /// Chooses random moments and products of inertia. The mean of the moments of inertia is the
    /// default mean multiplied by `size`.
    private mutating func drawInertia(_ size: Double) {
        var inertia = axes { $0.logarithmic(0.6, 1.6) } * (2.5e-3 * size)
        // The moment of inertia of a body about one axis is at most the sum of the moments about
        // the two other axes.
        inertia.yaw = min(inertia.yaw, 0.95 * (inertia.roll + inertia.pitch))
        inertia.roll = min(inertia.roll, 0.95 * (inertia.yaw + inertia.pitch))
        inertia.pitch = min(inertia.pitch, 0.95 * (inertia.yaw + inertia.roll))
        parameters.plant.inertia = inertia
        parameters.plant.inertiaProducts = Vector3(
            between(-0.12, 0.12) * cm_sqrt(inertia.roll * inertia.pitch),
            between(-0.12, 0.12) * cm_sqrt(inertia.roll * inertia.yaw),
            between(-0.12, 0.12) * cm_sqrt(inertia.pitch * inertia.yaw))
    }

    /// Chooses random friction of 1 to 60 mN·m with random shape parameters, and a random stiffness
    /// of the cables.
    private mutating func drawJoints() {
        let size = logarithmic(1e-3, 60e-3)
        parameters.plant.yawFriction = friction(size)
        parameters.plant.rollFriction = friction(size)
        parameters.plant.pitchFriction = friction(size)
        parameters.plant.cableStiffness = axes { $0.logarithmic(1e-3, 30e-3) }
    }

    private mutating func friction(_ size: Double) -> JointFriction.Parameters {
        var joint = JointFriction.Parameters()
        joint.coulomb = min(max(size * logarithmic(0.6, 1.6), 1e-3), 60e-3)
        joint.stiction = joint.coulomb * between(1, 1.7)
        joint.viscous = logarithmic(0.2e-3, 3e-3)
        joint.stribeckRate = logarithmic(0.01, 0.2)
        joint.asymmetry = between(-0.2, 0.2)
        joint.breakawayAngle = logarithmic(0.2e-3, 3e-3)
        return joint
    }

    /// Chooses random deviations of the motors from their data sheet, random cogging, and a random
    /// delay that exceeds the default.
    private mutating func drawMotors() {
        let constant = logarithmic(0.7, 1.4)
        parameters.motorConstant = axes { constant * $0.between(0.95, 1.05) }
        parameters.plant.torqueLimit = parameters.motorConstant * torqueLimit
        parameters.field.peakTorque = AxisVector(repeating: torqueLimit)
        parameters.field.zero = axes { $0.between(-.pi, .pi) }
        let strength = logarithmic(0.002, 0.03) * torqueLimit
        parameters.plant.cogging.once = axes { strength * $0.random.uniform() }
        parameters.plant.cogging.twice = axes { strength * $0.random.uniform() }
        parameters.plant.cogging.sixfold = axes { strength * $0.random.uniform() }
        parameters.plant.cogging.phase = axes { $0.between(-.pi, .pi) }
        let later = between(0, 4e-3)
        parameters.transportDelay += later
        parameters.servo.totalDelay += later
        parameters.servo.lag *= logarithmic(0.7, 1.5)
        parameters.servo.deadBand *= logarithmic(0.5, 2)
        if random.uniform() < 1 / 3.0 { parameters.encoderCounts = 0 }
    }

    /// Chooses a random imbalance of 0 to 10 mm. The imbalance is limited to the torque that the
    /// motors can exert at twice gravity, in addition to the joints' friction.
    private mutating func drawLoad(_ size: Double) {
        let mass = 0.5 * cm_exp(0.6 * cm_log(size))
        let moment = direction() * (mass * between(0, 0.010))
        let plant = parameters.plant
        let stiction = max(
            plant.yawFriction.stiction, plant.rollFriction.stiction, plant.pitchFriction.stiction)
        let limit = plant.torqueLimit
        let strength = min(limit.yaw, min(limit.roll, limit.pitch))
        let carried = (0.7 * strength - 1.2 * stiction) / (2 * GimbalPlant.gravity)
        parameters.plant.imbalance = moment * min(1, max(0, carried) / max(moment.norm, 1e-9))
    }

    /// Chooses a random misalignment of up to 5°, a standard deviation of 1.2 % for the gyroscope's
    /// scale error, and random noise and delivery times.
    private mutating func drawSensor() {
        let turn = direction() * (between(0, 5) * .pi / 180)
        parameters.sensorMounting = Quaternion(rotationVector: turn)
        parameters.imu.gyroScaleError = 0.012
        parameters.imu.gyroNoiseDensity *= logarithmic(0.5, 2)
        parameters.imu.sampleRate = Double(loopHz)
        parameters.busLatency = between(0, 0.3e-3)
        parameters.busJitter = between(0, 0.2e-3)
    }

    /// Summary of the properties in one line.
    public var summary: String {
        let p = parameters.plant
        func milli(_ value: Double) -> String { "\(Int((value * 1e3).rounded()))" }
        func share(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }
        let inertia = (p.inertia.yaw + p.inertia.roll + p.inertia.pitch) / 7.5e-3
        return "\(parameters.motor) \(loopHz) Hz, inertia x \(share(inertia)), friction"
            + " \(milli(p.yawFriction.coulomb))/\(milli(p.rollFriction.coulomb))/"
            + "\(milli(p.pitchFriction.coulomb)) mN·m, off balance"
            + " \(milli(p.imbalance.norm * GimbalPlant.gravity)) mN·m, motors x"
            + " \(share(parameters.motorConstant.yaw)), delay +"
            + "\(share((parameters.transportDelay - 0.00102) * 1e3)) ms"
            + (parameters.motor == .torque && parameters.encoderCounts == 0 ? ", no encoders" : "")
    }
}
