public import GimbalCore

/// What only takes: the motors of one bus, or a line that switches their power.
///
public protocol OutputBus: Sendable {
    /// Hands the motors what they are to do until the next call. Called in every period, also when
    /// the output has not changed, so that a motor driver's own watchdog is kept quiet.
    ///
    /// - Parameters:
    ///   - output: When not enabled, power stages off.
    ///   - now: The time of the call.
    /// - Throws: `BusError`; tried again in the next period.
    mutating func write(_ output: MotorOutput, now: Instant) throws(BusError)

    /// Power stages off, by the shortest way. The last call before the thread ends.
    ///
    /// - Throws: `BusError`; tried again a few times.
    mutating func allOff() throws(BusError)
}

/// What a bus thread drives: the sensors and motors of one bus, or a simulation of them.
public protocol GimbalBus: OutputBus {
    /// Waits until a sensor that says by itself when it has measured has done so. Without one,
    /// returns at once.
    ///
    /// - Parameter deadline: When the period begins by the clock; may be passed by half a period.
    /// - Returns: When the sensor measured; nil: the clock decides.
    mutating func waitForData(until deadline: Instant) -> Instant?

    /// What is known to be wrong with sensors that the camera is held without. Looked at after each
    /// `read`.
    var conditions: Conditions { get }

    /// Fetches what the sensors have delivered since the last call: none, one or several samples,
    /// oldest first.
    ///
    /// - Parameters:
    ///   - samples: Empty; filled by the call. More than it holds is the driver's to drop and
    ///     count.
    ///   - now: When the period began; the time for samples whose chip has no clock of its own.
    /// - Throws: `BusError`; what was appended before is used.
    mutating func read(into samples: inout SampleBatch, now: Instant) throws(BusError)
}

extension GimbalBus {
    /// The clock decides.
    public mutating func waitForData(until deadline: Instant) -> Instant? { nil }

    /// Nothing.
    public var conditions: Conditions { .none }
}

/// Why a transfer failed. Small and plain: the bus thread counts and keeps it, another thread
/// writes the sentence.
public struct BusError: Error, Sendable, BitwiseCopyable, Hashable, CustomStringConvertible {
    /// What was being done.
    public enum Operation: UInt8, Sendable, BitwiseCopyable {
        /// Reading a sensor.
        case read = 1
        /// Writing a motor output.
        case write = 2
        /// Turning the power stages off.
        case off = 3
    }

    /// What kind of thing it was done to.
    public enum Device: UInt8, Sendable, BitwiseCopyable {
        /// A chip on an I2C bus; the address is its own.
        case i2c = 0
        /// A channel of a PWM chip; the address is its number.
        case pwm = 1
        /// A GPIO line; the address is its number.
        case gpio = 2
        /// A chip on SPI; the address is the number of its chip select.
        case spi = 3
    }

    /// What was being done.
    public var operation: Operation
    /// What kind of thing it was done to.
    public var device: Device
    /// The device's address on its bus, or the number of its chip select; 0 when there is none.
    public var address: UInt16
    /// A positive errno.
    public var code: Int32

    /// An error with these values.
    public init(operation: Operation, device: Device = .i2c, address: UInt16, code: Int32) {
        self.operation = operation
        self.device = device
        self.address = address
        self.code = code
    }

    /// The sentence for status and log.
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
            }
        return "\(verb) \(place) failed: \(errorText(code))"
    }

    /// All of it in one word, never 0, so that another thread can read it in one piece.
    var packed: UInt64 {
        UInt64(device.rawValue) << 56 | UInt64(operation.rawValue) << 48 | UInt64(address) << 32
            | UInt64(UInt32(bitPattern: code))
    }

    /// The error that `packed` was made from; nil for 0.
    init?(packed: UInt64) {
        guard let operation = Operation(rawValue: UInt8(truncatingIfNeeded: packed >> 48)),
            let device = Device(rawValue: UInt8(truncatingIfNeeded: packed >> 56))
        else { return nil }
        self.init(
            operation: operation, device: device, address: UInt16(truncatingIfNeeded: packed >> 32),
            code: Int32(bitPattern: UInt32(truncatingIfNeeded: packed)))
    }
}

/// The samples of one transfer, in storage of fixed size.
public struct SampleBatch: Sendable {
    /// More than a sensor's buffer delivers in a period at any sensible rate.
    public static let capacity = 16

    private var storage: InlineArray<16, IMUSample>
    /// Samples held.
    public private(set) var count = 0

    /// An empty batch.
    public init() {
        storage = InlineArray(
            repeating: IMUSample(time: Instant(nanoseconds: 0), gyro: .zero, accel: .zero))
    }

    /// Adds a sample at the end.
    ///
    /// - Parameter sample: Newer than those before it.
    /// - Returns: Whether there was room.
    @discardableResult
    public mutating func append(_ sample: IMUSample) -> Bool {
        guard count < Self.capacity else { return false }
        storage[count] = sample
        count += 1
        return true
    }

    /// Forgets all samples.
    public mutating func removeAll() { count = 0 }

    /// A sample, oldest first.
    ///
    /// - Parameter index: 0..<count.
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
