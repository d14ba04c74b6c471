internal import GimbalCore

/// Description of an inertial sensor: its set-up, the registers to read in every period, and the
/// meaning of the registers. The description contains registers but no bus, so it applies to both
/// I2C and SPI.
protocol IMUChip: Sendable {
    /// Name of the chip, as in the setting `hardware.linux.imu`, for example "bmi088".
    var name: String { get }
    /// Identity registers of the chip, for each of its parts.
    var identity: [ChipIdentity] { get }
    /// True if the chip contains a magnetometer.
    var hasMagnetometer: Bool { get }
    /// True if the self-test is part of the set-up; the sensor must then be at rest.
    var testsItself: Bool { get set }
    /// Steps that set the chip up from any state, so that it measures. The steps include checks of
    /// the chip's identity and configuration.
    var setUp: [SetUpStep] { get }
    /// Registers that the driver reads in every period, in one exchange.
    var burst: [RegisterRead] { get }
    /// Registers of the temperature, which the driver reads rarely; nil if there are no such
    /// registers.
    var seldom: RegisterRead? { get }
    /// Expected values of the chip's registers. The first entry of each part of the chip must be a
    /// register that every reset changes.
    var audit: [(read: RegisterRead, mask: UInt8, value: UInt8)] { get }

    /// Decodes the bytes of a burst that was read at `now`. The sample has the chip's own axes; nil
    /// if the bytes contain no new sample.
    mutating func sample(_ bytes: UnsafeRawBufferPointer, now: Instant) -> IMUSample?

    /// Stores the values of the temperature registers (`seldom`); the value of the first register
    /// is in the lowest byte of `word`.
    mutating func take(seldom word: UInt64)

    /// Receives the register values that the set-up has read and stored. The driver calls this
    /// method after the set-up.
    mutating func take(kept: StoredRegisters)

    /// The chip's FIFO; nil if the driver does not use the FIFO.
    var buffer: SampleBuffer? { get }

    /// Decodes one packet of the FIFO. The sample has the chip's own axes; nil if the packet
    /// contains no sample.
    mutating func sample(packet: UnsafeRawBufferPointer, time: Instant) -> IMUSample?
}

/// Register that contains a chip's identity, with its expected value.
struct ChipIdentity: Sendable {
    /// Index of the part that contains the register.
    var part = 0
    /// The register, called WHO_AM_I or chip id in data sheets.
    var register: UInt8
    /// Value of the register.
    var value: UInt8
    /// Bits of the register to compare.
    var mask: UInt8 = 0xFF
    /// Error message if the register has another value.
    var otherwise: StaticString

    /// True if a register with this content belongs to the chip.
    func matches(_ content: UInt8) -> Bool { content & mask == value & mask }

    /// Step of a set-up that checks the identity.
    var step: SetUpStep {
        .expect(value, mask: mask, in: register, part: part, otherwise: otherwise)
    }
}

/// Layout of a chip's FIFO.
struct SampleBuffer: Sendable {
    /// First of the two registers with the number of stored bytes (big-endian).
    var level: UInt8
    /// Register from which the FIFO's data are read.
    var data: UInt8
    /// Size of one sample in the FIFO, bytes.
    var packet: Int
    /// Capacity of the FIFO, bytes.
    var capacity: Int
    /// Nominal interval of the samples, s.
    var period: Double
    /// Steps that start the FIFO; the driver executes the steps at the end of the set-up.
    var start: [SetUpStep]
    /// Register writes that empty the FIFO, in this order.
    var empty: [(register: UInt8, value: UInt8)]
}

extension IMUChip {
    var hasMagnetometer: Bool { false }

    var seldom: RegisterRead? { nil }

    mutating func take(seldom word: UInt64) {}

    mutating func take(kept: StoredRegisters) {}

    var buffer: SampleBuffer? { nil }

    mutating func sample(packet: UnsafeRawBufferPointer, time: Instant) -> IMUSample? { nil }
}

extension UnsafeRawBufferPointer {
    /// Reads a little-endian signed 16-bit number.
    func littleEndian(at index: Int) -> Double {
        Double(Int16(truncatingIfNeeded: UInt16(self[index]) | UInt16(self[index + 1]) << 8))
    }

    /// Reads a big-endian signed 16-bit number.
    func bigEndian(at index: Int) -> Double {
        Double(Int16(truncatingIfNeeded: UInt16(self[index]) << 8 | UInt16(self[index + 1])))
    }
}
