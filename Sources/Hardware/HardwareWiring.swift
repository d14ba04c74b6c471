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

    /// The inertial sensor.
    public var sensor: Sensor
    /// What turns the joints.
    public var motors: Motors
    /// What switches them; nil: there is no such line.
    public var power: PowerSwitch?

    /// This wiring.
    public init(sensor: Sensor, motors: Motors = .none, power: PowerSwitch? = nil) {
        self.sensor = sensor
        self.motors = motors
        self.power = power
    }

    /// The bus with its chips, none of them brought up yet: what is missing shows when the bus thread runs, so that there
    /// is a socket to ask why. How the sensor is, the bus thread writes to `report`.
    public func makeBus(report: SensorReport) -> some GimbalBus {
        let bus = I2CBus(path: sensor.bus)
        let chip = BMI088(
            gyroRange: sensor.gyroRange, accelRange: sensor.accelRange,
            testsItself: sensor.testsItself)
        return LinuxBus(
            chip: chip, link: I2CChipLink(bus: bus, addresses: sensor.addresses),
            motors: motorsBesideSensor(on: bus), report: report)
    }
}
