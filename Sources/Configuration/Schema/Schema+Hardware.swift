extension Schema {
    /// Settings of the sensors and motors, `[hardware]`.
    static let hardware: [Setting] = [
        .choice(
            "hardware.backend", \.hardware.backend,
            .restart,
            "Hardware that supplies the sensor's samples and receives the motor commands: \"simulated\" = a simulated gimbal, \"lockstep\" = a simulator in another program, \"linux\" = real chips."
        ),
        .choice(
            "hardware.simulation.motion", \.hardware.simulation.motion, .restart,
            "Motion of the simulated handle."),
        .optionalPath(
            "hardware.simulation.motion_file", \.hardware.simulation.motionFile, .restart,
            "File with a recorded motion (.imu, x forward, y left, z up), which the simulated handle repeats instead of hardware.simulation.motion.",
            hint:
                "The recording must begin with at least one second of rest, in which airframed measures the gyroscope's offset."
        ),
        .bool(
            "hardware.simulation.encoders", \.hardware.simulation.encoders, .restart,
            "If true, the simulated brushless motors have encoders, which are necessary for modes that follow the handle."
        ),
        .integer(
            "hardware.simulation.seed", \.hardware.simulation.seed, 0...4_294_967_295, .restart,
            "Seed of the simulation's random numbers: runs with the same seed are identical."),
        .number(
            "hardware.simulation.inertia_factor", \.hardware.simulation.inertiaFactor, 0.02...20,
            .restart, "Inertia of the simulated camera, as a multiple of 2.5e-3 kg·m².",
            hint: "A phone has an inertia factor of 0.06, a heavy camera an inertia factor of 4."),
        .number(
            "hardware.simulation.friction_factor", \.hardware.simulation.frictionFactor, 0...10,
            .restart, "Friction of the simulated joints, as a multiple of 10 mN·m."),
        .number(
            "hardware.simulation.imbalance_mm", \.hardware.simulation.imbalanceMm, 0...50,
            unit: "mm", .restart,
            "Offset of the simulated camera's centre of mass, along each axis; the camera has a mass of 0.51 kg."
        ),
        .number(
            "hardware.simulation.vibration_hz", \.hardware.simulation.vibrationHz, 1...500,
            unit: "Hz", .restart, "Frequency of the simulated vibration at the gyroscope."),
        .number(
            "hardware.simulation.vibration_dps", \.hardware.simulation.vibrationDps, 0...200,
            unit: "deg/s", .restart,
            "Amplitude of the simulated vibration at the gyroscope, about each axis; 0 = none."),
        .path(
            "hardware.linux.bus", \.hardware.linux.bus, .restart,
            "I2C bus of the inertial sensor, and of the motors' chip if motor_bus is \"same\".",
            hint:
                "On a Raspberry Pi the bus is /dev/i2c-1; dtparam=i2c_arm=on in config.txt enables it."
        ),
        .integer(
            "hardware.linux.bus_khz", \.hardware.linux.busKhz, 10...1000, unit: "kHz", .restart,
            "Clock frequency of the I2C bus; a lower frequency permits fewer transfers per loop period.",
            hint: "Set the same frequency in config.txt, such as dtparam=i2c_arm_baudrate=400000."),
        .choice(
            "hardware.linux.imu", \.hardware.linux.imu,
            SensorChip.allCases.map { ($0.rawValue, $0) } + [(SensorChip.kernelDriver, nil)],
            .restart,
            "Type of the inertial sensor on the camera; \"iio\" = any sensor with a driver in the kernel, see hardware.iio."
        ),
        .integer(
            "hardware.linux.imu_address", \.hardware.linux.imuAddress, 3...119, .restart,
            "I2C address of the camera's sensor (BMI088: address of the accelerometer).",
            hint:
                "A BMI088 has the address 0x18 or 0x19; the other sensors have 0x68 (default) or 0x69."
        ),
        .integer(
            "hardware.linux.gyro_address", \.hardware.linux.gyroAddress, 3...119, .restart,
            "I2C address of a BMI088's gyroscope.", hint: "A BMI088 has 0x68 or 0x69."),
        .bool(
            "hardware.linux.imu_self_test", \.hardware.linux.imuSelfTest, .restart,
            "If true, the sensor runs its self-test when airframed starts; the test takes 0.2 s, in which the camera must be at rest."
        ),
        .choice(
            "hardware.linux.imu_interface", \.hardware.linux.imuInterface, .restart,
            "Interface of the sensor; an MPU-6050 has only I2C."),
        .path(
            "hardware.linux.imu_spi", \.hardware.linux.imuSpi, .restart,
            "SPI device file of the sensor, with bus and chip select (BMI088: device file of the accelerometer).",
            hint:
                "On a Raspberry Pi the device is /dev/spidev0.0; dtparam=spi=on in config.txt enables it."
        ),
        .path(
            "hardware.linux.gyro_spi", \.hardware.linux.gyroSpi, .restart,
            "SPI device file of a BMI088's gyroscope (bus and chip select)."),
        .integer(
            "hardware.linux.spi_khz", \.hardware.linux.spiKhz, 100...24000, unit: "kHz", .restart,
            "SPI clock frequency while airframed reads measurements.",
            hint:
                "The highest clock is 10 MHz for a BMI088, 7 MHz for an ICM-20948, 20 MHz for MPU-6500 and MPU-9250, 24 MHz for an ICM-42688-P; long wires need a lower clock."
        ),
        .bool(
            "hardware.linux.imu_fifo", \.hardware.linux.imuFifo, .restart,
            "If true, airframed reads all 1000 samples per second from the sensor's FIFO buffer; not possible with BMI088, MPU-9250 and ICM-20948."
        ),
        .path(
            "hardware.linux.data_ready_chip", \.hardware.linux.dataReadyChip, .restart,
            "GPIO chip of the sensor's interrupt line.",
            hint: "The command gpioinfo lists the GPIO chips and their lines."),
        .integer(
            "hardware.linux.data_ready_line", \.hardware.linux.dataReadyLine, -1...1023, .restart,
            "GPIO line of the sensor's interrupt, which starts each period of the loop when a new measurement is ready; -1 = the computer's clock starts the periods.",
            hint:
                "Connect the line to pin INT1 of the sensor, or to pin INT3 of a BMI088."
        ),
        .choice(
            "hardware.linux.handle_imu", \.hardware.linux.handleImu,
            [("none", nil)] + SensorChip.allCases.map { ($0.rawValue, $0) }, .restart,
            "Type of a second inertial sensor, which is mounted on the handle."),
        .path(
            "hardware.linux.handle_bus", \.hardware.linux.handleBus, .restart,
            "I2C bus of the handle's sensor."),
        .integer(
            "hardware.linux.handle_address", \.hardware.linux.handleAddress, 3...119, .restart,
            "I2C address of the handle's sensor (BMI088: address of the accelerometer).",
            hint:
                "A BMI088 at 0x18 has its gyroscope at 0x68; a BMI088 at 0x19 has its gyroscope at 0x69."
        ),
        .triple(
            "hardware.linux.handle_mounting_deg", \.hardware.linux.handleMountingDeg, -180...180,
            unit: "deg", .restart,
            "Mounting angles of the handle's sensor in the handle's frame (x forward, y right, z down)."
        ),
        .choice(
            "hardware.linux.encoders", \.hardware.linux.encoders, .restart,
            "Encoders that measure the joints' angles: \"as5600\" = AS5600 chips on separate I2C buses, \"drives\" = the encoders in CAN drives, bus servos or a motor board."
        ),
        .path(
            "hardware.linux.encoder_bus_yaw", \.hardware.linux.encoderBusYaw, .restart,
            "I2C bus of the yaw encoder. Every AS5600 has the address 0x36, so each encoder needs its own bus.",
            hint: "dtoverlay=i2c-mux,pca9548 turns each channel of a TCA9548A into a bus."),
        .path(
            "hardware.linux.encoder_bus_roll", \.hardware.linux.encoderBusRoll, .restart,
            "I2C bus of the roll encoder."),
        .path(
            "hardware.linux.encoder_bus_pitch", \.hardware.linux.encoderBusPitch, .restart,
            "I2C bus of the pitch encoder."),
        .triple(
            "hardware.linux.encoder_zero_deg", \.hardware.linux.encoderZeroDeg, -360...360,
            unit: "deg", .restart, "Reading of each encoder at joint angle zero."),
        .triple(
            "hardware.linux.encoder_direction", \.hardware.linux.encoderDirection, -1...1, .restart,
            "Direction of each encoder: 1, or -1 if the encoder's angle decreases while the joint's angle increases."
        ),
        .choice(
            "hardware.linux.motors", \.hardware.linux.motors, .restart,
            "Driver of the motors: \"pca9685\" = a PCA9685 for servos or brushless motors, \"pwm\" = the board's own PWM outputs for servos, \"can\" = drives on a CAN bus for brushless motors, \"bus_servo\" = servos on a serial bus, \"board\" = a microcontroller board for brushless motors."
        ),
        .integer(
            "hardware.linux.motor_address", \.hardware.linux.motorAddress, 3...119, .restart,
            "I2C address of the motors' chip.", hint: "A PCA9685 has 0x40 to 0x7f."),
        .triple(
            "hardware.linux.motor_channels", \.hardware.linux.motorChannels, 0...15, .restart,
            "Output numbers of the three joints; for a brushless motor, the number of the first of its three neighbouring outputs.",
            hint:
                "Neighbouring outputs need the least bus time: [0, 1, 2] for servos, [0, 3, 6] for brushless motors."
        ),
        .number(
            "hardware.linux.oscillator_mhz", \.hardware.linux.oscillatorMhz, 20...30,
            unit: "MHz", .restart,
            "Oscillator frequency of the PCA9685; individual chips differ by a few per cent.",
            hint:
                "Measure the pulse rate at an output in Hz, and set oscillator_mhz to 25 * measured rate / servo.frame_hz."
        ),
        .text(
            "hardware.linux.motor_bus", \.hardware.linux.motorBus, maxLength: 64, .restart,
            "I2C bus of the motors' chip: \"same\" for the sensor's bus, or the device file of another bus.",
            hint:
                "With a separate bus, airframed can turn the motors off even when the sensor's bus hangs."
        ),
        .text(
            "hardware.linux.can_interface", \.hardware.linux.canInterface, maxLength: 15, .restart,
            "CAN interface of the drives, for motors = \"can\".",
            hint:
                "The interface must be up: `ip link set can0 up type can bitrate 1000000 restart-ms 100`."
        ),
        .choice(
            "hardware.linux.can_protocol", \.hardware.linux.canProtocol, .restart,
            "Protocol of the drives: \"odrive\", \"gm6020\" (current commands), \"gm6020_voltage\" (voltage commands), \"mit\" (Mini Cheetah protocol), \"cybergear\", \"moteus\"."
        ),
        .triple(
            "hardware.linux.can_id", \.hardware.linux.canId, -1...127, .restart,
            "CAN ID of each joint's drive; -1 = not set.",
            hint: "For example [1, 2, 3]."),
        .integer(
            "hardware.linux.can_host_id", \.hardware.linux.canHostId, 0...2047, .restart,
            "CAN ID to which the drives send their answers: the CAN ID of the reply frames (\"mit\"), or of this computer (\"cybergear\", \"moteus\")."
        ),
        .integer(
            "hardware.linux.can_kbit", \.hardware.linux.canKbit, 125...1000, unit: "kbit/s",
            .restart,
            "Bit rate of the CAN bus; a lower rate permits fewer frames per loop period.",
            hint: "Set the interface and the drives to the same bit rate."),
        .number(
            "hardware.linux.can_watchdog_ms", \.hardware.linux.canWatchdogMs, 0...1000,
            unit: "ms", .restart,
            "Time without a command after which a drive stops its motor, at least 10 ms. airframed sets this time in drives with the protocols moteus, cybergear, odrive and mit (Damiao), and switches the motors on only if each drive has confirmed the time. 0 = airframed does not change the drives' watchdogs.",
            hint:
                "For protocol odrive, set odrive_firmware, odrive_timeout_id and odrive_enable_id."
        ),
        .text(
            "hardware.linux.odrive_firmware", \.hardware.linux.odriveFirmware, maxLength: 11,
            .restart,
            "Firmware version of the ODrives for which odrive_timeout_id and odrive_enable_id are valid, such as \"0.6.9\". airframed writes nothing to an ODrive with another version. \"none\" = airframed does not set the watchdogs of ODrives.",
            hint: "airframectl status shows the version of each ODrive with firmware 0.6."
        ),
        .integer(
            "hardware.linux.odrive_timeout_id", \.hardware.linux.odriveTimeoutId, 0...65535,
            .restart,
            "Number of the endpoint axis0.config.watchdog_timeout in the file flat_endpoints.json of the ODrives' firmware; 0 = not set."
        ),
        .integer(
            "hardware.linux.odrive_enable_id", \.hardware.linux.odriveEnableId, 0...65535,
            .restart,
            "Number of the endpoint axis0.config.enable_watchdog in the file flat_endpoints.json of the ODrives' firmware; 0 = not set."
        ),
        .choice(
            "hardware.linux.mit_variant", \.hardware.linux.mitVariant, .restart,
            "Vendor of the drives with protocol mit: \"damiao\", \"cubemars\" (T-Motor AK), or \"plain\" for others. The vendors' replies contain the drive's state and faults in different places."
        ),
        .number(
            "hardware.linux.mit_angle_rad", \.hardware.linux.mitAngleRad, 1...1000, unit: "rad",
            .restart, "Largest angle (P_MAX) that is configured in drives with protocol mit."),
        .number(
            "hardware.linux.mit_rate_rps", \.hardware.linux.mitRateRps, 1...1000, unit: "rad/s",
            .restart, "Largest rate (V_MAX) that is configured in drives with protocol mit."),
        .number(
            "hardware.linux.mit_torque_nm", \.hardware.linux.mitTorqueNm, 0.1...500, unit: "N·m",
            .restart, "Largest torque (T_MAX) that is configured in drives with protocol mit."),
        .path(
            "hardware.linux.pwm_chip", \.hardware.linux.pwmChip, maxLength: 107, .restart,
            "PWM chip for motors = \"pwm\"; motor_channels contains the numbers of its channels.",
            hint: "A Raspberry Pi needs dtoverlay=pwm-2chan in config.txt."),
        .path(
            "hardware.linux.gpio_chip", \.hardware.linux.gpioChip, maxLength: 107, .restart,
            "GPIO chip that contains power_line."),
        .integer(
            "hardware.linux.power_line", \.hardware.linux.powerLine, -1...1023, .restart,
            "GPIO line that switches the motors' power or enables their driver; -1 = none.",
            hint:
                "If power_line is set, airframed can turn the motors off even when a bus hangs. On a Raspberry Pi the line number equals the GPIO number, such as 17."
        ),
        .bool(
            "hardware.linux.power_active_low", \.hardware.linux.powerActiveLow, .restart,
            "If true, a low level of power_line enables the motors, as at the OE pin of a PCA9685."),
        .choice(
            "hardware.linux.power_line_role", \.hardware.linux.powerLineRole, .restart,
            "Purpose of power_line: \"enable\" enables the motors' driver; \"supply\" switches the supply of drives on a CAN bus, of bus servos or of a motor board.",
            hint:
                "A \"supply\" line is on from the start; an emergency stop, a fault of the bus and the end of airframed switch it off."
        ),
        .number(
            "hardware.linux.power_line_boot_ms", \.hardware.linux.powerLineBootMs, 0...60000,
            unit: "ms", .restart,
            "Time from switching the drives' supply on (power_line_role = \"supply\") until the drives must answer.",
            hint: "Set a longer time than the slowest drive needs to start."),
    ]

    /// Settings of the socket for a simulator, `[hardware.lockstep]`.
    static let lockstep: [Setting] = [
        .path(
            "hardware.lockstep.socket", \.hardware.lockstep.socket, maxLength: 107, .restart,
            "Path of the UNIX socket for the simulator.",
            hint: "Linux allows paths of at most 107 bytes, such as /run/airframe/lockstep.sock."),
        .number(
            "hardware.lockstep.timeout", \.hardware.lockstep.timeout, 0.01...3600, unit: "s",
            .restart,
            "Timeout of the simulator, in real time: if the simulator sends no line for this time, airframed turns the motors' outputs off."
        ),
    ]

    /// Properties of position servos.
    static let servo: [Setting] = [
        .number(
            "servo.delay_ms", \.servo.delayMs, 0...60, unit: "ms", .live,
            "Delay from a command to the start of the servo's motion, including half a period of the servo's pulses and of the loop.",
            hint:
                "Set a value within 10 % of the true delay: with a larger error airframed mistakes the servo's motion for motion of the handle."
        ).assistants(.any),
        .number(
            "servo.lag_ms", \.servo.lagMs, 0...50, unit: "ms", .live,
            "Time constant of the servo's internal position control."
        ).assistants(.any),
        .triple(
            "servo.max_rate_dps", \.servo.maxRateDps, 10...5000, unit: "deg/s", .live,
            "Highest speed of the servos; airframed limits the commands to this speed."
        ).assistants(.lower),
        .number(
            "servo.dead_band_deg", \.servo.deadBandDeg, 0...5, unit: "deg", .live,
            "Dead band: smallest difference between command and servo angle at which the servo starts to move."
        ).assistants(.any),
        .number(
            "servo.tracker_bandwidth", \.servo.trackerBandwidth, 5...300, unit: "rad/s", .live,
            "Bandwidth of the observer that estimates the handle's motion. A higher value makes the estimate faster; a lower value tolerates a larger error of servo.delay_ms."
        ).assistants(.any),
        .bool(
            "servo.leave_tremor", \.servo.leaveTremor, .live,
            "If true, the servos compensate fast motion of the handle, such as tremor, only if this does not increase the camera's shake; if false, they compensate all motion of the handle."
        ).assistants(.any),
        .number(
            "servo.frame_hz", \.servo.frameHz, 40...400, unit: "Hz", .restart,
            "Pulse rate of the servos; the defaults of delay_ms and tracker_bandwidth depend on this rate and on loop.rate_hz.",
            hint: "333 Hz suits digital servos; more than 50 Hz can destroy analogue servos."),
        .ranges(
            "servo.pulse_us", \.servo.pulseUs, 300...3000, unit: "µs", .restart,
            "Shortest and longest pulse of each servo."),
        .triple(
            "servo.travel_deg", \.servo.travelDeg, 10...720, unit: "deg", .restart,
            "Travel of each servo between its shortest and its longest pulse."),
        .triple(
            "servo.direction", \.servo.direction, -1...1, .restart,
            "Direction of each servo: 1, or -1 if a longer pulse turns the joint backwards."),
        .triple(
            "servo.trim_us", \.servo.trimUs, -500...500, unit: "µs", .restart,
            "Pulse offset from mid-travel at joint angle zero."),
        .ranges(
            "joints.range_deg", \.joints.rangeDeg, -360...360, unit: "deg", .restart,
            "Mechanical range of each joint; at angle zero the joint is aligned with the handle. A yaw range of -360 to 360 means a slip ring without end stops. The range of a servo with pulses ends at its shortest and its longest pulse."
        ),
    ]
}
