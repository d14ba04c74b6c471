internal import Realtime

/// Link to a chip on an SPI bus, with one chip select for each part. The first bit of a transfer is
/// 1 for a read and 0 for a write.
final class SPIChipLink: ChipLink {
    /// One part of the chip, with its chip select.
    struct Part {
        var device: SPIDevice
        /// Number of dummy bytes between the register and the first value: 1 for the accelerometer
        /// of a BMI088 (data sheet, section 6.1.2), otherwise 0.
        var dummies = 0
    }

    private let parts: [Part]
    private let clock: Int
    private var single: SPIMessage
    private var query: SPIMessage
    private var flow: SPIMessage
    private var layouts: [Layout] = []
    private var gathered: UnsafeMutableRawBufferPointer
    private var pieces: [(layout: Int, offset: Int, count: Int)] = []

    /// SPI message for one part of the chip. The type is a class, because an array cannot store
    /// noncopyable messages.
    private final class Layout {
        let part: Int
        var message: SPIMessage

        init(part: Int, message: consuming SPIMessage) {
            self.part = part
            self.message = message
        }
    }

    /// Clock for registers other than measurements, Hz. InvenSense's chips require a low clock for
    /// registers other than measurements, and the link uses this clock for all chips.
    private static let slowClock = 1_000_000

    /// Creates a link.
    ///
    /// - Parameters:
    ///   - parts: Chip select of each part of the chip.
    ///   - clock: Frequency of the SPI clock while measurements are read, Hz.
    init(parts: [Part], clock: Int) {
        self.parts = parts
        self.clock = clock
        single = SPIMessage(transfers: 1, bytes: 2, clock: min(clock, Self.slowClock))
        single.append(0, length: 2)
        query = SPIMessage(transfers: 1, bytes: 10, clock: min(clock, Self.slowClock))
        query.append(0, length: 10)
        flow = SPIMessage(transfers: 1, bytes: 2 + ChipLinkLimits.stream, clock: clock)
        flow.append(0, length: 2)
        gathered = .allocate(byteCount: 64, alignment: 8)
    }

    deinit { gathered.deallocate() }

    func place(of part: Int) -> UInt16 { UInt16(part) }
    var device: BusError.Device { .spi }

    func write(_ value: UInt8, to register: UInt8, part: Int) throws(BusErrno) {
        single.sent[0] = register & 0x7F
        single.sent[1] = value
        try parts[part].device.run(single)
    }

    func read(_ register: UInt8, count: Int, part: Int) throws(BusErrno) -> UInt64 {
        precondition((1...8).contains(count), "the number of registers must be 1 to 8")
        let first = 1 + parts[part].dummies
        query.sent[0] = register | 0x80
        query.resize(to: first + count)
        try parts[part].device.run(query)
        var word: UInt64 = 0
        for index in 0..<count {
            word |= UInt64(query.received[first + index]) << (8 * UInt64(index))
        }
        return word
    }

    func prepare(_ reads: [RegisterRead]) {
        layouts = []
        pieces = []
        for part in Set(reads.map(\.part)).sorted() {
            let own = reads.filter { $0.part == part }
            let lengths = own.map { 1 + parts[part].dummies + $0.count }
            layouts.append(
                Layout(
                    part: part,
                    message: SPIMessage(
                        transfers: own.count, bytes: lengths.reduce(0, +), clock: clock)))
        }
        for read in reads {
            guard let index = layouts.firstIndex(where: { $0.part == read.part }) else { continue }
            let dummies = parts[read.part].dummies
            let offset = layouts[index].message.append(
                read.register | 0x80, length: 1 + dummies + read.count)
            pieces.append((index, offset + 1 + dummies, read.count))
        }
        gathered.deallocate()
        gathered = .allocate(byteCount: reads.reduce(0) { $0 + $1.count }, alignment: 8)
    }

    func burst() throws(BusErrno) -> UnsafeRawBufferPointer {
        for layout in layouts { try parts[layout.part].device.run(layout.message) }
        var at = 0
        for piece in pieces {
            let received = layouts[piece.layout].message.received
            for index in 0..<piece.count { gathered[at + index] = received[piece.offset + index] }
            at += piece.count
        }
        return UnsafeRawBufferPointer(gathered)
    }

    func stream(_ register: UInt8, count: Int) throws(BusErrno) -> UnsafeRawBufferPointer {
        precondition(
            (1...ChipLinkLimits.stream).contains(count),
            "A FIFO read must have 1 to ChipLinkLimits.stream bytes. Split longer reads.")
        let first = 1 + parts[0].dummies
        flow.sent[0] = register | 0x80
        flow.resize(to: first + count)
        try parts[0].device.run(flow)
        return UnsafeRawBufferPointer(rebasing: flow.received[first..<first + count])
    }

    /// Number of bits that one `burst` transfers.
    var burstBits: Int { layouts.reduce(0) { $0 + $1.message.wireBits } }
}
