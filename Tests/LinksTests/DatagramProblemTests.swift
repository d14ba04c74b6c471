import SystemPackage
import Testing

@testable import Links

@Suite("UDP sockets that cannot be opened") struct DatagramProblemTests {
    private func message(_ error: Errno) throws -> String {
        let address = try #require(DatagramAddress(host: "0.0.0.0", port: 14550))
        return SocketError(
            opening: address, error, purpose: "the MAVLink socket",
            remedy: "Set mavlink.listen to another address or port."
        ).description
    }

    @Test(
        "without permission to use the network, the message names the drop-in file",
        arguments: [Errno.addressFamilyNotSupported, .notPermitted, .permissionDenied])
    func barred(error: Errno) throws {
        #expect(try message(error).contains("network.conf"))
    }

    @Test("for another error, the message names the setting")
    func other() throws {
        let text = try message(.addressInUse)
        #expect(text.contains("mavlink.listen") && !text.contains("network.conf"))
    }
}
