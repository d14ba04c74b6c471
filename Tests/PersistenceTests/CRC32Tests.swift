import Testing

@testable import Persistence

@Test(
    "CRC-32 has the check values of the catalogue of parametrised CRC algorithms",
    arguments: [
        ("", UInt32(0)), ("123456789", 0xCBF4_3926), ("a", 0xE8B7_BE43),
        ("The quick brown fox jumps over the lazy dog", 0x414F_A339),
    ])
func checksum(text: String, expected: UInt32) {
    #expect(CRC32.checksum(text.utf8) == expected)
}
