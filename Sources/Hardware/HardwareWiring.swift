public import Realtime

/// Which chips are on which bus, from the settings.
public struct HardwareWiring: Sendable, Equatable {
    /// The inertial sensor on the camera.
    public struct Sensor: Sendable, Equatable {
        /// Device file of its bus.
        public var bus: String
        /// I2C addresses of its parts: accelerometer, gyroscope.
        public var addresses: [UInt16]
        /// Full scale of the gyroscope, deg/s.
        public var gyroRange: Double
        /// Full scale of the accelerometer, g.
        public var accelRange: Double
        /// Whether it tests itself when it is brought up; it must rest meanwhile.
        public var testsItself: Bool

        /// A sensor at this place.
        public init(
            bus: String, addresses: [UInt16], gyroRange: Double, accelRange: Double,
            testsItself: Bool
        ) {
            self.bus = bus
            self.addresses = addresses
            self.gyroRange = gyroRange
            self.accelRange = accelRange
            self.testsItself = testsItself
        }
    }

    /// Servos on a PCA9685.
    public struct Servos: Sendable, Equatable {
        /// I2C address.
        public var address: UInt16
        /// Outputs of yaw, roll and pitch, 0...15.
        public var channels: [Int]
        /// What the servos take.
        public var pulses: ServoPulses
        /// Pulses per second.
        public var frameRate: Double
        /// Of the chip, Hz.
        public var oscillator: Double

        /// Servos at this place.
        public init(
            address: UInt16, channels: [Int], pulses: ServoPulses, frameRate: Double,
            oscillator: Double
        ) {
            self.address = address
            self.channels = channels
            self.pulses = pulses
            self.frameRate = frameRate
            self.oscillator = oscillator
        }
    }

    /// The inertial sensor.
    public var sensor: Sensor
    /// What it drives; nil: nothing.
    public var servos: Servos?

    /// This wiring.
    public init(sensor: Sensor, servos: Servos?) {
        self.sensor = sensor
        self.servos = servos
    }

    /// The bus with its chips, none of them brought up yet: what is missing shows when the bus thread runs, so that there
    /// is a socket to ask why. How the sensor is, the bus thread writes to `report`.
    public func makeBus(report: SensorReport) -> some GimbalBus {
        let bus = I2CBus(path: sensor.bus)
        let chip = BMI088(
            gyroRange: sensor.gyroRange, accelRange: sensor.accelRange,
            testsItself: sensor.testsItself)
        let motors = servos.map { servos in
            PCA9685Servos(
                bus: bus, address: servos.address, channels: servos.channels,
                pulses: servos.pulses,
                chip: PCA9685(frameRate: servos.frameRate, oscillator: servos.oscillator))
        }
        return LinuxBus(
            chip: chip, link: I2CChipLink(bus: bus, addresses: sensor.addresses), motors: motors,
            report: report)
    }
}
