import GimbalCore
import Realtime
public import Wire

extension Observable {
    /// The variables, in the order of their indices.
    public static let variables: [Variable] = all.map(\.variable)

    /// The fields of recordings, in the order of their numbers.
    public static let recorded: [RecordedField] = all.compactMap(\.field)
        .sorted { $0.number < $1.number }
}

// The declarations of the observables, in the order of `variables`.
extension Observable {
    /// All declared observables.
    public static let all: [Observable] = axes + estimator + state + timing

    private static let axes: [Observable] =
        axes("attitude", .degrees, "Estimated camera angle, Euler order Z-X-Y", recorded: 32) {
            EulerZXY.angles($0.attitude)
        }
        + axes(
            "setpoint", .degrees, "Commanded camera angle, Euler order Z-X-Y", in: "setpoint",
            recorded: 35
        ) { EulerZXY.angles($0.setpoint) }
        + axes(
            "target", .degrees, "Attitude towards which the set-point moves, Euler order Z-X-Y",
            in: "pointing.target"
        ) { $0.pointing.target }
        + axes(
            "follow_error", .degrees, "Angle by which the set-point lags behind the handle",
            in: "pointing.follow_error"
        ) { $0.pointing.followError }
        + number(
            "acceleration_limit", .percent,
            "Largest acceleration of the set-point, relative to motion.max_acceleration_dps2; below 100 if the motors cannot accelerate the camera faster, and while the supply is low",
            in: "pointing.acceleration_limit"
        ) { $0.motion.acceleration }
        + axes(
            "error", .degrees, "Rotation from attitude to set-point, about the camera's axes",
            in: "error",
            recorded: 38
        ) { $0.attitudeError.perAxis }
        + axes(
            "rate", .degreesPerSecond, "Angular rate of the camera about its own axes", in: "rate",
            recorded: 41
        ) { $0.rate.perAxis }
        + axes("joint", .degrees, "Joint angle", in: "joints.angle", recorded: 44) { $0.joints }
        + flag(
            "joints_known",
            "1 while a sensor or a motor gives the joint angles; 0 while airframed assumes an upright handle",
            \.knowsJoints)
        + axes("torque", .newtonMetres, "Motor torque", in: "motors.torque") { $0.output.torque }
        + axes(
            "inertia", .kilogramMetres2, "Inertia about the camera's axes, measured or configured",
            in: "motors.inertia", where: \.knowsInertia
        ) { $0.inertia }
        + axes(
            "inertia_sigma", .percent,
            "Standard deviation of the inertia; 0 = configured, not measured",
            in: "motors.inertia_sigma", where: \.knowsInertia
        ) { $0.inertiaSigma }
        + number(
            "loop_delay", .milliseconds,
            "Loop delay that the controller assumes: configured or measured; a shorter measured delay applies only to torque motors",
            in: "motors.loop_delay", where: \.knowsInertia
        ) { $0.loopDelay }
        + number(
            "bandwidth", .percent,
            "Controller's corner frequencies, relative to the tuned ones; below 100 after an oscillation, and if the loop delay is longer than configured",
            in: "motors.bandwidth", where: \.knowsInertia
        ) { $0.bandwidth }
        + axes(
            "rest_power", .percent,
            "Power of a motor without encoder while it has no load: configured, or less for a light camera",
            in: "motors.rest_power", where: \.hasFields
        ) { $0.restPower }
        + axes(
            "friction", .newtonMetres,
            "Learned sliding friction of the joint; 0 = not compensated",
            in: "motors.friction", where: \.knowsInertia
        ) { $0.friction }
        + axes(
            "hand", .newtonMetres,
            "Torque of a hand that pushes the camera; 0 = push.enabled is false, or the torque is unknown",
            in: "motors.hand", where: \.knowsInertia
        ) { $0.hand }
        + axes(
            "hum", .newtonMetres,
            "RMS of the controllers' torque above 50 Hz, about the camera's axes",
            in: "motors.hum", where: \.knowsInertia
        ) { $0.hum }
        + axes(
            "calm", .percent,
            "Gain reduction that limits the torque noise above 50 Hz; 100 = the largest one, which also applies if the loop is too slow for the lag compensator",
            in: "motors.calm", where: \.knowsInertia
        ) { $0.softening }
        + axes(
            "followed", .percent,
            "Fraction of the handle's fast motion that the servos compensate, about the handle's axes",
            in: "motors.followed", where: \.hasServos
        ) { $0.followed }
        + body(
            "imbalance", .gramMetres,
            "Learned imbalance: mass times offset of the camera's centre of mass",
            in: "motors.imbalance", where: \.knowsInertia
        ) { $0.imbalance }

