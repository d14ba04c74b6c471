extension Schema {
    /// Which gimbal is driven.
    static let hardware: [Setting] = [
        .choice(
            "hardware.backend", \.hardware.backend,
            .restart, "Where samples come from and where torques go."),
        .choice(
            "hardware.simulation.motion", \.hardware.simulation.motion, .restart,
            "How the simulated handle moves."),
        .optionalPath(
            "hardware.simulation.motion_file", \.hardware.simulation.motionFile, .restart,
            "A recorded motion (.imu, x forward, y left, z up) that is played again and again instead.",
            hint: "One second of rest at its beginning says the offset of the gyroscope."),
        .bool(
            "hardware.simulation.encoders", \.hardware.simulation.encoders, .restart,
            "Whether the simulated brushless motors have encoders; modes that follow the handle need them."
        ),
        .integer(
            "hardware.simulation.seed", \.hardware.simulation.seed, 0...4_294_967_295, .restart,
            "Start of the random numbers: the same seed gives the same run."),
        .number(
            "hardware.simulation.inertia_factor", \.hardware.simulation.inertiaFactor, 0.02...20,
            .restart, "How heavy the camera is: its inertia against 2.5e-3 kg·m².",
            hint: "A phone is 0.06, a heavy camera 4."),
        .number(
            "hardware.simulation.friction_factor", \.hardware.simulation.frictionFactor, 0...10,
            .restart, "Friction of the joints against 10 mN·m."),
        .number(
            "hardware.simulation.imbalance_mm", \.hardware.simulation.imbalanceMm, 0...50,
            unit: "mm", .restart,
            "How far the centre of mass of a camera of 0.51 kg is off, along each axis."),
        .number(
            "hardware.simulation.vibration_hz", \.hardware.simulation.vibrationHz, 1...500,
            unit: "Hz", .restart, "Frequency of a vibration that reaches the gyroscope."),
        .number(
            "hardware.simulation.vibration_dps", \.hardware.simulation.vibrationDps, 0...200,
            unit: "deg/s", .restart, "Amplitude of that vibration about each axis; 0 = none."),
        .path(
            "hardware.linux.bus", \.hardware.linux.bus, .restart,
            "The I2C bus that the chips are on.",
            hint: "On a Raspberry Pi /dev/i2c-1, after dtparam=i2c_arm=on in config.txt."),
        .integer(
            "hardware.linux.bus_khz", \.hardware.linux.busKhz, 10...1000, unit: "kHz", .restart,
            "Clock of the bus: says what fits into a period.",
            hint: "Set with dtparam=i2c_arm_baudrate=400000 in config.txt."),
        .choice(
            "hardware.linux.imu", \.hardware.linux.imu, .restart,
            "The inertial sensor on the camera."),
        .integer(
            "hardware.linux.imu_address", \.hardware.linux.imuAddress, 3...119, .restart,
            "I2C address of the sensor, or of its accelerometer.",
            hint:
                "A BMI088 has 0x18 or 0x19; the others have 0x68, which is their default, or 0x69."
        ),
        .integer(
            "hardware.linux.gyro_address", \.hardware.linux.gyroAddress, 3...119, .restart,
            "I2C address of a BMI088's gyroscope.", hint: "A BMI088 has 0x68 or 0x69."),
        .bool(
            "hardware.linux.imu_self_test", \.hardware.linux.imuSelfTest, .restart,
            "Whether the sensor tests itself when it is brought up, which takes 0.2 s at rest."),
        .choice(
            "hardware.linux.imu_interface", \.hardware.linux.imuInterface, .restart,
            "How the sensor is reached; an MPU-6050 has I2C alone."),
        .path(
            "hardware.linux.imu_spi", \.hardware.linux.imuSpi, .restart,
            "Chip select of the sensor on SPI, or of a BMI088's accelerometer.",
            hint: "On a Raspberry Pi /dev/spidev0.0, after dtparam=spi=on in config.txt."),
        .path(
            "hardware.linux.gyro_spi", \.hardware.linux.gyroSpi, .restart,
            "Chip select of a BMI088's gyroscope on SPI."),
        .integer(
            "hardware.linux.spi_khz", \.hardware.linux.spiKhz, 100...24000, unit: "kHz", .restart,
            "Clock of measurements on SPI.",
            hint:
                "A BMI088 takes 10 MHz, MPU-6500 and MPU-9250 20 MHz, an ICM-42688-P 24 MHz; long wires less."
        ),
        .bool(
            "hardware.linux.imu_fifo", \.hardware.linux.imuFifo, .restart,
            "Whether all of the sensor's 1000 samples a second are fetched from its buffer; not for BMI088 and MPU-9250."
        ),
        .path(
            "hardware.linux.data_ready_chip", \.hardware.linux.dataReadyChip, .restart,
            "GPIO chip that the sensor's interrupt is wired to.",
            hint: "gpioinfo lists chips and lines."),
        .integer(
            "hardware.linux.data_ready_line", \.hardware.linux.dataReadyLine, -1...1023, .restart,
            "Line of the sensor's interrupt: periods begin when it has measured; -1 = by the clock.",
            hint: "INT1; of a BMI088 INT3, the gyroscope's."),
        .choice(
            "hardware.linux.handle_imu", \.hardware.linux.handleImu,
            [("none", nil)] + SensorChip.allCases.map { ($0.rawValue, $0) }, .restart,
            "A second inertial sensor, on the handle."),
        .path(
            "hardware.linux.handle_bus", \.hardware.linux.handleBus, .restart,
            "The I2C bus of the handle's sensor."),
        .integer(
            "hardware.linux.handle_address", \.hardware.linux.handleAddress, 3...119, .restart,
            "I2C address of the handle's sensor, or of its accelerometer.",
            hint: "A BMI088 at 0x18 has its gyroscope at 0x68, one at 0x19 at 0x69."),
        .triple(
            "hardware.linux.handle_mounting_deg", \.hardware.linux.handleMountingDeg, -180...180,
            unit: "deg", .restart,
            "How that sensor is turned against the handle (x forward, y right, z down)."),
        .choice(
            "hardware.linux.encoders", \.hardware.linux.encoders, .restart,
            "What shows the joints' angles."),
        .path(
            "hardware.linux.encoder_bus_yaw", \.hardware.linux.encoderBusYaw, .restart,
            "The I2C bus of the yaw encoder: every AS5600 has the address 0x36.",
            hint: "dtoverlay=i2c-mux,pca9548 makes a bus of each channel of a TCA9548A."),
        .path(
            "hardware.linux.encoder_bus_roll", \.hardware.linux.encoderBusRoll, .restart,
            "The I2C bus of the roll encoder."),
        .path(
            "hardware.linux.encoder_bus_pitch", \.hardware.linux.encoderBusPitch, .restart,
            "The I2C bus of the pitch encoder."),
        .triple(
            "hardware.linux.encoder_zero_deg", \.hardware.linux.encoderZeroDeg, -360...360,
            unit: "deg", .restart, "What each encoder says where its joint is at zero."),
        .triple(
            "hardware.linux.encoder_direction", \.hardware.linux.encoderDirection, -1...1, .restart,
            "Sense of each encoder: 1, or -1 where its angle falls when the joint's grows."),
        .choice(
            "hardware.linux.motors", \.hardware.linux.motors, .restart,
            "What drives the motors: pca9685 servos or brushless ones, pwm servos at the board's own outputs."
        ),
        .integer(
            "hardware.linux.motor_address", \.hardware.linux.motorAddress, 3...119, .restart,
            "I2C address of the motors' chip.", hint: "A PCA9685 has 0x40 to 0x7f."),
        .triple(
            "hardware.linux.motor_channels", \.hardware.linux.motorChannels, 0...15, .restart,
            "Outputs that the three joints are on; of brushless motors the first of three neighbours.",
            hint: "Neighbours take the least time: [0, 1, 2], or [0, 3, 6] for brushless motors."),
        .number(
            "hardware.linux.oscillator_mhz", \.hardware.linux.oscillatorMhz, 20...30,
            unit: "MHz", .restart, "Oscillator of the PCA9685: parts differ by some per cent.",
            hint: "Measure the frame rate at an output: 25 times measured over servo.frame_hz."),
        .text(
            "hardware.linux.motor_bus", \.hardware.linux.motorBus, maxLength: 64, .restart,
            "The I2C bus of the motors' chip: same, or the device file of a bus of their own.",
            hint: "On their own, a sensor that hangs its bus cannot keep the motors on."),
        .path(
            "hardware.linux.pwm_chip", \.hardware.linux.pwmChip, maxLength: 107, .restart,
            "The PWM chip of motors = \"pwm\"; motor_channels are its channels.",
            hint: "On a Raspberry Pi after dtoverlay=pwm-2chan in config.txt."),
        .path(
            "hardware.linux.gpio_chip", \.hardware.linux.gpioChip, maxLength: 107, .restart,
            "The GPIO chip of power_line."),
        .integer(
            "hardware.linux.power_line", \.hardware.linux.powerLine, -1...1023, .restart,
            "GPIO line that switches the motors' power or enables their driver; -1: none.",
            hint: "It works when a bus hangs. On a Raspberry Pi the number of the GPIO, such as 17."
        ),
        .bool(
            "hardware.linux.power_active_low", \.hardware.linux.powerActiveLow, .restart,
            "Whether low lets the motors run, as at the OE pin of a PCA9685."),
        .path(
            "hardware.lockstep.socket", \.hardware.lockstep.socket, maxLength: 107, .restart,
            "Path of the UNIX socket that the simulator connects to.",
            hint: "Linux allows 107 bytes, such as /run/airframe/lockstep.sock."),
        .number(
            "hardware.lockstep.timeout", \.hardware.lockstep.timeout, 0.01...3600, unit: "s",
            .restart, "Wall time without a line after which the outputs go off."),
    ]

    /// What position servos are like.
    static let servo: [Setting] = [
        .number(
            "servo.delay_ms", \.servo.delayMs, 0...40, unit: "ms", .live,
            "From command to the start of the servo's answer, half a frame of waiting included.",
            hint: "Right within 10 %: what is wrong looks like motion of the handle."),
        .number(
            "servo.lag_ms", \.servo.lagMs, 0...50, unit: "ms", .live,
            "Lag of the servo's own position loop."),
        .triple(
            "servo.max_rate_dps", \.servo.maxRateDps, 10...5000, unit: "deg/s", .live,
            "Fastest movement of the servos; what they are told turns no faster."),
        .number(
            "servo.dead_band_deg", \.servo.deadBandDeg, 0...5, unit: "deg", .live,
            "How far a command must be from the horn before the servo moves."),
        .number(
            "servo.tracker_bandwidth", \.servo.trackerBandwidth, 5...300, unit: "rad/s", .live,
            "How fast a motion of the handle is believed: more follows faster, less forgives a wrong delay."
        ),
        .number(
            "servo.frame_hz", \.servo.frameHz, 40...400, unit: "Hz", .restart,
            "Pulses per second. The defaults of delay_ms and tracker_bandwidth follow from it.",
            hint: "333 is for digital servos; analogue ones burn above 50."),
        .ranges(
            "servo.pulse_us", \.servo.pulseUs, 300...3000, unit: "µs", .restart,
            "Shortest and longest pulse of each servo."),
        .triple(
            "servo.travel_deg", \.servo.travelDeg, 10...720, unit: "deg", .restart,
            "How far each servo turns between its shortest and its longest pulse."),
        .triple(
            "servo.direction", \.servo.direction, -1...1, .restart,
            "Sense of each servo: 1, or -1 where a longer pulse turns the joint backwards."),
        .triple(
            "servo.trim_us", \.servo.trimUs, -500...500, unit: "µs", .restart,
            "What the pulse at joint zero is longer than the middle."),
        .ranges(
            "joints.range_deg", \.joints.rangeDeg, -360...360, unit: "deg", .restart,
            "Mechanical range of each joint; zero is aligned with the handle, yaw of -360 to 360 is a slip ring."
        ),
    ]
}
