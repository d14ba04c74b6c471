import GimbalCore
import Port
import Realtime
import Wire

/// A quantity of the loop, declared once: its name, unit and meaning, its place in the loop's
/// newest record, and its place in `status`. `variables`, `subscribe` and the numbers of `status`
/// follow from the declaration.
struct Observable: Sendable {
    typealias Path<Value> = any WritableKeyPath<Status, Value> & Sendable
    typealias Read<Value> = @Sendable (StabilizerSnapshot) -> Value

    /// Unit for display.
    enum Unit {
        case degrees, degreesPerSecond, percent, gramMetres, microseconds
        /// The number unchanged.
        case plain(String)

        var name: String {
            switch self {
            case .degrees: "deg"
            case .degreesPerSecond: "deg/s"
            case .percent: "%"
            case .gramMetres: "g·m"
            case .microseconds: "us"
            case .plain(let name): name
            }
        }

        var factor: Double {
            switch self {
            case .degrees, .degreesPerSecond: 180 / .pi
            case .percent: 100
            case .gramMetres: 1e3
            case .microseconds: 1e-3
            case .plain: 1
            }
        }
    }

    /// Entry in `variables`.
    let variable: Variable
    /// The value for `subscribe`.
    let read: @Sendable (TelemetryRecord) -> JSONValue
    /// Puts the value into `status`, together with the other components of its vector; nil if
    /// `status` does not contain the value, or if another component puts the vector into `status`.
    fileprivate(set) var show: (@Sendable (inout Status, StabilizerSnapshot) -> Void)?

    private init(
        _ name: String, _ unit: Unit, _ summary: String,
        _ read: @escaping @Sendable (TelemetryRecord) -> JSONValue
    ) {
        variable = Variable(name: name, unit: unit.name, summary: summary)
        self.read = read
    }

    /// A word or a list of words.
    private static func words(
        _ name: String, _ summary: String,
        _ read: @escaping @Sendable (StabilizerSnapshot) -> JSONValue
    ) -> [Observable] {
        [Observable(name, .plain(""), summary) { read($0.snapshot) }]
    }

    /// A number of the tick.
    private static func tick(
        _ name: String, _ unit: Unit, _ summary: String,
        _ read: @escaping @Sendable (TelemetryRecord) -> Double
    ) -> [Observable] {
        let factor = unit.factor
        return [Observable(name, unit, summary) { .double(read($0) * factor) }]
    }

    /// A number; NaN means unknown.
    private static func number(
        _ name: String, _ unit: Unit, _ summary: String, _ read: @escaping Read<Double>
    ) -> [Observable] {
        let factor = unit.factor
        let observable = Observable(name, unit, summary) {
            let value = read($0.snapshot) * factor
            return value.isNaN ? .null : .double(value)
        }
        return [observable]
    }

    /// The same value in `status`, if `isKnown`.
    private static func number(
        _ name: String, _ unit: Unit, _ summary: String, in path: Path<Number>,
        where isKnown: @escaping Read<Bool> = { _ in true }, _ read: @escaping Read<Double>
    ) -> [Observable] {
        let factor = unit.factor
        return number(name, unit, summary, read).shown { status, snapshot in
            if isKnown(snapshot) { status[keyPath: path] = Number(read(snapshot) * factor) }
        }
    }

    /// True or false; 1 or 0 for `subscribe`.
    private static func flag(
        _ name: String, _ summary: String, in path: Path<Bool>, _ read: @escaping Read<Bool>
    ) -> [Observable] {
        number(name, .plain(""), summary) { read($0) ? 1 : 0 }
            .shown { status, snapshot in status[keyPath: path] = read(snapshot) }
    }

    /// A count since the start.
    private static func count(
        _ name: String, _ summary: String, in path: Path<Int>, _ read: @escaping Read<UInt64>
    ) -> [Observable] {
        number(name, .plain(""), summary) { Double(read($0)) }
            .shown { status, snapshot in status[keyPath: path] = Int(read(snapshot)) }
    }

    /// Three numbers, one per axis of the gimbal.
    private static func axes(
        _ name: String, _ unit: Unit, _ summary: String, _ read: @escaping Read<AxisVector>
    ) -> [Observable] {
        let factor = unit.factor
        return GimbalAxis.allCases.map { axis in
            Observable("\(name).\(axis.name)", unit, "\(summary), \(axis.name)") {
                .double(read($0.snapshot)[axis] * factor)
            }
        }
    }

    /// The same in `status`, if `isKnown`.
    private static func axes(
        _ name: String, _ unit: Unit, _ summary: String, in path: Path<AxisNumbers>,
        where isKnown: @escaping Read<Bool> = { _ in true }, _ read: @escaping Read<AxisVector>
    ) -> [Observable] {
        let factor = unit.factor
        return axes(name, unit, summary, read).shown { status, snapshot in
            if isKnown(snapshot) { status[keyPath: path] = AxisNumbers(read(snapshot) * factor) }
        }
    }

