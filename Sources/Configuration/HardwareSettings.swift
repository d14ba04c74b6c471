public import GimbalCore

/// Inertial sensors that this build has drivers for.
public enum SensorChip: String, Sendable, CaseIterable {
    /// Bosch BMI088.
    case bmi088
}

/// Motor drivers that this build has.
public enum MotorChip: String, Sendable, CaseIterable {
    /// None: the sensor alone.
    case none
    /// NXP PCA9685 with servos or brushless motors.
    case pca9685
    /// Servos at a PWM chip of the board.
    case pwm
}

extension Settings {
    /// `[hardware.linux]`
    public struct Linux: Sendable, Equatable {
        /// Device file of the bus.
        public var bus = "/dev/i2c-1"
        /// Its clock, kHz.
        public var busKhz = 400
        /// The inertial sensor.
        public var imu = SensorChip.bmi088
        /// Address of the accelerometer.
        public var imuAddress = 0x18
        /// Address of the gyroscope.
        public var gyroAddress = 0x68
        /// Whether the sensor tests itself.
        public var imuSelfTest = true
        /// What drives the motors.
        public var motors = MotorChip.pca9685
        /// Address of the motors' chip.
        public var motorAddress = 0x40
        /// Outputs of the joints.
        public var motorChannels = AxisVector(yaw: 0, roll: 1, pitch: 2)
        /// Oscillator of the motors' chip, MHz.
        public var oscillatorMhz = 25.0
        /// Device file of the bus of the motors' chip, or `same`.
        public var motorBus = Self.same
        /// Folder of the PWM chip.
        public var pwmChip = "/sys/class/pwm/pwmchip0"
        /// Device file of the GPIO chip.
        public var gpioChip = "/dev/gpiochip0"
        /// Line that switches the motors; -1: none.
        public var powerLine = -1
        /// Whether low lets the motors run.
        public var powerActiveLow = false

        static let same = "same"
    }

    /// `[servo]`
    public struct Servo: Sendable, Equatable {
        private static let core = ServoController.Parameters()

        /// From command to the start of the answer, ms.
        public var delayMs = 11.0
        /// Lag of the position loop, ms.
        public var lagMs = 4.0
        /// Fastest movement, deg/s.
        public var maxRateDps = AxisVector(repeating: 600)
        /// How far a command must be from the horn before it moves, degrees.
        public var deadBandDeg = 0.2
        /// Bandwidth of the handle's extrapolation, rad/s.
        public var trackerBandwidth = core.trackerBandwidth
        /// Pulses per second.
        public var frameHz = 333.0
        /// Shortest and longest pulse, µs.
        public var pulseUs = AxisRanges(
            lower: AxisVector(repeating: 1000), upper: AxisVector(repeating: 2000))
        /// Travel between them, degrees.
        public var travelDeg = AxisVector(repeating: 90)
        /// 1, or -1 where a longer pulse turns the joint backwards.
        public var direction = AxisVector(repeating: 1)
        /// What the pulse at joint zero is longer than the middle, µs.
        public var trimUs = AxisVector.zero
    }
}
