import GimbalCore

/// Every setting, once. Parsing, `--print-config`, `get`, `set`, `diff`, reload and the sample file read this table.
///
/// To add a setting: a property with its default in `Settings`, one entry here, and the sample file that the test
/// prints.
public enum Schema {
    /// Every setting, grouped by table, in the order of the sample file.
    public static let settings: [Setting] =
        hardware + loop + imu + estimator + control + filter + airos + rbl + motors + servo + drive
        + rider + robot + motion
        + modes
        + supervision + bluetooth + mavlink + recording + services

    /// One sentence for each table.
    public static let tables: [(name: String, summary: String)] = [
        ("hardware", "Which sensor and motors are driven."),
        ("hardware.simulation", "The simulated gimbal; used with backend = \"simulated\"."),
        (
            "hardware.linux",
            "Real chips on an I2C bus of the board; used with backend = \"linux\"."
        ),
        (
            "hardware.lockstep",
            "Another program's physics, which owns time; used with backend = \"lockstep\"."
        ),
        ("loop", "The control loop's thread."),
        ("imu", "The inertial sensor on the camera."),
        ("estimator", "The attitude filter. The defaults are those of a Bosch BMI088."),
        ("control", "Attitude error -> rate -> torque. Gains are per unit of inertia."),
        ("airos", "What AirOS apps get."),
        (
            "filter",
            "Filters on the rate that the controllers see; `airframectl spectrum` proposes them."
        ),
        (
            "airos.pid",
            "Gains as an AirOS app sends them: factors on the tuning of each axis, whatever drives it."
        ),
        ("rbl", "What clients of RedBearLab's serial service over Bluetooth get."),
        ("motors", "The actuators."),
        ("servo", "What position servos are like; used with motors.type = \"servo\"."),
        ("joints", "The mechanics between handle and camera."),
        ("drive", "Two wheels under the gimbal, or without one."),
        ("rider", "A remote control for the wheels."),
        ("robot", "Three stepper motors, which a robot's app moves over the serial service."),
        ("robot.slider", "Where the slider's motor may go."),
        ("robot.x", "Where the motor of the joystick's x may go."),
        ("robot.y", "Where the motor of the joystick's y may go."),
        ("motion", "How fast set-points move when somebody points the camera."),
        ("mode", "What the gimbal does by itself."),
        ("follow", "How the handle is followed in modes pan_follow, fpv and neutral."),
        ("follow.slow", "The numbers of preset slow."),
        ("follow.normal", "The numbers of preset normal."),
        ("follow.sport", "The numbers of preset sport."),
        ("tracking", "Mode tracking: an app that sees a person steers pan and tilt."),
        ("retract", "Mode retract: the pose of rest."),
        ("supervisor", "How the motors go off after a fault, and come back."),
        ("commander", "Who is in control, and for how long."),
        ("bluetooth", "The radio: a peripheral of bluetoothd that phones connect to."),
        ("mavlink", "Autopilots and ground stations."),
        (
            "recording",
            "The flight recorder; its files are in recordings/ of persistence.directory."
        ),
        ("diagnostics", "The socket that airframectl talks to."),
        ("persistence", "Where saved tuning, baselines and calibration are kept."),
        ("log", "What is written to the journal."),
    ]

    /// The setting with this key.
    public static func setting(_ key: String) -> Setting? { byKey[key] }

