public import GimbalCore

/// Supported types of inertial sensors.
public enum SensorChip: String, Sendable, CaseIterable {
    /// Bosch BMI088.
    case bmi088
    /// InvenSense MPU-6050.
    case mpu6050
    /// InvenSense MPU-6500.
    case mpu6500
    /// InvenSense MPU-9250, with a magnetometer.
    case mpu9250
    /// TDK InvenSense ICM-42688-P.
    case icm42688p
    /// TDK InvenSense ICM-20948, with a magnetometer.
    case icm20948

    /// Value of the setting that selects a sensor with a kernel driver.
    static let kernelDriver = "iio"

    /// I2C address of the accelerometer if the chip's address pin is low.
    public var defaultAddress: Int { self == .bmi088 ? 0x18 : 0x68 }

    /// True if the chip measures the magnetic field.
    public var hasMagnetometer: Bool { self == .mpu9250 || self == .icm20948 }

    /// Largest full-scale range of the accelerometer, g.
    public var largestAccelRange: Double { self == .bmi088 ? 24 : 16 }

    /// Full-scale ranges of the gyroscope, deg/s, in ascending order.
    private var gyroRanges: [Double] {
        switch self {
        case .bmi088: [125, 250, 500, 1000, 2000]
        case .mpu6050, .mpu6500, .mpu9250, .icm20948: [250, 500, 1000, 2000]
        case .icm42688p: [15.625, 31.25, 62.5, 125, 250, 500, 1000, 2000]
        }
    }

    /// Full scale of the gyroscope if `wanted` is requested, deg/s: the chip's smallest range that
    /// is at least `wanted`, or the chip's largest range.
    public func gyroRange(atLeast wanted: Double) -> Double {
        gyroRanges.first { $0 >= wanted } ?? 2000
    }

    /// Full scale of the accelerometer if `wanted` is requested, g: the chip's smallest range that
    /// is at least `wanted`, or the chip's largest range.
    public func accelRange(atLeast wanted: Double) -> Double {
        let largest = largestAccelRange
        return [largest / 8, largest / 4, largest / 2].first { $0 >= wanted } ?? largest
    }

    /// Largest offset of a healthy gyroscope on each axis, deg/s: the tolerance in the data sheet
    /// (MPU-6050: ±20; MPU-6500, MPU-9250 and ICM-20948: ±5; BMI088: ±1; ICM-42688-P: ±0.5), with a
    /// margin for the temperature.
    public var largestGyroOffset: Double {
        switch self {
        case .mpu6050: 25
        case .mpu6500, .mpu9250, .icm20948: 7
        case .bmi088, .icm42688p: 5
        }
    }

    /// Temperature coefficient of the gyroscope's offset in the data sheet, deg/s/K. The data sheets
    /// of the MPU-6050 and the MPU-9250 state ±20 and ±30 deg/s for the 125 K from -40 to 85 °C.
    public var gyroOffsetPerKelvin: Double {
        switch self {
        case .bmi088: 0.015
        case .mpu6050: 0.16
        case .mpu6500, .mpu9250: 0.24
        case .icm42688p: 0.005
        case .icm20948: 0.05
        }
    }

    /// Size of a sample in the FIFO, bytes; nil if the driver does not use the FIFO.
    public var packetBytes: Int? {
        switch self {
        case .mpu6050, .mpu6500: 14
        case .icm42688p: 16
        case .bmi088, .mpu9250, .icm20948: nil
        }
    }

    /// Group delay of the chip's filter with the driver's setting, ms. The delay of the MPU-6050
    /// and the MPU-6500 is in their register maps (register 26). The delay of the other chips is
    /// computed as that of a second-order filter, √2 / (2π · corner frequency). The corner
    /// frequency is 230 Hz for the BMI088, and 196.6 Hz for the ICM-20948. The ICM-42688-P has two
    /// filters, with corner frequencies of 250 Hz and 585 Hz.
    public var filterDelayMs: Double {
        switch self {
        case .bmi088: 1.0
        case .mpu6050: 1.9
        case .mpu6500, .mpu9250: 2.9
        case .icm42688p: 1.3
        case .icm20948: 1.1
        }
    }
}

/// Interface of an inertial sensor.
public enum SensorInterface: String, Sendable, CaseIterable {
    /// The board's I2C bus.
    case i2c
    /// SPI bus. Gyroscope and accelerometer have separate chip selects.
    case spi
}

/// Supported types of joint encoders.
public enum EncoderChip: String, Sendable, CaseIterable {
    /// The joints have no encoders.
    case none
    /// ams AS5600.
    case as5600
    /// The encoders of the drives, the servos or the motor board.
    case drives

    /// Group delay of the measured angles, ms. The AS5600 keeps its default filter: the mean of 16
    /// samples at intervals of 150 µs (data sheet: settling time 2.2 ms).
    public var delayMs: Double {
        switch self {
        case .none: 0
        case .as5600: 1.1
        // The driver extrapolates the angles to the time of the sample.
        case .drives: 0
        }
    }
}

