import GimbalCore
import Port

/// Table of all settings, for parsing, `get`, `set`, `diff`, reload and the sample file. To add a
/// setting, add a property to `Settings` and an entry to this table. Then run `make documents`.
public enum Schema {
    /// Every setting, grouped by table, in the order of the sample file.
    public static let settings: [Setting] =
        hardware + serial + iio + lockstep + loop + imu + estimator + control + filter + airos
        + rbl + motors + servo + supply + drive + rider + robot + motion + modes + supervision
        + battery + controls + signals + mcp + bluetooth + mavlink + recording + services

    /// The setting with the given key.
    public static func setting(_ key: String) -> Setting? { byKey[key] }

    private static let byKey = Dictionary(
        settings.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })

    private static let loop: [Setting] = [
        .integer(
            "loop.rate_hz", \.loop.rateHz, 50...4000, unit: "Hz", .restart,
            "Rate of the control loop; in each period the loop reads the sensor, estimates the attitude, and computes the motors' commands.",
            hint: "500 Hz is a suitable rate with the IMU on an I2C bus at 400 kHz."),
        .integer(
            "loop.priority", \.loop.priority, 1...98, .restart,
            "Real-time (SCHED_FIFO) priority of the loop thread; 99 belongs to the kernel.",
            hint: "A priority of 80 suits most computers."),
        .integer(
            "loop.cpu", \.loop.cpu, -1...1023, .restart,
            "CPU for the threads of the loop and of its bus; -1 selects the last CPU, which usually has the fewest interrupts."
        ),
        .bool(
            "loop.lock_memory", \.loop.lockMemory, .restart,
            "If true, airframed locks its memory, so that the loop never waits for a page from disk."
        ),
    ]

    private static let imu: [Setting] = [
        .triple(
            "imu.mounting_deg", \.imu.mountingDeg, -180...180, unit: "deg", .restart,
            "Mounting angles of the sensor in the camera's frame (x forward, y right, z down)."),
        .number(
            "imu.gyro_range_dps", \.imu.gyroRangeDps, 125...4000, unit: "deg/s", .restart,
            "Full scale of the gyroscope; a chip without this range uses its next larger one, or its largest one. airframed reports larger readings as implausible, and those of a kernel driver as saturated."
        ),
        .number(
            "imu.accel_range_g", \.imu.accelRangeG, 2...64, unit: "g", .restart,
            "Full scale of the accelerometer; a chip without this range uses its next larger one, or its largest one. airframed reports larger readings as implausible, and those of a kernel driver as saturated."
        ),
        .number(
            "imu.frozen_ms", \.imu.frozenMs, 10...10_000, unit: "ms", .restart,
            "Time for which the sensor must repeat the same sample before airframed reports imu_frozen; at least eight equal samples are also necessary. After airframed has measured the sensor's noise, it uses a shorter time. In lockstep airframed detects frozen sensors only if the simulated sensor has noise.",
            hint:
                "If the sensor is slower than the loop, airframed reads every sample several times: set frozen_ms to more than four periods of the sensor."
        ),
        .number(
            "imu.filter_delay_ms", \.imu.filterDelayMs, Settings.IMU.filterDelaysMs, unit: "ms",
            .live,
            "Group delay of the sensor's low-pass filter; airframed compensates this delay in the estimated attitude.",
            hint:
                "Default: the delay of the chip; 0 in lockstep; half a sample period in a replay of an .imu log. On gimbals with encoders, autotune measures the delay."
        ).assistants(.any),
        .bool(
            "imu.witness_gyro", \.imu.witnessGyro, .live,
            "If true, airframed compares the gyroscope with motors, joints and earlier readings, to detect wrong readings; if false, airframed detects only frozen and out-of-range readings."
        ),
        .number(
            "imu.timeout_ms", \.imu.timeoutMs, 1...1000, unit: "ms", .restart,
            "Time without a new sample after which airframed brakes the motors and turns them off."),
        .number(
            "imu.fault_hold_ms", \.imu.faultHoldMs, 0...1000, unit: "ms", .restart,
            "Time for which airframed continues to report a sensor fault after the fault has ended."
        ),
    ]

    private static let estimator: [Setting] = [
        .number(
            "estimator.gyro_noise_dps_sqrthz", \.estimator.gyroNoiseDpsSqrthz, 1e-3...1,
            unit: "deg/s/√Hz", .live,
            "Noise density of the gyroscope, including a margin for vibration."
        ).assistants(.any),
        .number(
            "estimator.bias_sigma_initial_dps", \.estimator.biasSigmaInitialDps, 0.001...20,
            unit: "deg/s", .live, "Standard deviation of the gyroscope's bias at the start.",
            hint: "A value of 1.5 deg/s suits a BMI088; an MPU-6050 needs up to 10 deg/s."
        ).assistants(.any),
        .number(
            "estimator.bias_walk_dps_sqrts", \.estimator.biasWalkDpsSqrts, 1e-5...0.5,
            unit: "deg/s/√s", .live, "Random walk of the gyroscope's bias."
        ).assistants(.any),
        .number(
            "estimator.velocity_noise_mps_sqrts", \.estimator.velocityNoiseMpsSqrts, 0.01...10,
            unit: "m/s·√s", .live,
            "Intensity of the hand's random motion; with a higher value the estimator gives the accelerometer less weight."
        ).assistants(.any),
        .number(
            "estimator.rest_rate_dps", \.estimator.restRateDps, 0.01...50, unit: "deg/s", .live,
            "Threshold for rest: the camera is at rest while the RMS deviation of the rate from its mean is at most this value."
        ).assistants(.any),
        .number(
            "estimator.rest_accel_mps2", \.estimator.restAccelMps2, 0.01...10, unit: "m/s²", .live,
            "Threshold for rest: the camera is at rest while the RMS deviation of the acceleration from its mean is at most this value."
        ).assistants(.any),
        .number(
            "estimator.rest_time_s", \.estimator.restTimeS, 0.2...10, unit: "s", .live,
            "Time for which the camera must be at rest (see rest_rate_dps and rest_accel_mps2) before the estimator measures the gyroscope's bias."
        ).assistants(.any),
        .number(
            "estimator.lever_sigma_m", \.estimator.leverSigmaM, 0...2, unit: "m", .live,
            "Standard deviation of the distance from the sensor to the centre of rotation, such as a wrist or an elbow.",
            hint: "If the value is 0, the estimator does not learn the distance."
        ).assistants(.any),
        .number(
            "estimator.kalman_q_angle", \.estimator.kalmanQAngle, 1e-6...1, .live,
            "Process noise of the attitude, the first Kalman value of AirOS apps. The variance of the gyroscope's noise is proportional to this value.",
            hint: "airframed limits the value to 0.1 to 10 times its default."
        ).assistants(.any),
        .number(
            "estimator.kalman_q_bias", \.estimator.kalmanQBias, 1e-6...1, .live,
            "Process noise of the gyroscope's bias, the second Kalman value of AirOS apps. The variance of the bias random walk is proportional to this value.",
            hint: "airframed limits the value to 0.1 to 10 times its default."
        ).assistants(.any),
        .number(
            "estimator.kalman_r_measure", \.estimator.kalmanRMeasure, 1e-6...10, .live,
            "Measurement noise, the third Kalman value of AirOS apps. The variance of the hand's velocity is proportional to this value.",
            hint: "airframed limits the value to 0.1 to 10 times its default."
        ).assistants(.any),
        .number(
            "estimator.converged_inclination_deg", \.estimator.convergedInclinationDeg, 0.1...30,
            unit: "deg", .live,
            "Largest uncertainty of the estimated horizon at which the motors can be switched on."
        ).assistants(.lower),
    ]

    private static let control: [Setting] = [
        .triple(
            "control.attitude_gain", \.control.attitudeGain, 0...200, unit: "1/s", .live,
            "Proportional gain of the attitude: commanded rate per attitude error."
        ).assistants(.any),
        .triple(
            "control.rate_gain", \.control.rateGain, 0...1000, unit: "1/s", .live,
            "Proportional gain of the rate: angular acceleration per rate error. The torque is the angular acceleration times the inertia."
        ).assistants(.any),
        .triple(
            "control.rate_integral_gain", \.control.rateIntegralGain, 0...100_000, unit: "1/s²",
            .live,
            "Integral gain of the rate: angular acceleration per integral of the rate error. The integral compensates constant loads."
        ).assistants(.any),
        .triple(
            "control.rate_derivative_gain", \.control.rateDerivativeGain, 0...10, .live,
            "Derivative gain of the rate, for damping: fraction of the measured angular acceleration that the controller counteracts."
        ).assistants(.any),
        .number(
            "control.derivative_cutoff_hz", \.control.derivativeCutoffHz, 1...2000, unit: "Hz",
            .live,
            "Corner frequency of the low-pass filter of the derivative; it must be less than half of loop.rate_hz."
        ).assistants(.any),
        .triple(
            "control.inertia_kg_m2", \.control.inertiaKgM2, 1e-6...10, unit: "kg·m²", .live,
            "Moment of inertia of the camera about its axes; if find_inertia is true, airframed uses the configured value only until it has measured the inertia."
        ).assistants(.any),
        .bool(
            "control.find_inertia", \.control.findInertia, .live,
            "Each time the motors are switched on, airframed shakes the camera slightly to measure its inertia. True = use the measured inertia; false = use inertia_kg_m2, unless the measurement shows that another camera is mounted."
        ).assistants(.any),
        .bool(
            "control.watch_oscillation", \.control.watchOscillation, .live,
            "If true, airframed lowers the gains and measures the inertia again when the motors make the camera oscillate."
        ),
        .number(
            "control.max_rate_dps", \.control.maxRateDps, 1...2000, unit: "deg/s", .live,
            "Highest rate that the controller commands to correct an attitude error."
        ).assistants(.lower),
        .number(
            "control.loop_delay_ms", \.control.loopDelayMs, 0.5...50, unit: "ms", .live,
            "Delay from a motion of the camera to the correcting torque, caused by the sensor's filter, the bus and the motor."
        ).assistants(.any),
        .number(
            "control.feed_forward", \.control.feedForward, 0...1, .live,
            "Fraction of the set-point's rate and acceleration that is fed forward to the rate controller."
        ).assistants(.any),
        .number(
            "control.friction_learning_rate", \.control.frictionLearningRate, 0...10, unit: "1/s",
            .live, "Learning rate of the friction compensation of each joint; 0 = no compensation."
        ).assistants(.any),
        .number(
            "control.friction_limit_nm", \.control.frictionLimitNm, 0...10, unit: "N·m", .live,
            "Largest friction torque that airframed compensates, at most half of the smallest value of motors.torque_limit_nm."
        ).assistants(.lower),
        .number(
            "control.noise_limit_percent", \.control.noiseLimitPercent, 0...100, unit: "%", .live,
            "Limit of the torque noise above 50 Hz, in per cent of motors.torque_limit_nm. airframed lowers the gains of an axis whose noise exceeds the limit; 0 = no limit."
        ),
    ]

    private static let filter: [Setting] = [
        notches("filter.notch_yaw", \.filter.notchYaw, "yaw"),
        notches("filter.notch_roll", \.filter.notchRoll, "roll"),
        notches("filter.notch_pitch", \.filter.notchPitch, "pitch"),
        .triple(
            "filter.low_pass_hz", \.filter.lowPassHz, 0...1000, unit: "Hz", .live,
            "Corner frequency of the low-pass filter of each axis; 0 = no filter.",
            hint:
                "A corner frequency below 150 Hz reduces the phase margin, which `airframectl status` shows."
        ).assistants(.any),
        .integer(
            "filter.low_pass_order", \.filter.lowPassOrder, 1...2, .live,
            "Order of the low-pass filters."
        ).assistants(.any),
    ]

    private static func notches(
        _ key: String, _ path: Setting.Path<[Notch]>, _ axis: String
    ) -> Setting {
        .notches(
            key, path, .live,
            "Notch filters of the measured rate about the \(axis) axis, each [centre in Hz, Q, depth in dB].",
            hint: "The filter [[85, 3, 20]] attenuates 85 Hz by 20 dB; its width is 85 Hz / 3."
        ).assistants(.any)
    }

    private static let motors: [Setting] = [
        .choice(
            "motors.type", \.motors.type,
            [("torque", .torque), ("servo", .servo), ("field", .field)],
            .restart,
            "Motor type: \"torque\" = brushless with encoder, \"field\" = brushless without encoder, \"servo\" = hobby servo, which receives its position as a pulse width."
        ),
        .triple(
            "motors.torque_limit_nm", \.motors.torqueLimitNm, 0.001...20, unit: "N·m", .live,
            "Largest torque of each motor. For brushless motors on a PCA9685, this value is not a limit, but the torque at the full strength of the motor's magnetic field: if the value is too low, the gains are too high. With type = \"torque\", a change of this value changes the strength only after a restart."
        ),
        .integer(
            "motors.pole_pairs", \.motors.polePairs, 1...50, .restart,
            "Number of pole pairs of the motors; used with type = \"field\", and with type = \"torque\" on a PCA9685.",
            hint: "Count the magnets and halve the number: 14 magnets are 7 pairs."),
        .triple(
            "motors.direction", \.motors.direction, -1...1, .restart,
            "Direction of each brushless motor: 1, or -1 if the joint turns in the direction opposite to the magnetic field.",
            hint:
                "`airframectl motor test` shows the direction; swapping two wires of the motor also reverses the direction."
        ),
        .triple(
            "motors.electrical_zero_deg", \.motors.electricalZeroDeg, -360...360, unit: "deg",
            .restart,
            "Electrical angle of the magnetic field that holds each joint at its zero position; used with type = \"torque\" on a PCA9685.",
            hint: "The page wiring.md of the manual describes the measurement."
        ),
        .number(
            "motors.pwm_hz", \.motors.pwmHz, 200...1526, unit: "Hz", .restart,
            "PWM frequency of brushless motors on a PCA9685."),
        .number(
            "motors.power", \.motors.power, 0.05...1, .live,
            "Strength of the motor's magnetic field, as a fraction of the driver's highest output; used with type = \"field\". With a higher value the motors hold more load and become hotter. Without load, a light camera gets less if control.find_inertia is true (status: motors.rest_power_percent)."
        ).assistants(.lower),
        .number(
            "motors.power_max", \.motors.powerMax, 0.05...1, .live,
            "Strength of the motor's magnetic field under load; if motors.power is higher, airframed uses motors.power."
        ).assistants(.lower),
        .triple(
            "motors.continuous_torque_nm", \.motors.continuousTorqueNm, 0...20, unit: "N·m", .live,
            "Torque that each motor can produce permanently without overheating; a cool motor can produce more torque for a short time; 0 = no thermal limit."
        ),
        .number(
            "motors.thermal_time_s", \.motors.thermalTimeS, 0.1...3600, unit: "s", .live,
            "Thermal time constant of a motor's windings."),
        .number(
            "motors.soft_start_s", \.motors.softStartS, 0...10, unit: "s", .live,
            "Time in which the torque rises from zero after the motors have been switched on."
        ).assistants(.raise),
    ]

    private static let supervision: [Setting] = [
        .number(
            "supervisor.soft_stop_s", \.supervisor.softStopS, 0...10, unit: "s", .live,
            "Time in which the torque falls to zero after a fault that does not require an immediate stop."
        ),
        .number(
            "supervisor.recovery_s", \.supervisor.recoveryS, 0...60, unit: "s", .live,
            "Fault-free time after which airframed switches the motors on again."),
        .number(
            "commander.dead_man_s", \.commander.deadManS, 0.05...10, unit: "s", .live,
            "Time after which the camera stops if a client does not repeat its rate command."),
        .number(
            "commander.release_after_s", \.commander.releaseAfterS, 0.1...3600, unit: "s", .live,
            "Time after which another client can take control if the client in control sends no request; at least dead_man_s."
        ),
        .number(
            "commander.fallback_s", \.commander.fallbackS, 0...3600, unit: "s", .live,
            "Time after which the mode becomes fallback_mode if the client that turned the camera sends no request; 0 = never.",
            hint:
                "The camera keeps its attitude until fallback_s has passed. Afterwards the mode is fallback_mode until a client selects another mode."
        ),
        .choice(
            "commander.fallback_mode", \.commander.fallbackMode,
            [Mode.neutral, .retract].map { ($0.name, $0) }, .live,
            "Mode that airframed selects after fallback_s without a request; if the joint angles are unknown (neither encoders nor servos), the camera keeps its attitude."
        ),
        .number(
            "commander.off_s", \.commander.offS, 0...3600, unit: "s", .live,
            "Time after which airframed turns the motors off if the client that turned the camera sends no request; 0 = never.",
            hint: "The motors stay off until a client selects a mode."),
        .bool(
            "commander.allow_airos", \.commander.allowAiros, .live,
            "If true, AirOS apps can take control. AirOS apps can always send an emergency stop, and clients of the socket can always take control."
        ),
        .bool(
            "commander.allow_rbl", \.commander.allowRbl, .live,
            "If true, clients of RedBearLab's serial service can take control, also with MAVLink."),
        .bool(
            "commander.allow_udp", \.commander.allowUdp, .live,
            "If true, the remote control of the wheels over UDP can take control."),
        .bool(
            "commander.allow_mavlink", \.commander.allowMavlink, .live,
            "If true, MAVLink peers on UDP and on the serial port can take control."),
    ]

    private static let services: [Setting] = [
        .path(
            "diagnostics.socket", \.diagnostics.socket, maxLength: 107, .restart,
            "Path of the UNIX socket that airframectl connects to.",
            hint: "Linux allows paths of at most 107 bytes, such as /run/airframe/airframed.sock."),
        .text(
            "diagnostics.group", \.diagnostics.group, maxLength: 32, .restart,
            "Linux group whose members can move the gimbal and change settings through the socket."),
        .path(
            "persistence.directory", \.persistence.directory, .restart,
            "Directory for saved values; the user that runs airframed needs write access."),
        .choice(
            "log.level", \.log.level, .live,
            "Lowest severity of the messages that airframed writes to the journal."),
    ]
}
