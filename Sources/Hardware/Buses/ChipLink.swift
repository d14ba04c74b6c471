internal import CHardwareShim
internal import Realtime

/// Consecutive registers of one part of a chip that are read together.
struct RegisterRead: Sendable, Equatable {
    /// Index of the part. Some chips consist of two parts in one housing, each with its own
    /// registers.
    var part: Int
    /// The first register.
    var register: UInt8
    /// Number of consecutive registers.
    var count: Int

    /// One register of a chip with one part.
    static func one(_ register: UInt8) -> RegisterRead {
        RegisterRead(part: 0, register: register, count: 1)
    }
}

/// Interface that reads and writes the registers of a chip, over I2C or SPI. Only the bus thread
/// uses a `ChipLink`.
protocol ChipLink: AnyObject {
    /// Address of the part for error reports: its I2C address, or the number of its chip select.
    func place(of part: Int) -> UInt16
    /// Kind of bus to which the chip is connected, for error reports.
    var device: BusError.Device { get }

    /// Writes one register.
    func write(_ value: UInt8, to register: UInt8, part: Int) throws(BusErrno)

    /// Reads up to eight registers into the low bytes of a word; the first register is in the
    /// lowest byte.
    func read(_ register: UInt8, count: Int, part: Int) throws(BusErrno) -> UInt64

    /// Prepares the reads of `burst`. This method can allocate memory.
    func prepare(_ reads: [RegisterRead])

    /// Executes the prepared reads, in order, in as few system calls as the bus and its adapter
    /// allow.
    func burst() throws(BusErrno) -> UnsafeRawBufferPointer

    /// Reads the FIFO register of part 0 repeatedly, once for each byte; `count` is at most
    /// `ChipLinkLimits.stream`.
    func stream(_ register: UInt8, count: Int) throws(BusErrno) -> UnsafeRawBufferPointer
}

/// Limits of the transfers to a chip.
enum ChipLinkLimits {
    /// Largest number of bytes that one call of `stream` reads: 16 samples of 16 bytes each.
    static let stream = 256
}

/// Link to a chip on an I2C bus. Each part of the chip has its own address.
final class I2CChipLink: ChipLink {
    private let bus: I2CBus
    private let addresses: [UInt16]
    private var single = I2CExchange(capacity: 2)
    private var query = I2CExchange(capacity: 9)
    private var layout = I2CExchange(capacity: 1)
    private var flow = I2CExchange(capacity: 1 + ChipLinkLimits.stream)
    private var gathered: UnsafeMutableRawBufferPointer
    private var pieces: [(offset: Int, count: Int)] = []

    init(bus: I2CBus, addresses: [UInt16]) {
        self.bus = bus
        self.addresses = addresses
        single.write([0, 0], to: addresses[0])
        _ = query.read(0, count: 8, from: addresses[0])
        _ = flow.read(0, count: ChipLinkLimits.stream, from: addresses[0])
        gathered = .allocate(byteCount: 64, alignment: 8)
    }

    deinit { gathered.deallocate() }

    func place(of part: Int) -> UInt16 { addresses[part] }
    var device: BusError.Device { .i2c }

    func write(_ value: UInt8, to register: UInt8, part: Int) throws(BusErrno) {
        single.messages[0].addr = addresses[part]
        single.bytes[0] = register
        single.bytes[1] = value
        try bus.run(single)
    }

    func read(_ register: UInt8, count: Int, part: Int) throws(BusErrno) -> UInt64 {
        precondition((1...8).contains(count), "the number of registers must be 1 to 8")
        query.messages[0].addr = addresses[part]
        query.messages[1].addr = addresses[part]
        query.messages[1].len = UInt16(count)
        query.bytes[0] = register
        try bus.run(query)
        var word: UInt64 = 0
        for index in 0..<count { word |= UInt64(query.bytes[1 + index]) << (8 * UInt64(index)) }
        return word
    }

    func prepare(_ reads: [RegisterRead]) {
        let length = reads.reduce(0) { $0 + $1.count }
        layout = I2CExchange(capacity: length + reads.count)
        pieces = reads.map { read in
            (
                layout.read(read.register, count: read.count, from: addresses[read.part]),
                read.count
            )
        }
        gathered.deallocate()
        gathered = .allocate(byteCount: length, alignment: 8)
    }

    func burst() throws(BusErrno) -> UnsafeRawBufferPointer {
        try bus.run(layout)
        var at = 0
        for piece in pieces {
            for index in 0..<piece.count {
                gathered[at + index] = layout.bytes[piece.offset + index]
            }
            at += piece.count
        }
        return UnsafeRawBufferPointer(gathered)
    }

    func stream(_ register: UInt8, count: Int) throws(BusErrno) -> UnsafeRawBufferPointer {
        precondition(
            (1...ChipLinkLimits.stream).contains(count),
            "A FIFO read must have 1 to ChipLinkLimits.stream bytes. Split longer reads.")
        flow.bytes[0] = register
        flow.messages[1].len = UInt16(count)
        try bus.run(flow)
        return UnsafeRawBufferPointer(rebasing: flow.bytes[1..<1 + count])
    }

    /// Number of bits that one `burst` transfers.
    var burstBits: Int { layout.wireBits }
}
