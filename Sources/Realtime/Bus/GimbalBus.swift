public import GimbalCore

/// Write-only device: the motors of one bus, or a line that switches the power of the motors.
public protocol OutputBus: Sendable {
    /// Writes the motors' output, which stays in force until the next call. The bus thread calls
    /// this method in every period, even if the output is unchanged. Otherwise a motor driver's own
    /// watchdog would expire.
    ///
    /// - Parameters:
    ///   - output: Output for the motors. If the output is not enabled, the power stages are turned
    ///     off.
    ///   - now: Time of the call.
    /// - Throws: `BusError`; the write is repeated in the next period.
    mutating func write(_ output: MotorOutput, now: Instant) throws(BusError)

    /// Turns the power stages off, with as few transfers as possible. This call is the thread's
    /// last call before it ends.
    ///
    /// - Throws: `BusError`; the call is repeated a few times.
    mutating func allOff() throws(BusError)
}

/// Interface of a bus thread to the sensors and motors of one bus, or to a simulation of them.
public protocol GimbalBus: OutputBus {
    /// Waits for the data-ready signal of a sensor. If no sensor has a data-ready signal, the call
    /// returns immediately.
    ///
    /// - Parameter deadline: Beginning of the period according to the clock. The call can return up
    ///   to half a period after the deadline.
    /// - Returns: Time of the measurement; nil if the clock started the period.
    mutating func waitForData(until deadline: Instant) -> Instant?

    /// Faults of the sensors without which the loop can still hold the camera's attitude. The bus
    /// thread reads this property after each `read`.
    var conditions: Conditions { get }

    /// Reads the samples that the sensors have delivered since the last call: none, one or several,
    /// oldest first.
    ///
    /// - Parameters:
    ///   - samples: Empty batch, which the call fills. The driver drops samples beyond the
    ///     capacity, and counts them.
    ///   - now: Beginning of the period. The samples of a chip without a clock get the time `now`.
    /// - Throws: `BusError`; samples that were appended before the error are used.
    mutating func read(into samples: inout SampleBatch, now: Instant) throws(BusError)
}

extension GimbalBus {
    /// Returns nil immediately, so the clock determines the period.
    public mutating func waitForData(until deadline: Instant) -> Instant? { nil }

    /// Empty set of conditions: the device reports no faults.
    public var conditions: Conditions { .none }
}

/// Reason for a failed transfer. The value is small and contains no references, so the bus thread
/// can store it in one atomic word. Another thread formats the error message.
public struct BusError: Error, Sendable, BitwiseCopyable, Hashable, CustomStringConvertible {
    /// The failed operation.
    public enum Operation: UInt8, Sendable, BitwiseCopyable {
        /// Reading a sensor.
        case read = 1
        /// Writing a motor output.
        case write = 2
        /// Turning the power stages off.
        case off = 3
    }

    /// Kind of the device.
    public enum Device: UInt8, Sendable, BitwiseCopyable {
        /// A chip on an I2C bus; the address is its I2C address.
        case i2c = 0
        /// A channel of a PWM chip; the address is the number of the channel.
        case pwm = 1
        /// A GPIO line; the address is the number of the line.
        case gpio = 2
        /// A chip on SPI; the address is the number of its chip select.
        case spi = 3
        /// A drive on a CAN bus; the address is the CAN ID of the frame, truncated to 16 bits.
        case can = 4
        /// Servos or a motor board on a serial line; the address is 0.
        case serial = 5
        /// An IIO device of the kernel; the address is the number of the device.
        case iio = 6
    }

    /// The failed operation.
    public var operation: Operation
    /// Kind of the device.
    public var device: Device
    /// The device's address on its bus, or the number of its chip select; 0 for a device without an
    /// address or a chip select.
    public var address: UInt16
    /// The errno of the failure, positive.
    public var code: Int32

    /// Creates an error.
    public init(operation: Operation, device: Device = .i2c, address: UInt16, code: Int32) {
        self.operation = operation
        self.device = device
        self.address = address
        self.code = code
    }

    /// Error message for the status and the log.
    public var description: String {
        let verb =
            switch operation {
            case .read: "reading"
            case .write: "writing"
            case .off: "turning off"
            }
        let place =
            switch device {
            case .i2c: "device 0x\(String(address, radix: 16))"
            case .pwm: "PWM channel \(address)"
            case .gpio: "GPIO line \(address)"
            case .spi: "SPI device \(address)"
            case .serial: "the motors' serial port"
            case .can: "CAN frame 0x\(String(address, radix: 16))"
            case .iio: "iio:device\(address)"
            }
        return "\(verb) \(place) failed: \(errorText(code))"
    }

    /// The error in one word, never 0; another thread can therefore read the error atomically.
    var packed: UInt64 {
        UInt64(device.rawValue) << 56 | UInt64(operation.rawValue) << 48 | UInt64(address) << 32
            | UInt64(UInt32(bitPattern: code))
    }

    /// Creates the error from `packed`; nil for 0.
    init?(packed: UInt64) {
        guard let operation = Operation(rawValue: UInt8(truncatingIfNeeded: packed >> 48)),
            let device = Device(rawValue: UInt8(truncatingIfNeeded: packed >> 56))
        else { return nil }
        self.init(
            operation: operation, device: device, address: UInt16(truncatingIfNeeded: packed >> 32),
            code: Int32(bitPattern: UInt32(truncatingIfNeeded: packed)))
    }
}

/// Batch that contains the samples of one transfer, in storage of fixed size.
public struct SampleBatch: Sendable {
    /// Largest number of samples; a sensor's FIFO delivers fewer samples in one period at any
    /// reasonable rate.
    public static let capacity = 16

    private var storage: InlineArray<16, IMUSample>
    /// Number of samples in the batch.
    public private(set) var count = 0

    /// Creates an empty batch.
    public init() {
        storage = InlineArray(
            repeating: IMUSample(time: Instant(nanoseconds: 0), gyro: .zero, accel: .zero))
    }

    /// Adds a sample at the end.
    ///
    /// - Parameter sample: A sample that is newer than the previous samples.
    /// - Returns: True if the batch had room for the sample.
    @discardableResult
    public mutating func append(_ sample: IMUSample) -> Bool {
        guard count < Self.capacity else { return false }
        storage[count] = sample
        count += 1
        return true
    }

    /// Removes all samples.
    public mutating func removeAll() { count = 0 }

    /// The sample at an index; index 0 is the oldest sample.
    ///
    /// - Parameter index: Index of the sample, 0..<count.
    public subscript(index: Int) -> IMUSample {
        get {
            precondition(index < count, "sample index out of range")
            return storage[index]
        }
        set {
            precondition(index < count, "sample index out of range")
            storage[index] = newValue
        }
    }
}
