import GimbalCore
import Port

/// Table of all settings. Parsing, `--print-config`, `get`, `set`, `diff`, reload and the sample
/// file read this table.
///
/// To add a setting, add a property with its default to `Settings`, one entry here, and the sample
/// file that the test prints.
public enum Schema {
    /// Every setting, grouped by table, in the order of the sample file.
    public static let settings: [Setting] =
        hardware + loop + imu + estimator + control + filter + airos + rbl + motors + servo + drive
        + rider + robot + motion
        + modes
        + supervision + bluetooth + mavlink + recording + services

    /// Summary of each table, in one sentence.
    public static let tables: [(name: String, summary: String)] = [
        ("hardware", "Choice of sensor and motors."),
        ("hardware.simulation", "The simulated gimbal; used with backend = \"simulated\"."),
        (
            "hardware.linux",
            "Real chips on the I2C or SPI buses of the board; used with backend = \"linux\"."
        ),
        (
            "hardware.lockstep",
            "A simulator in another program, which supplies the clock; used with backend = \"lockstep\"."
        ),
        ("loop", "The thread of the control loop."),
        ("imu", "Inertial sensor on the camera."),
        ("estimator", "The attitude filter. The defaults are those of a Bosch BMI088."),
        (
            "control",
            "Controllers: attitude errors command rates, rate errors command torques. Gains are per inertia."
        ),
        ("airos", "Service for AirOS apps."),
        (
            "filter",
            "Filters on the controllers' measured rate; `airframectl spectrum` proposes them."
        ),
        (
            "airos.pid",
            "Gains from an AirOS app: factors on the tuning of each axis, for every motor type."
        ),
        ("rbl", "RedBearLab's serial service over Bluetooth."),
        ("motors", "The actuators."),
        ("servo", "Properties of the position servos; used with motors.type = \"servo\"."),
        ("joints", "Mechanics between handle and camera."),
        ("drive", "Two wheels, with or without a gimbal."),
        ("rider", "Remote control for the wheels."),
        ("robot", "Three stepper motors that a robot's app moves over the serial service."),
        ("robot.slider", "Range of motion of the slider's motor."),
        ("robot.x", "Range of motion of the motor that the joystick's x moves."),
        ("robot.y", "Range of motion of the motor that the joystick's y moves."),
        ("motion", "Limits of the set-points' motion."),
        ("mode", "Mode at the start."),
        ("follow", "Following of the handle in modes pan_follow, fpv and neutral."),
        ("follow.slow", "Rates and lags of preset slow, for following the handle."),
        ("follow.normal", "Rates and lags of preset normal, for following the handle."),
        ("follow.sport", "Rates and lags of preset sport, for following the handle."),
        (
            "tracking",
            "Mode tracking: an app that detects a person in its picture steers pan and tilt."
        ),
        ("retract", "Resting pose of the joints in mode retract."),
        ("supervisor", "Shutdown of the motors after a fault, and recovery."),
        (
            "commander",
            "Control of the gimbal by clients: dead-man times, release, fallback, permitted links."
        ),
        ("bluetooth", "Bluetooth peripheral that phones connect to, through bluetoothd."),
        ("mavlink", "Links to autopilots and ground stations."),
        (
            "recording",
            "Flight recorder; its files are in recordings/ of persistence.directory."
        ),
        ("diagnostics", "Socket that airframectl connects to."),
        ("persistence", "Storage of saved tuning, baselines and calibration."),
        ("log", "Messages in the journal."),
    ]

    /// The setting with this key.
    public static func setting(_ key: String) -> Setting? { byKey[key] }

