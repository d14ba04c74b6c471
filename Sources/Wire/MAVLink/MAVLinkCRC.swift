/// CRC-16/MCRF4XX, the checksum of every MAVLink frame. The checksum covers all bytes after the
/// start byte, and then CRC_EXTRA, a byte that depends on the kind of message. Check value of
/// "123456789": 0x6F91. Source: MAVLink developer guide, "Packet Serialization".
public struct MAVLinkCRC: Sendable {
    /// The checksum of all added bytes.
    public private(set) var value: UInt16 = 0xFFFF

    /// Creates the checksum of an empty sequence of bytes.
    public init() {}

    /// Adds one byte.
    public mutating func add(_ byte: UInt8) {
        var low = byte ^ UInt8(truncatingIfNeeded: value)
        low ^= low << 4
        let word = UInt16(low)
        value = value >> 8 ^ word << 8 ^ word << 3 ^ word >> 4
    }

    /// Adds bytes to the checksum, in order.
    public mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { add(byte) }
    }
}
