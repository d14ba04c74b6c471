internal import GimbalCore

/// Description of an inertial sensor: its set-up, the registers to read in every period, and their
/// meaning. The description contains registers but no bus, so it serves I2C and SPI.
protocol IMUChip: Sendable {
    /// Name in the settings: "bmi088".
    var name: String { get }
    /// Steps from power-up, or any other state, to measuring, including identity check and
    /// configuration.
    var setUp: [SetUpStep] { get }
    /// Registers to read in every period, in one exchange.
    var burst: [RegisterRead] { get }
    /// Registers to read occasionally, for the temperature; nil without any.
    var seldom: RegisterRead? { get }
    /// Expected values of the chip's registers. The first entry of each part must differ after a
    /// reset during operation.
    var audit: [(read: RegisterRead, mask: UInt8, value: UInt8)] { get }

    /// The sample in the bytes of a burst that was read at `now`, in the chip's own axes; nil
    /// without a new sample.
    mutating func sample(_ bytes: UnsafeRawBufferPointer, now: Instant) -> IMUSample?

    /// Receives an occasionally read value, the first register in the lowest byte.
    mutating func take(seldom word: UInt64)

    /// Receives the values that the set-up has kept, after its end.
    mutating func take(kept: KeptRegisters)

    /// The chip's FIFO; nil if this driver uses none.
    var buffer: SampleBuffer? { get }

    /// The sample in one packet of the FIFO, in the chip's own axes; nil if it contains none.
    mutating func sample(packet: UnsafeRawBufferPointer, time: Instant) -> IMUSample?
}

/// Layout of a chip's FIFO.
struct SampleBuffer: Sendable {
    /// First of the two registers with the number of stored bytes, the upper byte first.
    var level: UInt8
    /// Register for reading the data.
    var data: UInt8
    /// Size of one sample, bytes.
    var packet: Int
    /// Capacity, bytes.
    var capacity: Int
    /// Nominal interval of the samples, s.
    var period: Double
    /// Steps that start the FIFO, last in the set-up.
    var start: [SetUpStep]
    /// Register write that empties the FIFO.
    var empty: (register: UInt8, value: UInt8)
}

extension IMUChip {
    var seldom: RegisterRead? { nil }

    mutating func take(seldom word: UInt64) {}

    mutating func take(kept: KeptRegisters) {}

    var buffer: SampleBuffer? { nil }

    mutating func sample(packet: UnsafeRawBufferPointer, time: Instant) -> IMUSample? { nil }
}

extension UnsafeRawBufferPointer {
    /// A signed 16-bit number, the lower byte first.
    func littleEndian(at index: Int) -> Double {
        Double(Int16(truncatingIfNeeded: UInt16(self[index]) | UInt16(self[index + 1]) << 8))
    }

    /// A signed 16-bit number, the upper byte first.
    func bigEndian(at index: Int) -> Double {
        Double(Int16(truncatingIfNeeded: UInt16(self[index]) << 8 | UInt16(self[index + 1])))
    }
}
