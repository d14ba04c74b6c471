import Testing
import Wire

@Suite("UUIDs and values of RedBearLab's Bluetooth serial service")
struct RBLTests {
    @Test("the characteristics have the UUIDs 0002 to 0007")
    func uuids() {
        #expect(
            RBLCharacteristic.allCases.map(\.rawValue)
                == (2...7).map { "713d000\($0)-503e-4c75-ba94-3148f18d941e" })
    }

    @Test("the transmit power is written as a byte and read as text")
    func power() {
        #expect(
            RBLTransmitPower.allCases.map { String(decoding: $0.bytes, as: UTF8.self) } == [
                "-23 dBm", "-6 dBm", "0 dBm", "+4 dBm",
            ])
        #expect(RBLTransmitPower(rawValue: 4) == nil)
    }
}
