/// Bytes of one exchange on a serial line. The storage has a fixed size, so the motors' thread does
/// not allocate memory.
struct SerialBytes: Sendable {
    /// Capacity, bytes: enough for the echo and the replies of the longest exchange.
    static let capacity = 512

    private var bytes = InlineArray<512, UInt8>(repeating: 0)
    /// Number of bytes.
    private(set) var count = 0

    /// Creates an empty list.
    init() {}

    /// Creates a list with these bytes, for tests and tools.
    init(_ list: [UInt8]) {
        for byte in list { append(byte) }
    }

    /// The bytes, for tests and logs.
    var data: [UInt8] { (0..<count).map { bytes[$0] } }

    /// Byte at `index`, 0..<count.
    subscript(index: Int) -> UInt8 {
        precondition(index >= 0 && index < count, "byte index out of range")
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
    mutating func append(little number: UInt16) {
        append(UInt8(truncatingIfNeeded: number))
        append(UInt8(number >> 8))
    }

    /// Adds a little-endian number.
    mutating func append(little number: UInt32) {
        append(little: UInt16(truncatingIfNeeded: number))
        append(little: UInt16(truncatingIfNeeded: number >> 16))
    }

    /// Adds a little-endian 32-bit IEEE 754 number.
    mutating func append(float number: Double) { append(little: Float(number).bitPattern) }

    /// Replaces the byte at `index`, 0..<count.
    mutating func set(_ index: Int, _ byte: UInt8) {
        precondition(index >= 0 && index < count, "byte index out of range")
        bytes[index] = byte
    }

    /// Inserts a byte at `index`, 0...count; the last byte of a full list is dropped.
    mutating func insert(_ byte: UInt8, at index: Int) {
        precondition(index >= 0 && index <= count, "byte index out of range")
        if count < Self.capacity { count += 1 }
        var position = count - 1
        while position > index {
            bytes[position] = bytes[position - 1]
            position -= 1
        }
        if index < count { bytes[index] = byte }
    }

    /// Removes all bytes.
    mutating func removeAll() { count = 0 }

    /// Removes the first bytes.
    mutating func drop(_ number: Int) {
        let gone = min(max(number, 0), count)
        var index = gone
        while index < count {
            bytes[index - gone] = bytes[index]
            index += 1
        }
        count -= gone
    }

    /// Adds bytes that `body` writes. `body` receives the free memory and its size, and returns an
    /// errno and the number of written bytes.
    mutating func fill(_ body: (UnsafeMutablePointer<UInt8>, Int) -> (Int32, Int)) -> Int32 {
        let used = count
        let room = Self.capacity - used
        let (error, written) = withUnsafeMutableBytes(of: &bytes) { memory -> (Int32, Int) in
            guard let base = memory.baseAddress else { return (0, 0) }
            return body((base + used).assumingMemoryBound(to: UInt8.self), room)
        }
        count += min(max(written, 0), room)
        return error
    }

    // MARK: Reading

    /// Calls `body` with a pointer to the bytes and the byte count.
    func withBytes(_ body: (UnsafePointer<UInt8>, Int) -> Int32) -> Int32 {
        withUnsafeBytes(of: bytes) { memory in
            guard let base = memory.baseAddress else { return 0 }
            return body(base.assumingMemoryBound(to: UInt8.self), count)
        }
    }

    /// Little-endian 16-bit number at `index`; both bytes must exist.
    func little16(at index: Int) -> UInt16 { UInt16(self[index]) | UInt16(self[index + 1]) << 8 }

    /// Little-endian 32-bit number at `index`; all bytes must exist.
    func little32(at index: Int) -> UInt32 {
        UInt32(little16(at: index)) | UInt32(little16(at: index + 2)) << 16
    }

    /// Little-endian 32-bit IEEE 754 number at `index`; nil if the number is not finite. All bytes
    /// of the range must exist.
    func float(at index: Int) -> Double? {
        let number = Double(Float(bitPattern: little32(at: index)))
        return number.isFinite ? number : nil
    }
}

/// CRC-16 with the polynomial 0x8005, initial value 0, most significant bit first: the checksum of
/// Dynamixel's protocol 2.0 and of the motor board's protocol.
enum CRC16 {
    private static let table: InlineArray<256, UInt16> = {
        var table = InlineArray<256, UInt16>(repeating: 0)
        for index in 0..<256 {
            var value = UInt16(index) << 8
            for _ in 0..<8 { value = value & 0x8000 == 0 ? value << 1 : value << 1 ^ 0x8005 }
            table[index] = value
        }
        return table
    }()

    /// Checksum of the bytes in a range.
    static func of(_ bytes: SerialBytes, _ range: Range<Int>) -> UInt16 {
        var value: UInt16 = 0
        var index = range.lowerBound
        while index < range.upperBound {
            value = value << 8 ^ table[Int(value >> 8 ^ UInt16(bytes[index]))]
            index += 1
        }
        return value
    }
}
