/// Devices that the kernel provides, chips that have answered, and a configuration for them: the
/// result of the method `hardware`. airframed and airframectl detect the hardware with the same
/// code, so the type belongs to this module.
public struct HardwareReport: Hashable, Sendable, Codable {
    /// A chip that has answered on a bus.
    public struct Chip: Hashable, Sendable, Codable {
        /// Name of the chip, as in the settings, such as `mpu6050`; `unknown` for another chip.
        public var name: String
        /// I2C addresses of the chip's parts, 3...119; the accelerometer is first. Empty on SPI.
        public var addresses: [Int] = []
        /// True if the chip has an identity register. A chip without this register is recognised by
        /// the values of its other registers.
        public var isCertain: Bool

        /// Name of a chip that has answered without a known identity.
        static let unknown = "unknown"
    }

    /// A bus to which chips can be connected.
    public struct Bus: Hashable, Sendable, Codable {
        /// Device file, such as `/dev/i2c-1`.
        public var path: String
        /// Name of the adapter, from its driver; empty if the kernel gives none.
        public var name: String
        /// The chips that have answered.
        public var chips: [Chip] = []
        /// Chips that have a driver in the kernel. airframed does not read them.
        public var drivers: [String] = []
        /// Reason why the search is incomplete, with the remedy; absent after a complete search.
        public var problem: String?
    }

    /// A device that the kernel provides, such as a serial port.
    public struct Device: Hashable, Sendable, Codable {
        /// Path or name of the device, as in the settings.
        public var path: String
        /// Description from the kernel; empty if there is none.
        public var name: String
    }

    /// Lines for a configuration file.
    public struct Proposal: Hashable, Sendable, Codable {
        /// The lines. Lines with motors and encoders are comments, because the search cannot find
        /// out what is connected to a motor driver.
        public var lines: [String] = []
        /// Notes about settings that the search cannot determine, each with instructions for
        /// finding the value.
        public var unknown: [String] = []
        /// Name of the profile in etc/boards for this board; absent if there is none.
        public var profile: String?
    }

    /// Name of the board; "unknown" if the kernel gives none.
    public var board = "unknown"
    /// I2C adapters.
    public var i2c: [Bus] = []
    /// SPI chip selects.
    public var spi: [Bus] = []
    /// Sensors with a driver in the kernel, one text line for each.
    public var iio: [String] = []
    /// CAN interfaces.
    public var can: [Device] = []
    /// Serial ports: adapters by their identity, and the board's own port.
    public var serial: [Device] = []
    /// PWM chips, with the number of their channels.
    public var pwm: [Device] = []
    /// GPIO chips, with their label and number of lines.
    public var gpio: [Device] = []
    /// Gamepads and joysticks.
    public var gamepads: [Device] = []
    /// Batteries and supply monitors, one text line for each.
    public var supplies: [String] = []
    /// Lines for the configuration file.
    public var proposal = Proposal()
}
