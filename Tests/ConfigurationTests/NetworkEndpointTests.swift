import Configuration
import Testing

@Suite("Parsing of an address with a port") struct NetworkEndpointTests {
    @Test(
        "a valid address with a port is accepted",
        arguments: [
            ("127.0.0.1:14550", "127.0.0.1", 14550), ("0.0.0.0:1", "0.0.0.0", 1),
            ("[::1]:5005", "::1", 5005), ("[fe80::2]:65535", "fe80::2", 65535),
        ])
    func read(text: String, host: String, port: UInt16) {
        #expect(NetworkEndpoint(text)?.host == host)
        #expect(NetworkEndpoint(text)?.port == port)
    }

    @Test(
        "an invalid address is refused",
        arguments: [
            "", "off", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536",
            "localhost:14550", "1.2.3:5", "1.2.3.256:5", "::1:5005", "[1.2.3.4]:5", "[::1]5005",
            ":14550", "1.2.3.4:+5a",
        ])
    func refused(text: String) { #expect(NetworkEndpoint(text) == nil) }
}
