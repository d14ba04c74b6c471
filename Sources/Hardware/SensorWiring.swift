public import enum Configuration.SensorChip
public import GimbalCore

/// Sensors, and the buses to which they are connected.
public struct SensorWiring: Sendable, Equatable {
    /// An inertial sensor.
    public struct Inertial: Sendable, Equatable {
        /// Interface through which the sensor is connected.
        public enum Place: Sendable, Equatable {
            /// Device file of an I2C bus, and the addresses of the chip's parts. The accelerometer
            /// is first; the gyroscope follows if it has a separate address.
            case i2c(bus: String, addresses: [UInt16])
            /// SPI device file of each part of the chip, and the clock frequency while measurements
            /// are read, Hz.
            case spi(devices: [String], clock: Int)
        }

        /// Type of the chip.
        public var chip: SensorChip
        /// Interface through which the sensor is connected.
        public var place: Place
        /// Full scale of the gyroscope, deg/s.
        public var gyroRange: Double
        /// Full scale of the accelerometer, g.
        public var accelRange: Double
        /// True if the sensor executes a self test during the set-up; the sensor must then be at
        /// rest.
        public var testsItself: Bool
        /// True if the driver reads the samples from the sensor's FIFO; no sample is then lost.
        public var usesBuffer = false

        /// Creates the wiring of a sensor.
        public init(
            chip: SensorChip, place: Place, gyroRange: Double, accelRange: Double, testsItself: Bool
        ) {
            self.chip = chip
            self.place = place
            self.gyroRange = gyroRange
            self.accelRange = accelRange
            self.testsItself = testsItself
        }

        func make(bus: (String) -> I2CBus, report: SensorReport) -> InertialSensor {
            InertialSensor(
                chip: makeChip(), link: makeLink(bus), report: report, usesBuffer: usesBuffer)
        }

        private var isOnSPI: Bool { if case .spi = place { true } else { false } }

        /// Description of a chip with its largest ranges and without a self test, for the search.
        static func description(of chip: SensorChip, isOnSPI: Bool = false) -> any IMUChip {
            let place: Place =
                isOnSPI ? .spi(devices: [], clock: 1_000_000) : .i2c(bus: "", addresses: [])
            return Inertial(
                chip: chip, place: place, gyroRange: 2000, accelRange: chip.largestAccelRange,
                testsItself: false
            ).makeChip()
        }

        private func makeChip() -> any IMUChip {
            switch chip {
            case .bmi088:
                BMI088(gyroRange: gyroRange, accelRange: accelRange, testsItself: testsItself)
            case .mpu6050:
                MPU6050(gyroRange: gyroRange, accelRange: accelRange, testsItself: testsItself)
            case .mpu6500, .mpu9250:
                MPU6500(
                    gyroRange: gyroRange, accelRange: accelRange, testsItself: testsItself,
                    hasMagnetometer: chip == .mpu9250, isOnSPI: isOnSPI)
            case .icm42688p:
                ICM42688P(gyroRange: gyroRange, accelRange: accelRange, testsItself: testsItself)
            case .icm20948:
                ICM20948(
                    gyroRange: gyroRange, accelRange: accelRange, testsItself: testsItself,
                    isOnSPI: isOnSPI)
            }
        }

        private func makeLink(_ bus: (String) -> I2CBus) -> any ChipLink {
            switch place {
            case .i2c(let path, let addresses):
                I2CChipLink(bus: bus(path), addresses: addresses)
            case .spi(let devices, let clock):
                SPIChipLink(
                    parts: devices.enumerated().map { index, path in
                        SPIChipLink.Part(
                            device: SPIDevice(path: path),
                            dummies: chip == .bmi088 && index == 0 ? 1 : 0)
                    }, clock: clock)
            }
        }
    }

    /// The sensor on the camera.
    public enum Camera: Sendable, Equatable {
        /// A chip that airframed reads over a bus.
        case chip(Inertial)
        /// A sensor with a driver in the kernel.
        case kernel(IIOWiring)

        func make(bus: (String) -> I2CBus, report: SensorReport) -> any CameraSensor {
            switch self {
            case .chip(let chip): chip.make(bus: bus, report: report)
            case .kernel(let wiring): IIOSensor(wiring, report: report)
            }
        }
    }

    /// GPIO line with the data-ready signal of the camera's sensor.
    public struct DataReadyLine: Sendable, Equatable {
        /// Device file of the GPIO chip, such as `/dev/gpiochip0`.
        public var chip: String
        /// Number of the data-ready line on the GPIO chip.
        public var line: Int

        /// Creates the data-ready line from a GPIO chip and a line number.
        public init(chip: String, line: Int) {
            self.chip = chip
            self.line = line
        }
    }

    /// An AS5600 encoder on each joint.
    public struct Encoders: Sendable, Equatable {
        /// Device file of the I2C bus of each encoder. All encoders have the same address, so each
        /// needs a separate bus.
        public var buses: (yaw: String, roll: String, pitch: String)
        /// Reading of each encoder at joint angle zero, rad.
        public var zero: AxisVector
        /// Direction of each encoder; 1, or -1 for an encoder whose angle decreases when the
        /// joint's angle increases.
        public var direction: AxisVector

        /// Creates the wiring of encoders.
        public init(
            buses: (yaw: String, roll: String, pitch: String), zero: AxisVector,
            direction: AxisVector
        ) {
            self.buses = buses
            self.zero = zero
            self.direction = direction
        }

        /// Compares the buses, zero angles and directions of two wirings.
        public static func == (a: Encoders, b: Encoders) -> Bool {
            a.buses == b.buses && a.zero == b.zero && a.direction == b.direction
        }

        func make(
            bus: (String) -> I2CBus, staleSeconds: Double, reports: EncoderReports
        ) -> JointEncoders {
            func encoder(_ path: String, _ axis: GimbalAxis) -> AS5600 {
                AS5600(
                    bus: bus(path), zero: zero[axis], direction: direction[axis],
                    staleSeconds: staleSeconds, report: reports[axis])
            }
            return JointEncoders(
                yaw: encoder(buses.yaw, .yaw), roll: encoder(buses.roll, .roll),
                pitch: encoder(buses.pitch, .pitch))
        }
    }

    /// The sensor on the camera.
    public var camera: Camera
    /// Data-ready line of the camera's sensor; nil if the line is not wired.
    public var dataReady: DataReadyLine?
    /// A second sensor on the handle; nil if there is none.
    public var handle: Inertial?
    /// Rotation from the axes of the handle's sensor to the handle's axes.
    public var handleMounting = Quaternion.identity
    /// Encoders of the joints; nil without encoders.
    public var encoders: Encoders?

    /// Maximum age of a sample of the handle's sensor or of an encoder, s.
    public var staleSeconds = 0.02

    /// Creates a wiring that contains only the camera's sensor.
    public init(camera: Camera) { self.camera = camera }
}

/// Reports about the state of the gimbal's sensors.
public struct SensorReports: Sendable {
    /// Report of the sensor on the camera.
    public let camera = SensorReport()
    /// Report of the sensor on the handle.
    public let handle = SensorReport()
    /// Reports of the encoders on the joints.
    public let encoders = EncoderReports()
    /// Reports of the drives on a CAN bus.
    public let drives = DriveReports()

    /// Creates reports of sensors that are not set up yet.
    public init() {}
}
