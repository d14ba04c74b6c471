internal import GimbalCore

/// An inertial sensor: how it is brought up, what is read in every period, and what the bytes mean.
/// Knows registers, no bus: the same description serves I2C and SPI.
protocol IMUChip: Sendable {
    /// As in the settings: "bmi088".
    var name: String { get }
    /// From power-up or anything else to measuring, identity checked, configuration written.
    var setUp: [SetUpStep] { get }
    /// Registers to read in every period, in one exchange.
    var burst: [RegisterRead] { get }
    /// Registers to read occasionally: the temperature; nil: none.
    var seldom: RegisterRead? { get }
    /// Expected values of the chip's registers. After a reset during operation the first of each
    /// part differs.
    var audit: [(read: RegisterRead, mask: UInt8, value: UInt8)] { get }

    /// The sample in the bytes of a burst that was read at `now`, in the chip's own axes; nil when
    /// the chip has nothing new.
    mutating func sample(_ bytes: UnsafeRawBufferPointer, now: Instant) -> IMUSample?

    /// Occasionally read value, the first register in the lowest byte.
    mutating func take(seldom word: UInt64)

    /// Values kept by the set-up, after its end.
    mutating func take(kept: KeptRegisters)

    /// The buffer in which the chip collects samples; nil: it has none that this driver uses.
    var buffer: SampleBuffer? { get }

    /// The sample in one packet of the buffer, in the chip's own axes; nil when it holds none.
    mutating func sample(packet: UnsafeRawBufferPointer, time: Instant) -> IMUSample?
}

/// Layout of a chip's FIFO.
struct SampleBuffer: Sendable {
    /// Two registers with the number of bytes in it, the upper byte first.
    var level: UInt8
    /// The register that delivers them.
    var data: UInt8
    /// Bytes for one sample.
    var packet: Int
    /// Bytes that it holds.
    var capacity: Int
    /// Nominal distance of two samples, s.
    var period: Double
    /// Written last in the set-up: starts it.
    var start: [SetUpStep]
    /// Empties it.
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