    private static let estimator: [Observable] =
        body(
            "gyro_bias", .degreesPerSecond, "Estimated gyroscope bias", in: "estimator.gyro_bias",
            recorded: 47
        ) { $0.bias }
        + body(
            "gyro_bias_sigma", .degreesPerSecond, "Standard deviation of the gyroscope bias",
            in: "estimator.gyro_bias_sigma"
        ) { $0.biasSigma }
        + body(
            "gyro_scale", .percent, "Estimated scale error of the gyroscope",
            in: "estimator.gyro_scale"
        ) { $0.gyroScale }
        + body(
            "lever", .metres, "Distance of the sensor from its centre of rotation",
            in: "estimator.lever"
        ) { $0.lever }
        + component("x", "forward", recorded: 59) { $0.accel.x }
        .shown(in: "imu.accel", .metresPerSecond2, VectorNumbers()) { VectorNumbers($0.accel) }
        + component("y", "right", recorded: 60) { $0.accel.y }
        + component("z", "down", recorded: 61) { $0.accel.z }
        + number(
            "inclination_sigma", .degrees, "Standard deviation of the inclination",
            in: "estimator.inclination_sigma", recorded: 50
        ) { $0.inclinationSigma }
        + number(
            "heading_sigma", .degrees, "Standard deviation of the heading relative to north",
            in: "estimator.heading_sigma",
            // The heading is unknown if its standard deviation is at least that of a uniformly
            // distributed angle.
            where: { $0.headingSigma < .pi / 3.0.squareRoot() }
        ) { $0.headingSigma }
        + number(
            "accel_weight", .pure,
            "Weight that the estimator gave to the last accelerometer reading, 0...1",
            in: "estimator.accel_weight", recorded: 52
        ) { $0.accelerationWeight }
        + number(
            "innovation", .pure,
            "RMS over one second of the accelerometer's innovation (measured minus expected), in standard deviations",
            in: "estimator.innovation"
        ) { $0.innovation }
        + number(
            "imu_temperature", .celsius,
            "Temperature of the sensor; null if the sensor does not measure the temperature",
            in: "imu.temperature"
        ) { $0.temperature }
        + number(
            "vibration.accel", .metresPerSecond2,
            "RMS of the specific force above 31 Hz",
            in: "imu.accel_vibration"
        ) { $0.accelVibration }
        + number(
            "vibration.gyro", .degreesPerSecond, "RMS of the angular rate above 31 Hz",
            in: "imu.gyro_vibration", recorded: 51, as: "gyro_vibration"
        ) { $0.gyroVibration }
        + flag(
            "at_rest", "1 while the estimator detects rest", in: "estimator.at_rest", recorded: 53
        ) { $0.isAtRest }
        + flag(
            "gyro_saturated", "1 while a gyroscope axis is at full scale",
            in: "imu.gyro_saturated"
        ) { $0.isGyroSaturated }
        + count(
            "gyro_saturated_samples", "Samples with the gyroscope at full scale",
            in: "imu.gyro_saturated_samples"
        ) { $0.samples.gyroSaturated }
        + count(
            "accel_clipped_samples", "Samples with the accelerometer at full scale",
            in: "imu.accel_clipped_samples"
        ) { $0.samples.accelClipped }

    /// Declares an observable for one component of the specific force.
    private static func component(
        _ name: String, _ direction: String, recorded field: Int, _ read: @escaping Read<Double>
    ) -> [Observable] {
        number(
            "accel.\(name)", .metresPerSecond2, "Specific force, \(direction)", recorded: field,
            read)
    }

    private static let state: [Observable] =
        words("mode", "Name of the mode") { .string($0.mode.name) }
        + number(
            "tracking_remaining", .seconds,
            "Time until the mode \"tracking\" ends; 0 in other modes"
        ) {
            let seconds = $0.pointing.trackingSeconds
            return seconds.isNaN ? 0 : seconds
        }
        + words("state", "State of the motor outputs") { .string($0.phase.words) }
        + words("conditions", "Names of the present conditions") {
            .array($0.conditions.words.map { .string($0.name) })
        }
        + number(
            "authority", .pure,
            "Fraction of the computed output that airframed sends to the motors, 0...1"
        ) { $0.authority }

    private static let timing: [Observable] =
        tick("tick", .pure, "Number of ticks of the loop since the start") { Double($0.tick) }
        + stage(
            "wake", "Delay of the bus thread's wake-up after the scheduled time", \.wake,
            recorded: 56)
        + stage("bus", "Time that the bus thread takes to read the sensors", \.bus, recorded: 57)
        + stage(
            "handover", "Time from the bus thread's signal to the start of the loop's tick",
            \.handover)
        + stage(
            "estimate",
            "Computing time in a tick for requests, integration of the samples and attitude estimate",
            \.estimate, recorded: 54)
        + stage(
            "control", "Computing time in a tick for supervision and control", \.control,
            recorded: 55)
        + stage("write", "Time that the bus thread takes to write to the motors", \.write)
        + stage(
            "imu_to_motor", "Time from the sample to the written output", \.imuToMotor, recorded: 58
        )

    /// Declares an observable for the duration of one stage of the tick.
    private static func stage(
        _ name: String, _ summary: String, _ path: any KeyPath<TickTiming, Int64> & Sendable,
        recorded number: Int? = nil
    ) -> [Observable] {
        tick("timing.\(name)", .microseconds, summary, recorded: number, as: name) {
            Double($0.timing[keyPath: path])
        }
    }
}

extension StabilizerSnapshot {
    /// True if the controller of the motors uses the camera's inertia.
    fileprivate var knowsInertia: Bool { inertia.pitch > 0 }

    /// True if the joint angles are from a sensor or a motor.
    fileprivate var knowsJoints: Bool { jointSource != .assumed }

    /// True if the motors have no encoders.
    fileprivate var hasFields: Bool { !restPower.pitch.isNaN }

    /// True if the motors are servos.
    fileprivate var hasServos: Bool { !followed.pitch.isNaN }
}