    /// Three numbers about the camera's axes: by gimbal axis for `subscribe`, x, y and z in
    /// `status`.
    private static func body(
        _ name: String, _ unit: Unit, _ summary: String, in path: Path<VectorNumbers>,
        where isKnown: @escaping Read<Bool> = { _ in true }, _ read: @escaping Read<Vector3>
    ) -> [Observable] {
        let factor = unit.factor
        return axes(name, unit, summary) { read($0).perAxis }.shown { status, snapshot in
            if isKnown(snapshot) { status[keyPath: path] = VectorNumbers(read(snapshot) * factor) }
        }
    }
}

extension [Observable] {
    /// The same three values; the first of them puts all three into `status`.
    fileprivate func shown(
        _ show: @escaping @Sendable (inout Status, StabilizerSnapshot) -> Void
    ) -> [Observable] {
        var result = self
        result[0].show = show
        return result
    }
}

// The declarations, in the order of `variables`.
extension Observable {
    static let all: [Observable] = axes + estimator + state + timing

    /// The variables, in the order of their indices.
    static let variables: [Variable] = all.map(\.variable)

    /// Fills in all values that a declaration places in `status`.
    static func show(_ snapshot: StabilizerSnapshot, in status: inout Status) {
        for observable in all { observable.show?(&status, snapshot) }
    }

    private static let axes: [Observable] =
        axes("attitude", .degrees, "Estimated camera angle, Euler order Z-X-Y") {
            EulerZXY.angles($0.attitude)
        }
        + axes("setpoint", .degrees, "Commanded camera angle, Euler order Z-X-Y", in: \.setpointDeg)
    {
        EulerZXY.angles($0.setpoint)
    }
        + axes(
            "target", .degrees, "Target of the set-point, Euler order Z-X-Y",
            in: \.pointing.targetDeg
        ) { $0.pointing.target }
        + axes(
            "follow_error", .degrees, "Lag of the set-point behind the handle",
            in: \.pointing.followErrorDeg
        ) { $0.pointing.followError }
        + axes(
            "error", .degrees, "Rotation from attitude to set-point, about the camera's axes",
            in: \.errorDeg
        ) { $0.attitudeError.perAxis }
        + axes(
            "rate", .degreesPerSecond, "Angular rate of the camera about its own axes",
            in: \.rateDps
        ) { $0.rate.perAxis }
        + axes("joint", .degrees, "Joint angle", in: \.joints.angleDeg) { $0.joints }
        + axes("torque", .plain("N·m"), "Motor torque", in: \.motors.torqueNm) { $0.output.torque }
        + axes(
            "inertia", .plain("kg·m²"), "Inertia about the camera's axes, measured or configured",
            in: \.motors.inertiaKgM2, where: \.knowsInertia
        ) { $0.inertia }
        + axes(
            "inertia_sigma", .percent,
            "Standard deviation of the inertia; 0 = configured, not measured",
            in: \.motors.inertiaSigmaPercent, where: \.knowsInertia
        ) { $0.inertiaSigma }
        + axes(
            "friction", .plain("N·m"),
            "Learned sliding friction of the joint; 0 = not compensated",
            in: \.motors.frictionNm, where: \.knowsInertia
        ) { $0.friction }
        + axes(
            "hum", .plain("N·m"), "Feedback torque above 50 Hz about the camera's axes, RMS",
            in: \.motors.humNm, where: \.knowsInertia
        ) { $0.hum }
        + axes(
            "calm", .percent, "Reduction of stiffness that limits the feedback torque above 50 Hz",
            in: \.motors.calmPercent, where: \.knowsInertia
        ) { $0.calm }
        + body(
            "imbalance", .gramMetres,
            "Learned imbalance: mass times offset of the camera's centre of mass",
            in: \.motors.imbalanceGm, where: \.knowsInertia
        ) { $0.imbalance }