    private static let byKey = Dictionary(
        settings.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })

    private static let loop: [Setting] = [
        .integer(
            "loop.rate_hz", \.loop.rateHz, 50...4000, unit: "Hz", .restart,
            "Rate of the control loop: read, estimate, control, drive.",
            hint: "With the IMU on I2C at 400 kHz, 500 Hz is a good start."),
        .integer(
            "loop.priority", \.loop.priority, 1...98, .restart,
            "Real-time (SCHED_FIFO) priority of the loop thread; 99 belongs to the kernel.",
            hint: "80 is a good start."),
        .integer(
            "loop.cpu", \.loop.cpu, -1...1023, .restart,
            "CPU for the threads of the loop and of its bus; -1 selects the last CPU, which usually has the fewest interrupts."
        ),
        .bool(
            "loop.lock_memory", \.loop.lockMemory, .restart,
            "Whether airframed locks its memory, so that the loop never waits for a page from disk."
        ),
    ]

    private static let imu: [Setting] = [
        .triple(
            "imu.mounting_deg", \.imu.mountingDeg, -180...180, unit: "deg", .restart,
            "Mounting angles of the sensor in the camera's frame (x forward, y right, z down)."),
        .number(
            "imu.gyro_range_dps", \.imu.gyroRangeDps, 125...4000, unit: "deg/s", .restart,
            "Full scale of the gyroscope; larger readings count as implausible."),
        .number(
            "imu.accel_range_g", \.imu.accelRangeG, 2...64, unit: "g", .restart,
            "Full scale of the accelerometer; larger readings count as implausible."),
        .number(
            "imu.frozen_ms", \.imu.frozenMs, 10...10_000, unit: "ms", .restart,
            "Duration of at least eight identical samples after which the chip counts as frozen. The duration is shorter after airframed has measured the chip's noise. In lockstep this check applies only to a sensor with noise.",
            hint:
                "A sensor that is slower than the loop repeats samples: set more than four periods of the sensor."
        ),
        .number(
            "imu.filter_delay_ms", \.imu.filterDelayMs, 0...20, unit: "ms", .live,
            "Group delay of the sensor's low-pass filter, which the attitude compensates.",
            hint:
                "Without this setting, the delay is 0 in lockstep, and the chip's own delay with real chips; in a replay each sample of the log then counts as a mean over its period, half a period old."
        ),
        .bool(
            "imu.witness_gyro", \.imu.witnessGyro, .live,
            "Whether airframed compares the gyroscope with motors, joints and its own history; false = airframed detects only frozen and out-of-range values."
        ),
        .number(
            "imu.timeout_ms", \.imu.timeoutMs, 1...1000, unit: "ms", .restart,
            "Age of the last sample at which it counts as stale: the motors brake, then go off."),
        .number(
            "imu.fault_hold_ms", \.imu.faultHoldMs, 0...1000, unit: "ms", .restart,
            "Time for which a sensor fault remains after its cause has ended."),
    ]

    private static let estimator: [Setting] = [
        .number(
            "estimator.gyro_noise_dps_sqrthz", \.estimator.gyroNoiseDpsSqrthz, 1e-3...1,
            unit: "deg/s/√Hz", .live,
            "Noise density of the gyroscope, including a margin for vibration."),
        .number(
            "estimator.bias_sigma_initial_dps", \.estimator.biasSigmaInitialDps, 0.001...20,
            unit: "deg/s", .live, "Standard deviation of the gyroscope's zero error at the start.",
            hint: "1.5 suits a BMI088; an MPU-6050 needs up to 10."),
        .number(
            "estimator.bias_walk_dps_sqrts", \.estimator.biasWalkDpsSqrts, 1e-5...0.5,
            unit: "deg/s/√s", .live, "Random walk of the gyroscope's zero."),
        .number(
            "estimator.cross_sigma", \.estimator.crossSigma, 0...0.05, .restart,
            "Standard deviation of the share of another axis's rate that each gyroscope axis reads; the estimator learns this share.",
            hint: "0 switches the learning off. 0.0035 suits an uncalibrated sensor."),
        .number(
            "estimator.velocity_noise_mps_sqrts", \.estimator.velocityNoiseMpsSqrts, 0.01...10,
            unit: "m/s·√s", .live,
            "Intensity of the hand's motion; a higher value gives the accelerometer less weight."),
        .number(
            "estimator.rest_rate_dps", \.estimator.restRateDps, 0.01...50, unit: "deg/s", .live,
            "Largest variation of the rate of a camera at rest."),
        .number(
            "estimator.rest_accel_mps2", \.estimator.restAccelMps2, 0.01...10, unit: "m/s²", .live,
            "Largest variation of the acceleration of a camera at rest."),
        .number(
            "estimator.rest_time_s", \.estimator.restTimeS, 0.2...10, unit: "s", .live,
            "Time within rest_rate_dps and rest_accel_mps2 before the estimator measures the gyroscope's zero error."
        ),
        .number(
            "estimator.lever_sigma_m", \.estimator.leverSigmaM, 0...2, unit: "m", .live,
            "Standard deviation of the distance from the sensor to its centre of rotation, such as a wrist or an elbow.",
            hint: "0 = the estimator does not learn this distance."),
        .number(
            "estimator.kalman_q_angle", \.estimator.kalmanQAngle, 1e-6...1, .live,
            "First value of the Kalman triple of AirOS apps: its ratio to the default scales the gyroscope's noise variance.",
            hint: "Ratios are limited to 0.1...10."),
        .number(
            "estimator.kalman_q_bias", \.estimator.kalmanQBias, 1e-6...1, .live,
            "Second value of the Kalman triple of AirOS apps: its ratio to the default scales the variance of the gyroscope's bias walk.",
            hint: "Ratios are limited to 0.1...10."),
        .number(
            "estimator.kalman_r_measure", \.estimator.kalmanRMeasure, 1e-6...10, .live,
            "Third value of the Kalman triple of AirOS apps: its ratio to the default scales the variance of the hand's velocity.",
            hint: "Ratios are limited to 0.1...10."),
        .number(
            "estimator.converged_inclination_deg", \.estimator.convergedInclinationDeg, 0.1...30,
            unit: "deg", .live, "Uncertainty of the horizon below which the motors can start."),
    ]

    private static let control: [Setting] = [
        .triple(
            "control.attitude_gain", \.control.attitudeGain, 0...100, unit: "1/s", .live,
            "Commanded rate per attitude error."),
        .triple(
            "control.rate_gain", \.control.rateGain, 0...1000, unit: "1/s", .live,
            "Angular acceleration per rate error; the torque is this acceleration times the inertia."
        ),
        .triple(
            "control.rate_integral_gain", \.control.rateIntegralGain, 0...100_000, unit: "1/s²",
            .live,
            "Angular acceleration per integrated rate error, which compensates constant loads."),
        .triple(
            "control.rate_derivative_gain", \.control.rateDerivativeGain, 0...10, .live,
            "Damping: share of the measured angular acceleration that the controller opposes."),
        .number(
            "control.derivative_cutoff_hz", \.control.derivativeCutoffHz, 1...2000, unit: "Hz",
            .live, "Corner frequency of the derivative's low-pass; less than half of loop.rate_hz."),
        .triple(
            "control.inertia_kg_m2", \.control.inertiaKgM2, 1e-6...10, unit: "kg·m²", .live,
            "Moment of inertia about the camera's axes; only the starting value if find_inertia is true."
        ),
        .bool(
            "control.find_inertia", \.control.findInertia, .live,
            "Whether a small shake measures the inertia each time the motors come on; false keeps inertia_kg_m2 unless the shake shows that another camera is mounted."
        ),
        .bool(
            "control.watch_oscillation", \.control.watchOscillation, .live,
            "Whether airframed lowers the gains and measures the inertia again when the motors make the camera oscillate."
        ),
        .number(
            "control.max_rate_dps", \.control.maxRateDps, 1...2000, unit: "deg/s", .live,
            "Highest rate that the attitude controller commands."),
        .number(
            "control.loop_delay_ms", \.control.loopDelayMs, 0...50, unit: "ms", .live,
            "Delay from the camera's motion to the corrective torque: sensor filter, bus, motor."),
        .number(
            "control.feed_forward", \.control.feedForward, 0...1, .live,
            "Share of the commanded rate that reaches the rate controller directly."),
        .number(
            "control.friction_learning_rate", \.control.frictionLearningRate, 0...10, unit: "1/s",
            .live, "Learning rate of the friction compensation of each joint; 0 = no compensation."),
        .number(
            "control.friction_limit_nm", \.control.frictionLimitNm, 0...1, unit: "N·m", .live,
            "Largest friction that airframed compensates; at most half of motors.torque_limit_nm."),
        .number(
            "control.noise_limit_percent", \.control.noiseLimitPercent, 0...100, unit: "%", .live,
            "Limit of the torque noise above 50 Hz, as a share of motors.torque_limit_nm; above it airframed makes the axis less stiff; 0 = no limit."
        ),
    ]

    private static let filter: [Setting] = [
        notches("filter.notch_yaw", \.filter.notchYaw, "yaw"),
        notches("filter.notch_roll", \.filter.notchRoll, "roll"),
        notches("filter.notch_pitch", \.filter.notchPitch, "pitch"),
        .triple(
            "filter.low_pass_hz", \.filter.lowPassHz, 0...1000, unit: "Hz", .live,
            "Corner frequency of the low-pass of each axis; 0 = no low-pass.",
            hint:
                "A corner below 150 Hz reduces the phase margin, which `airframectl status` shows."),
        .integer(
            "filter.low_pass_order", \.filter.lowPassOrder, 1...2, .live,
            "Order of the low-passes."),
    ]

    private static func notches(
        _ key: String, _ path: Setting.Path<[Notch]>, _ axis: String
    ) -> Setting {
        .notches(
            key, path, .live, "Notch filters on the rate of the \(axis) axis.",
            hint: "[[85, 3, 20]] attenuates 85 Hz by 20 dB; its width is 85 Hz / 3.")
    }

    private static let motors: [Setting] = [
        .choice(
            "motors.type", \.motors.type,
            [("torque", .torque), ("servo", .servo), ("field", .field)],
            .restart,
            "Motor type: torque = brushless with encoder, field = brushless without encoder, servo = hobby servo, which receives its position as a pulse width."
        ),
        .triple(
            "motors.torque_limit_nm", \.motors.torqueLimitNm, 0...20, unit: "N·m", .live,
            "Largest torque of each motor."),
        .integer(
            "motors.pole_pairs", \.motors.polePairs, 1...50, .restart,
            "Pole pairs of the motors; with type = \"field\".",
            hint: "Count the magnets and halve the number: 14 magnets are 7 pairs."),
        .triple(
            "motors.direction", \.motors.direction, -1...1, .restart,
            "Direction of each brushless motor: 1, or -1 if the joint turns against the field.",
            hint:
                "`airframectl motor test` shows the direction; exchanging two wires of the motor also reverses it."
        ),
        .triple(
            "motors.electrical_zero_deg", \.motors.electricalZeroDeg, -360...360, unit: "deg",
            .restart,
            "Electrical angle at which the field holds each joint at zero; with type = \"torque\"."),
        .number(
            "motors.pwm_hz", \.motors.pwmHz, 200...1526, unit: "Hz", .restart,
            "PWM frequency of brushless motors on a PCA9685."),
        .number(
            "motors.power", \.motors.power, 0.05...1, .live,
            "Strength of the motor's field, as a share of the largest power of its driver; with type = \"field\". A higher value holds more load and heats the motors more."
        ),
        .number(
            "motors.power_max", \.motors.powerMax, 0.05...1, .live,
            "Largest strength of the field under load; values below motors.power count as motors.power."
        ),
        .triple(
            "motors.continuous_torque_nm", \.motors.continuousTorqueNm, 0...20, unit: "N·m", .live,
            "Torque that each motor can produce permanently; a cool motor can produce more for a while; 0 = no such limit."
        ),
        .number(
            "motors.thermal_time_s", \.motors.thermalTimeS, 0.1...3600, unit: "s", .live,
            "Thermal time constant of a motor's windings."),
        .number(
            "motors.soft_start_s", \.motors.softStartS, 0...10, unit: "s", .live,
            "Duration of the torque ramp when the motors come on."),
    ]

    private static let supervision: [Setting] = [
        .number(
            "supervisor.soft_stop_s", \.supervisor.softStopS, 0...10, unit: "s", .live,
            "Duration of the torque ramp to zero after a fault that does not require an immediate stop."
        ),
        .number(
            "supervisor.recovery_s", \.supervisor.recoveryS, 0...60, unit: "s", .live,
            "Time without any fault before the motors come on again automatically."),
        .number(
            "commander.dead_man_s", \.commander.deadManS, 0.05...10, unit: "s", .live,
            "Age at which a rate command expires and the camera stops."),
        .number(
            "commander.release_after_s", \.commander.releaseAfterS, 0.1...3600, unit: "s", .live,
            "Time without a request from the client in control, after which another client can take control; at least dead_man_s."
        ),
        .number(
            "commander.fallback_s", \.commander.fallbackS, 0...3600, unit: "s", .live,
            "Time without a request from the client that turned the camera, after which the mode becomes fallback_mode; 0 = never.",
            hint:
                "Until then the camera keeps its attitude. Only a request for another mode ends the fallback."
        ),
        .choice(
            "commander.fallback_mode", \.commander.fallbackMode,
            [Mode.neutral, .retract].map { ($0.name, $0) }, .live,
            "Mode after fallback_s without a request; without encoders or servos the camera keeps its attitude instead."
        ),
        .number(
            "commander.off_s", \.commander.offS, 0...3600, unit: "s", .live,
            "Time without a request from the client that turned the camera, after which the motors go off; 0 = never.",
            hint: "The motors stay off until a client asks for a mode."),
        .bool(
            "commander.allow_airos", \.commander.allowAiros, .live,
            "Whether AirOS apps can take control. Every link can always send an emergency stop; clients of the socket can always take control."
        ),
        .bool(
            "commander.allow_rbl", \.commander.allowRbl, .live,
            "Whether clients of RedBearLab's serial service can take control."),
        .bool(
            "commander.allow_udp", \.commander.allowUdp, .live,
            "Whether the remote control of the wheels over UDP can take control."),
        .bool(
            "commander.allow_mavlink", \.commander.allowMavlink, .live,
            "Whether MAVLink peers can take control."),
    ]

    private static let services: [Setting] = [
        .path(
            "diagnostics.socket", \.diagnostics.socket, maxLength: 107, .restart,
            "Path of the UNIX socket that airframectl connects to.",
            hint: "Linux allows paths of at most 107 bytes, such as /run/airframe/airframed.sock."),
        .text(
            "diagnostics.group", \.diagnostics.group, maxLength: 32, .restart,
            "Group whose members can use the socket."),
        .path(
            "persistence.directory", \.persistence.directory, .restart,
            "Directory for saved values; the service user needs write access."),
        .choice(
            "log.level", \.log.level, .live,
            "Lowest severity of the messages that airframed writes to the journal."),
    ]
}