/// Supported chips, buses and boards for the motors.
public enum MotorChip: String, Sendable, CaseIterable {
    /// No motors are connected.
    case none
    /// NXP PCA9685 with servos or brushless motors.
    case pca9685
    /// Servos on the board's PWM chip.
    case pwm
    /// Brushless motors with drives on a CAN bus.
    case can
    /// Servos on a serial bus.
    case busServo = "bus_servo"
    /// Three brushless motors on a microcontroller board, on a serial port.
    case board

    /// True if the motors are on a serial port.
    public var isSerial: Bool { self == .busServo || self == .board }

    /// True if the motors report the joint angles.
    public var haveEncoders: Bool { self == .can || isSerial }
}

/// Vendor of drives with the Mini Cheetah's protocol. The commands are equal; the replies differ.
public enum MITVariant: String, Sendable, CaseIterable {
    /// Damiao: the reply contains the drive's state and fault, and two temperatures. The drive has a
    /// watchdog, whose timeout can be set over the bus.
    case damiao
    /// CubeMars (T-Motor) AK: the reply contains a temperature and a fault code.
    case cubemars
    /// Other drives: only the drive's number, angle and rate of the reply are used.
    case plain

    /// True if the timeout of the drive's watchdog can be set over the bus.
    public var setsWatchdog: Bool { self == .damiao }
}

/// Purpose of the GPIO line of the motors' power.
public enum PowerLineRole: String, Sendable, CaseIterable {
    /// The line enables the motors, and is on while the motors are on.
    case enable
    /// The line switches the supply of drives, bus servos or a motor board. The line is also on while
    /// the motors are off, because devices without supply cannot answer.
    case supply
}

/// Protocol of the drives on the CAN bus.
public enum DriveProtocol: String, Sendable, CaseIterable {
    /// ODrive, CANSimple.
    case odrive
    /// DJI RoboMaster GM6020 with current commands.
    case gm6020
    /// DJI RoboMaster GM6020 with voltage commands.
    case gm6020Voltage = "gm6020_voltage"
    /// The Mini Cheetah's protocol, for drives from Damiao and T-Motor.
    case mit
    /// Xiaomi CyberGear.
    case cybergear
    /// moteus by mjbots.
    case moteus

    /// Largest angle in the replies of a CyberGear, rad.
    public static let cyberGearAngle = 12.5

    /// Permitted CAN IDs of a drive.
    public var ids: ClosedRange<Int> {
        switch self {
        case .odrive: 0...63
        case .gm6020, .gm6020Voltage: 1...7
        case .mit: 1...15
        case .cybergear, .moteus: 1...127
        }
    }
}