    private static let estimator: [Observable] =
        body(
            "gyro_bias", .degreesPerSecond, "Estimated gyroscope bias", in: \.estimator.gyroBiasDps
        ) { $0.bias }
        + body(
            "gyro_bias_sigma", .degreesPerSecond, "Standard deviation of the gyroscope bias",
            in: \.estimator.gyroBiasSigmaDps
        ) { $0.biasSigma }
        + body(
            "gyro_scale", .percent, "Estimated scale error of the gyroscope",
            in: \.estimator.gyroScalePercent
        ) { $0.gyroScale }
        + body(
            "gyro_cross_next", .percent,
            "Estimated share of another axis's rate in each gyroscope reading: y in x, z in y, x in z",
            in: \.estimator.gyroCrossNextPercent
        ) { $0.gyroCrossNext }
        + body(
            "gyro_cross_after", .percent,
            "Estimated share of another axis's rate in each gyroscope reading: z in x, x in y, y in z",
            in: \.estimator.gyroCrossAfterPercent
        ) { $0.gyroCrossAfter }
        + body(
            "lever", .plain("m"), "Distance of the sensor from its centre of rotation",
            in: \.estimator.leverM
        ) { $0.lever }
        + number("accel.x", .plain("m/s²"), "Specific force, forward", in: \.imu.accelMS2.x) {
            $0.accel.x
        }
        + number("accel.y", .plain("m/s²"), "Specific force, right", in: \.imu.accelMS2.y) {
            $0.accel.y
        }
        + number("accel.z", .plain("m/s²"), "Specific force, down", in: \.imu.accelMS2.z) {
            $0.accel.z
        }
        + number(
            "inclination_sigma", .degrees, "Standard deviation of the inclination",
            in: \.estimator.inclinationSigmaDeg
        ) { $0.inclinationSigma }
        + number(
            "heading_sigma", .degrees, "Standard deviation of the heading relative to north",
            in: \.estimator.headingSigmaDeg,
            // A sigma at or above that of a uniform distribution means that the heading is unknown.
            where: { $0.headingSigma < .pi / 3.0.squareRoot() }
        ) { $0.headingSigma }
        + number(
            "accel_weight", .plain(""), "Weight of the last accelerometer correction, 0...1",
            in: \.estimator.accelWeight
        ) { $0.accelerationWeight }
        + number(
            "innovation", .plain(""),
            "RMS of the accelerometer's normalised innovation over one second",
            in: \.estimator.innovation
        ) { $0.innovation }
        + number(
            "imu_temperature", .plain("°C"),
            "Temperature of the sensor; null if the sensor delivers none", in: \.imu.temperatureC
        ) { $0.temperature }
        + number(
            "vibration.accel", .plain("m/s²"), "RMS of the specific force above 31 Hz",
            in: \.imu.accelVibrationMS2
        ) { $0.accelVibration }
        + number(
            "vibration.gyro", .degreesPerSecond, "RMS of the rate above 31 Hz",
            in: \.imu.gyroVibrationDps
        ) { $0.gyroVibration }
        + flag("at_rest", "1 while the estimator detects rest", in: \.estimator.isAtRest) {
            $0.isAtRest
        }
        + flag(
            "gyro_saturated", "1 while a gyroscope axis is at full scale",
            in: \.imu.isGyroSaturated
        ) { $0.isGyroSaturated }
        + count(
            "gyro_saturated_samples", "Samples with the gyroscope at full scale",
            in: \.imu.gyroSaturatedSamples
        ) { $0.samples.gyroSaturated }
        + count(
            "accel_clipped_samples", "Samples with the accelerometer at full scale",
            in: \.imu.accelClippedSamples
        ) { $0.samples.accelClipped }

    private static let state: [Observable] =
        words("mode", "Name of the mode") { .string($0.mode.name) }
        + number(
            "tracking_remaining", .plain("s"), "Time until mode tracking ends, 0 in other modes"
        ) {
            let seconds = $0.pointing.trackingSeconds
            return seconds.isNaN ? 0 : seconds
        }
        + words("state", "State of the outputs") { .string($0.phase.words) }
        + words("conditions", "Names of the present conditions") {
            .array($0.conditions.words.map { .string($0.name) })
        }
        + number(
            "authority", .plain(""), "Share of the output that reaches the motors, 0...1"
        ) { $0.authority }

    private static let timing: [Observable] =
        tick("tick", .plain(""), "Number of the loop's tick") { Double($0.tick) }
        + tick("timing.wake", .microseconds, "Delay of the bus thread's wake-up") {
            Double($0.timing.wake)
        }
        + tick("timing.bus", .microseconds, "Time for reading the sensors") {
            Double($0.timing.bus)
        }
        + tick("timing.handover", .microseconds, "Time from the bus thread to the loop") {
            Double($0.timing.handover)
        }
        + tick("timing.estimate", .microseconds, "Time for requests, integration and estimate") {
            Double($0.timing.estimate)
        }
        + tick("timing.control", .microseconds, "Time for supervision and control") {
            Double($0.timing.control)
        }
        + tick("timing.write", .microseconds, "Time for writing to the motors") {
            Double($0.timing.write)
        }
        + tick("timing.imu_to_motor", .microseconds, "Time from the sample to the written output") {
            Double($0.timing.imuToMotor)
        }
}

extension StabilizerSnapshot {
    /// Whether the controller of these motors uses the camera's inertia.
    fileprivate var knowsInertia: Bool { inertia.pitch > 0 }
}

extension Vector3 {
    /// The same numbers by axis: yaw about z, roll about x, pitch about y of the camera.
    fileprivate var perAxis: AxisVector { AxisVector(yaw: z, roll: x, pitch: y) }
}

extension AxisNumbers {
    /// Creates the numbers without a change of unit.
    init(_ axes: AxisVector) {
        self.init(yaw: Number(axes.yaw), roll: Number(axes.roll), pitch: Number(axes.pitch))
    }
}

extension VectorNumbers {
    /// Creates the numbers without a change of unit.
    init(_ vector: Vector3) {
        self.init(x: Number(vector.x), y: Number(vector.y), z: Number(vector.z))
    }
}
