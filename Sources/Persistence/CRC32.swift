/// The checksum of Ethernet, zip and PNG: polynomial 0x04C11DB7, reflected, all ones before and after (IEEE 802.3).
enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in
            value & 1 == 1 ? (value >> 1) ^ 0xEDB8_8320 : value >> 1
        }
    }

    /// The checksum of `bytes`.
    static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(~UInt32(0)) { crc, byte in
            (crc >> 8) ^ table[Int((crc ^ UInt32(byte)) & 0xFF)]
        }
    }
}
