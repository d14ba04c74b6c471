/// CRC-32 checksum of Ethernet, zip, PNG and MCAP (IEEE 802.3): polynomial 0x04C11DB7, reflected,
/// initial value and final XOR 0xFFFFFFFF.
public enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in
            value & 1 == 1 ? (value >> 1) ^ 0xEDB8_8320 : value >> 1
        }
    }

    /// Compute the checksum of `bytes`.
    public static func checksum(_ bytes: some Collection<UInt8>) -> UInt32 {
        let sum = bytes.withContiguousStorageIfAvailable { contiguous in
            table.withUnsafeBufferPointer { table in
                var crc = ~UInt32(0)
                for byte in contiguous {
                    crc = (crc >> 8) ^ table[Int((crc ^ UInt32(byte)) & 0xFF)]
                }
                return ~crc
            }
        }
        return sum ?? checksum(Array(bytes))
    }
}
