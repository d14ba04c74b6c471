/// Data frame or remote frame on a CAN bus, or an error report of the CAN controller. The type
/// contains no socket; codecs are therefore pure functions.
struct CANFrame: Sendable {
    /// Largest number of data bytes in a CAN FD frame.
    static let capacity = 64

    /// Identifier: 11 bits, or 29 bits if `isExtended`. The identifier of an error report contains
    /// the classes of the error (`linux/can/error.h`).
    var id: UInt32
    /// True if the identifier has 29 bits.
    var isExtended: Bool
    /// True if the frame requests data instead of carrying them.
    var isRemote = false
    /// True if the frame is an error report of this computer's CAN controller.
    var isError = false
    /// True if the frame is a CAN FD frame.
    var isFD = false
    /// Number of data bytes, 0...8, or 0...64 with CAN FD.
    private(set) var count = 0
    private var bytes = InlineArray<64, UInt8>(repeating: 0)

    /// Creates a frame without data.
    init(id: UInt32, isExtended: Bool = false, isRemote: Bool = false, isFD: Bool = false) {
        self.id = id
        self.isExtended = isExtended
        self.isRemote = isRemote
        self.isFD = isFD
    }

    /// Creates a frame with data, for tests and tables.
    init(id: UInt32, isExtended: Bool = false, isFD: Bool = false, data: [UInt8]) {
        self.init(id: id, isExtended: isExtended, isFD: isFD)
        for byte in data { append(byte) }
    }

    /// The data bytes, for tests and logs.
    var data: [UInt8] { (0..<count).map { bytes[$0] } }

    /// Data byte at `index`, 0..<count.
    subscript(index: Int) -> UInt8 {
        precondition(index < count, "byte index out of range")
        return bytes[index]
    }

    // MARK: Writing

    /// Adds a byte; a byte beyond the capacity is dropped.
    mutating func append(_ byte: UInt8) {
        guard count < Self.capacity else { return }
        bytes[count] = byte
        count += 1
    }

    /// Adds a little-endian number.
    mutating func append(little number: UInt32) {
        for shift in stride(from: UInt32(0), to: 32, by: 8) {
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    /// Adds a big-endian number.
    mutating func append(big number: UInt16) {
        append(UInt8(number >> 8))
        append(UInt8(truncatingIfNeeded: number))
    }

    /// Adds a little-endian 32-bit IEEE 754 number.
    mutating func append(float number: Double) { append(little: Float(number).bitPattern) }

    /// Pads the data to the next data length that CAN FD allows.
    mutating func pad(with byte: UInt8) {
        let length = Self.lengths.first { $0 >= count } ?? Self.capacity
        while count < length { append(byte) }
    }

    /// Data lengths that a CAN FD frame can have, bytes (ISO 11898-1).
    private static let lengths = Array(0...8) + [12, 16, 20, 24, 32, 48, 64]

    // MARK: Reading

    /// Little-endian number at `index`; nil if the frame is too short.
    func little32(at index: Int) -> UInt32? {
        guard index >= 0, index + 4 <= count else { return nil }
        var number: UInt32 = 0
        for offset in 0..<4 { number |= UInt32(bytes[index + offset]) << (8 * UInt32(offset)) }
        return number
    }

    /// Big-endian number at `index`; nil if the frame is too short.
    func big16(at index: Int) -> UInt16? {
        guard index >= 0, index + 2 <= count else { return nil }
        return UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
    }

    /// Little-endian 32-bit IEEE 754 number at `index`; nil if the frame is too short, or if the
    /// number is not finite.
    func float(at index: Int) -> Double? {
        guard let bits = little32(at: index) else { return nil }
        let number = Double(Float(bitPattern: bits))
        return number.isFinite ? number : nil
    }
}

extension CANFrame: Equatable {
    static func == (a: CANFrame, b: CANFrame) -> Bool {
        a.id == b.id && a.isExtended == b.isExtended && a.isRemote == b.isRemote
            && a.isError == b.isError && a.isFD == b.isFD && a.data == b.data
    }
}

/// Filter of received frames. A frame passes if its identifier equals `id` in the bits of `mask`.
struct CANFilter: Sendable, Equatable {
    /// Identifier, 11 or 29 bits.
    var id: UInt32
    /// Mask of the identifier's bits that are compared. If the mask contains `data`, the filter
    /// rejects remote frames.
    var mask: UInt32

    /// Bit of the kernel's identifiers that marks remote frames (`CAN_RTR_FLAG`).
    static let data: UInt32 = 0x4000_0000
}