extension Settings {
    /// Settings of `[hardware.linux]`, the chips on the board's buses.
    public struct Linux: Sendable, Equatable {
        /// Device file of the sensors' I2C bus.
        public var bus = "/dev/i2c-1"
        /// Clock of the I2C bus, kHz.
        public var busKhz = 400
        /// The inertial sensor; nil for a sensor with a kernel driver (`iio`).
        public var imu: SensorChip? = .bmi088
        /// I2C address of the accelerometer.
        public var imuAddress = 0x18
        /// I2C address of the gyroscope.
        public var gyroAddress = 0x68
        /// True if the sensor's self-test runs during initialisation.
        public var imuSelfTest = true
        /// Interface of the inertial sensor.
        public var imuInterface = SensorInterface.i2c
        /// Device file of the sensor on SPI.
        public var imuSpi = "/dev/spidev0.0"
        /// Device file of a BMI088's gyroscope on SPI.
        public var gyroSpi = "/dev/spidev0.1"
        /// SPI clock for measurements, kHz.
        public var spiKhz = 1000
        /// True if the samples are read from the sensor's FIFO, so that no sample is lost.
        public var imuFifo = false
        /// GPIO chip of the data-ready line.
        public var dataReadyChip = "/dev/gpiochip0"
        /// GPIO number of the data-ready line; -1 if it is not connected.
        public var dataReadyLine = -1
        /// The inertial sensor on the handle; nil if there is none.
        public var handleImu: SensorChip?
        /// Device file of the I2C bus of the handle's sensor.
        public var handleBus = "/dev/i2c-1"
        /// I2C address of the handle's sensor.
        public var handleAddress = 0x69
        /// Mounting angles of the handle's sensor in the handle's frame, degrees.
        public var handleMountingDeg = AxisVector.zero
        /// Encoders that measure the joints' angles.
        public var encoders = EncoderChip.none
        /// Device file of the yaw encoder's I2C bus.
        public var encoderBusYaw = "/dev/i2c-11"
        /// Device file of the roll encoder's I2C bus.
        public var encoderBusRoll = "/dev/i2c-12"
        /// Device file of the pitch encoder's I2C bus.
        public var encoderBusPitch = "/dev/i2c-13"
        /// Reading of each encoder at joint angle zero, degrees.
        public var encoderZeroDeg = AxisVector.zero
        /// Direction of each encoder, 1 or -1.
        public var encoderDirection = AxisVector(repeating: 1)
        /// Chip that drives the motors.
        public var motors = MotorChip.pca9685
        /// I2C address of the motor driver chip.
        public var motorAddress = 0x40
        /// Output of the motor driver chip for each joint.
        public var motorChannels = AxisVector(yaw: 0, roll: 1, pitch: 2)
        /// Oscillator frequency of the motor driver chip, MHz.
        public var oscillatorMhz = 25.0
        /// Device file of the bus with the motor driver chip, or `same` for the sensors' bus.
        public var motorBus = Self.same
        /// CAN interface of the drives.
        public var canInterface = "can0"
        /// Protocol of the drives.
        public var canProtocol = DriveProtocol.odrive
        /// CAN ID of each joint's drive; -1 if it is not set.
        public var canId = AxisVector(repeating: -1)
        /// CAN ID of this computer.
        public var canHostId = 0
        /// Bit rate of the CAN bus, kbit/s. For CAN FD, the value is the bit rate of the
        /// arbitration phase.
        public var canKbit = 1000
        /// Timeout of the drives' command watchdogs, ms; 0 leaves the drives' own timeouts unchanged.
        public var canWatchdogMs = 25.0
        /// Firmware version of the ODrives to which the numbers of the endpoints belong, such as
        /// "0.6.9"; `none` if airframed does not set their watchdogs.
        public var odriveFirmware = Self.noFirmware
        /// Value of `odriveFirmware` without a version.
        public static let noFirmware = "none"
        /// Number of the endpoint `axis0.config.watchdog_timeout` in that firmware; 0 if it is not set.
        public var odriveTimeoutId = 0
        /// Number of the endpoint `axis0.config.enable_watchdog` in that firmware; 0 if it is not set.
        public var odriveEnableId = 0
        /// Vendor of the drives with the Mini Cheetah's protocol.
        public var mitVariant = MITVariant.damiao
        /// Largest angle in the Mini Cheetah's protocol, rad.
        public var mitAngleRad = 12.5
        /// Largest rate in the Mini Cheetah's protocol, rad/s.
        public var mitRateRps = 30.0
        /// Largest torque in the Mini Cheetah's protocol, N·m.
        public var mitTorqueNm = 10.0
        /// Device file of the serial port for the servos or the motor board.
        public var motorPort = "/dev/ttyUSB0"
        /// Baud rate of the serial port, bits per second.
        public var motorBaud = 1_000_000
        /// Protocol of the servos.
        public var servoProtocol = ServoProtocol.feetech
        /// ID of each joint's servo; -1 for a joint without a servo.
        public var servoId = AxisVector(yaw: 1, roll: 2, pitch: 3)
        /// Torque constant of a Dynamixel's motor, N·m/A.
        public var servoNmPerA = 0.35
        /// Resolution of a Dynamixel's current value, mA.
        public var servoCurrentStepMa = 1.0
        /// Path of the PWM chip's directory in sysfs.
        public var pwmChip = "/sys/class/pwm/pwmchip0"
        /// Device file of the GPIO chip with the power line.
        public var gpioChip = "/dev/gpiochip0"
        /// GPIO line that switches the motors' power; -1 if there is none.
        public var powerLine = -1
        /// True if the power line is active low.
        public var powerActiveLow = false
        /// Purpose of the power line.
        public var powerLineRole = PowerLineRole.enable
        /// Time from switching the drives' supply on until the drives must answer, ms.
        public var powerLineBootMs = 2000.0

        static let same = "same"
    }

    /// Settings of `[servo]`, the properties of position servos.
    public struct Servo: Sendable, Equatable {
        private static let core = ServoController.Parameters()

        /// Time from a command to the beginning of the servo's response, ms.
        public var delayMs = 11.0
        /// Time constant of the servo's position loop, ms.
        public var lagMs = 4.0
        /// Largest rate of the servo, deg/s.
        public var maxRateDps = AxisVector(repeating: 600)
        /// Dead band of the servo: smallest difference between the commanded angle and the horn's
        /// angle that moves the horn, degrees.
        public var deadBandDeg = 0.2
        /// Bandwidth of the tracker that extrapolates the handle's motion, rad/s.
        public var trackerBandwidth = core.trackerBandwidth
        /// True if the servos can ignore tremor (fast motion of the handle). The servos ignore
        /// tremor only while ignoring it reduces the camera's motion.
        public var leaveTremor = true
        /// Pulses per second to each servo.
        public var frameHz = 333.0
        /// Shortest and longest pulse width, µs.
        public var pulseUs = AxisRanges(
            lower: AxisVector(repeating: 1000), upper: AxisVector(repeating: 2000))
        /// Travel of each servo from the shortest to the longest pulse, degrees.
        public var travelDeg = AxisVector(repeating: 90)
        /// Direction of each servo: 1, or -1 if a longer pulse decreases the joint angle.
        public var direction = AxisVector(repeating: 1)
        /// Pulse width at joint angle zero, relative to the pulse width at the middle of the
        /// travel, µs.
        public var trimUs = AxisVector.zero
    }
}