    private static let byKey = Dictionary(
        settings.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })

    private static let loop: [Setting] = [
        .integer(
            "loop.rate_hz", \.loop.rateHz, 50...4000, unit: "Hz", .restart,
            "How often the loop reads, thinks and drives the motors.",
            hint: "With the IMU on I2C at 400 kHz, 500 is a good start."),
        .integer(
            "loop.priority", \.loop.priority, 1...98, .restart,
            "Real-time (SCHED_FIFO) priority of the loop thread; 99 belongs to the kernel.",
            hint: "80 is a good start."),
        .integer(
            "loop.cpu", \.loop.cpu, -1...1023, .restart,
            "CPU that the loop and its bus are bound to; -1 takes the last one, which has the fewest interrupts."
        ),
        .bool(
            "loop.lock_memory", \.loop.lockMemory, .restart,
            "Keep all memory resident, so that no tick waits for a page."),
    ]

    private static let imu: [Setting] = [
        .triple(
            "imu.mounting_deg", \.imu.mountingDeg, -180...180, unit: "deg", .restart,
            "How the sensor is turned against the camera (x forward, y right, z down)."),
        .number(
            "imu.gyro_range_dps", \.imu.gyroRangeDps, 125...4000, unit: "deg/s", .restart,
            "Full scale of the gyroscope; larger readings are implausible."),
        .number(
            "imu.accel_range_g", \.imu.accelRangeG, 2...64, unit: "g", .restart,
            "Full scale of the accelerometer; larger readings are implausible."),
        .number(
            "imu.frozen_ms", \.imu.frozenMs, 10...10_000, unit: "ms", .restart,
            "Identical samples of gyroscope or accelerometer for so long, eight at least, mean a frozen chip; less is enough once its noise is known. In lockstep, if it had noise.",
            hint: "A sensor slower than the loop repeats itself: stay above four of its periods."
        ),
        .number(
            "imu.filter_delay_ms", \.imu.filterDelayMs, 0...20, unit: "ms", .live,
            "Group delay of the sensor's low-pass filter; the attitude is carried forward by it.",
            hint: "Unless it is set, it is 0 in lockstep and with real chips that of the sensor;"
                + " a log's samples then count as means, half a sample old."
        ),
        .bool(
            "imu.witness_gyro", \.imu.witnessGyro, .live,
            "Believe the gyroscope within what motors, joints and its own history allow; false: until it is frozen or out of range."
        ),
        .number(
            "imu.timeout_ms", \.imu.timeoutMs, 1...1000, unit: "ms", .restart,
            "Age at which the last sample is stale and the motors go soft."),
        .number(
            "imu.fault_hold_ms", \.imu.faultHoldMs, 0...1000, unit: "ms", .restart,
            "How long a sensor fault stays raised after its last cause."),
    ]

    private static let estimator: [Setting] = [
        .number(
            "estimator.gyro_noise_dps_sqrthz", \.estimator.gyroNoiseDpsSqrthz, 1e-3...1,
            unit: "deg/s/√Hz", .live, "Noise density of the gyroscope, with room for vibration."),
        .number(
            "estimator.bias_sigma_initial_dps", \.estimator.biasSigmaInitialDps, 0.001...20,
            unit: "deg/s", .live, "How far off zero the gyroscope may be at start (1 sigma).",
            hint: "1.5 suits a BMI088; an MPU-6050 needs up to 10."),
        .number(
            "estimator.bias_walk_dps_sqrts", \.estimator.biasWalkDpsSqrts, 1e-5...0.5,
            unit: "deg/s/√s", .live, "How fast the gyroscope's zero wanders."),
        .number(
            "estimator.velocity_noise_mps_sqrts", \.estimator.velocityNoiseMpsSqrts, 0.01...10,
            unit: "m/s·√s", .live,
            "How lively the motion of the hand is at most; more trusts the accelerometer less."),
        .number(
            "estimator.rest_rate_dps", \.estimator.restRateDps, 0.01...50, unit: "deg/s", .live,
            "Unsteadiness of the rotation below which the camera may be at rest."),
        .number(
            "estimator.rest_accel_mps2", \.estimator.restAccelMps2, 0.01...10, unit: "m/s²", .live,
            "Unsteadiness of the acceleration below which the camera may be at rest."),
        .number(
            "estimator.rest_time_s", \.estimator.restTimeS, 0.2...10, unit: "s", .live,
            "Time within both rest limits after which the gyroscope's zero is learnt."),
        .bool(
            "estimator.stride_aiding", \.estimator.strideAiding, .live,
            "Find the vertical from whole strides where somebody walks; false: from the mean force alone."
        ),
        .number(
            "estimator.lever_sigma_m", \.estimator.leverSigmaM, 0...2, unit: "m", .live,
            "Distance from the sensor to the point that it turns about (1 sigma): a wrist, an elbow.",
            hint: "0 looks for no such lever."),
        .number(
            "estimator.kalman_q_angle", \.estimator.kalmanQAngle, 1e-6...1, .live,
            "Kalman triple as AirOS apps send it: its ratio to the default scales the gyroscope's noise variance.",
            hint: "Ratios beyond 0.1...10 count as those."),
        .number(
            "estimator.kalman_q_bias", \.estimator.kalmanQBias, 1e-6...1, .live,
            "Second of the triple: its ratio to the default scales the variance of the bias walk.",
            hint: "Ratios beyond 0.1...10 count as those."),
        .number(
            "estimator.kalman_r_measure", \.estimator.kalmanRMeasure, 1e-6...10, .live,
            "Third of the triple: its ratio to the default scales the variance of the motion's velocity.",
            hint: "Ratios beyond 0.1...10 count as those."),
        .number(
            "estimator.converged_inclination_deg", \.estimator.convergedInclinationDeg, 0.1...30,
            unit: "deg", .live, "Uncertainty of the horizon below which the motors may start."),
    ]

    private static let control: [Setting] = [
        .triple(
            "control.attitude_gain", \.control.attitudeGain, 0...100, unit: "1/s", .live,
            "Rate asked for per angle of error."),
        .triple(
            "control.rate_gain", \.control.rateGain, 0...1000, unit: "1/s", .live,
            "Angular acceleration per rate of error; times inertia it is torque."),
        .triple(
            "control.rate_integral_gain", \.control.rateIntegralGain, 0...100_000, unit: "1/s²",
            .live, "Angular acceleration per integrated rate error; holds against constant loads."),
        .triple(
            "control.rate_derivative_gain", \.control.rateDerivativeGain, 0...10, .live,
            "Damping: share of the measured angular acceleration that is opposed."),
        .number(
            "control.derivative_cutoff_hz", \.control.derivativeCutoffHz, 1...2000, unit: "Hz",
            .live, "Low-pass of the derivative; less than half of loop.rate_hz."),
        .triple(
            "control.inertia_kg_m2", \.control.inertiaKgM2, 1e-6...10, unit: "kg·m²", .live,
            "Moment of inertia about the camera's axes; a starting value while find_inertia is on."),
        .bool(
            "control.find_inertia", \.control.findInertia, .live,
            "Measure the inertia with a small shake whenever the motors come on; false keeps inertia_kg_m2 unless that shows another camera."
        ),
        .bool(
            "control.watch_oscillation", \.control.watchOscillation, .live,
            "Lower the gains, and measure the inertia anew, where the motors make the camera oscillate."
        ),
        .number(
            "control.max_rate_dps", \.control.maxRateDps, 1...2000, unit: "deg/s", .live,
            "Fastest correction that the attitude controller asks for."),
        .number(
            "control.loop_delay_ms", \.control.loopDelayMs, 0...50, unit: "ms", .live,
            "From the camera's motion to the torque that answers it: sensor filter, bus, motor."),
        .number(
            "control.feed_forward", \.control.feedForward, 0...1, .live,
            "Share of the commanded rate that reaches the rate controller directly."),
        .number(
            "control.friction_learning_rate", \.control.frictionLearningRate, 0...10, unit: "1/s",
            .live, "How fast each joint's friction is learned, to be compensated; 0 = not at all."),
        .number(
            "control.friction_limit_nm", \.control.frictionLimitNm, 0...1, unit: "N·m", .live,
            "Largest friction that is compensated, at most half of the torque limit."),
        .number(
            "control.noise_limit_percent", \.control.noiseLimitPercent, 0...100, unit: "%", .live,
            "Torque above 50 Hz, of the limit, beyond which an axis becomes less stiff; 0 = as stiff as tuned."
        ),
    ]

    private static let filter: [Setting] = [
        notches("filter.notch_yaw", \.filter.notchYaw, "yaw"),
        notches("filter.notch_roll", \.filter.notchRoll, "roll"),
        notches("filter.notch_pitch", \.filter.notchPitch, "pitch"),
        .triple(
            "filter.low_pass_hz", \.filter.lowPassHz, 0...1000, unit: "Hz", .live,
            "Corner of the low-pass of each axis; 0 = none.",
            hint: "A corner below 150 Hz costs phase margin: see `airframectl status`."),
        .integer(
            "filter.low_pass_order", \.filter.lowPassOrder, 1...2, .live,
            "Order of the low-passes."),
    ]

    private static func notches(
        _ key: String, _ path: Setting.Path<[Notch]>, _ axis: String
    ) -> Setting {
        .notches(
            key, path, .live, "Narrow bands taken out of the rate of the \(axis) axis.",
            hint: "[[85, 3, 20]] takes 20 dB out at 85 Hz, a third of that wide.")
    }

    private static let motors: [Setting] = [
        .choice(
            "motors.type", \.motors.type,
            [("torque", .torque), ("servo", .servo), ("field", .field)],
            .restart,
            "torque: brushless motor with encoder; servo: position by pulse width; field: brushless motor without encoder."
        ),
        .triple(
            "motors.torque_limit_nm", \.motors.torqueLimitNm, 0...20, unit: "N·m", .live,
            "Largest torque of each motor."),
        .integer(
            "motors.pole_pairs", \.motors.polePairs, 1...50, .restart,
            "Pairs of magnet poles of the motors; with type = \"field\".",
            hint: "Count the magnets and halve: 14 magnets are 7 pairs."),
        .triple(
            "motors.direction", \.motors.direction, -1...1, .restart,
            "Sense of each brushless motor: 1, or -1 where the joint turns against the field.",
            hint: "`airframectl motor test` shows it; exchanging two of its wires does the same."),
        .triple(
            "motors.electrical_zero_deg", \.motors.electricalZeroDeg, -360...360, unit: "deg",
            .restart,
            "Electrical angle of the field that holds each joint at zero; with type = \"torque\"."),
        .number(
            "motors.pwm_hz", \.motors.pwmHz, 200...1526, unit: "Hz", .restart,
            "Frequency at the half bridges of brushless motors on a PCA9685, whose most is 1526."),
        .number(
            "motors.power", \.motors.power, 0.05...1, .live,
            "Strength of the field; with type = \"field\". More holds more and heats more."),
        .number(
            "motors.power_max", \.motors.powerMax, 0.05...1, .live,
            "Strength to which a load may raise the field; at least motors.power counts."),
        .triple(
            "motors.continuous_torque_nm", \.motors.continuousTorqueNm, 0...20, unit: "N·m", .live,
            "Torque that each motor holds for ever; more is for as long as it stays cool; 0 = no such limit."
        ),
        .number(
            "motors.thermal_time_s", \.motors.thermalTimeS, 0.1...3600, unit: "s", .live,
            "How long a motor's windings take to warm up."),
        .number(
            "motors.soft_start_s", \.motors.softStartS, 0...10, unit: "s", .live,
            "Time over which the motors come up after they are switched on."),
    ]

    private static let supervision: [Setting] = [
        .number(
            "supervisor.soft_stop_s", \.supervisor.softStopS, 0...10, unit: "s", .live,
            "Time over which the motors go soft after a fault that leaves time for it."),
        .number(
            "supervisor.recovery_s", \.supervisor.recoveryS, 0...60, unit: "s", .live,
            "Time without any fault before the motors come back by themselves."),
        .number(
            "commander.dead_man_s", \.commander.deadManS, 0.05...10, unit: "s", .live,
            "Age at which a rate command dies and the camera stands still."),
        .number(
            "commander.release_after_s", \.commander.releaseAfterS, 0.1...3600, unit: "s", .live,
            "Silence after which somebody else may take control; not below dead_man_s."),
        .number(
            "commander.fallback_s", \.commander.fallbackS, 0...3600, unit: "s", .live,
            "Silence of whoever was turning the camera after which it goes to fallback_mode; 0 = never.",
            hint: "Until then it is held. Only a request for another mode ends it."),
        .choice(
            "commander.fallback_mode", \.commander.fallbackMode,
            [Mode.neutral, .retract].map { ($0.name, $0) }, .live,
            "Where the camera goes then; without encoders or servos it is held instead."),
        .number(
            "commander.off_s", \.commander.offS, 0...3600, unit: "s", .live,
            "Silence of whoever was turning the camera after which the motors go off; 0 = never.",
            hint: "They stay off until somebody asks for a mode."),
        .bool(
            "commander.allow_airos", \.commander.allowAiros, .live,
            "Whether AirOS apps may take control; an emergency stop is everybody's, the socket may always."
        ),
        .bool(
            "commander.allow_rbl", \.commander.allowRbl, .live,
            "Whether clients of RedBearLab's serial service may take control."),
        .bool(
            "commander.allow_udp", \.commander.allowUdp, .live,
            "Whether senders of datagrams may take control."),
        .bool(
            "commander.allow_mavlink", \.commander.allowMavlink, .live,
            "Whether MAVLink peers may take control."),
    ]

    private static let services: [Setting] = [
        .path(
            "diagnostics.socket", \.diagnostics.socket, maxLength: 107, .restart,
            "Path of the UNIX socket.",
            hint: "Linux allows 107 bytes, such as /run/airframe/airframed.sock."),
        .text(
            "diagnostics.group", \.diagnostics.group, maxLength: 32, .restart,
            "Group whose members may use the socket."),
        .path(
            "persistence.directory", \.persistence.directory, .restart,
            "Directory for saved values; the service user must be able to write there."),
        .choice("log.level", \.log.level, .live, "Least severe message that is written."),
    ]
}
