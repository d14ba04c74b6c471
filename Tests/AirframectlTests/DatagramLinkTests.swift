import Glibc
import Testing

@testable import airframectl

@Suite("Datagrams to another program") struct DatagramLinkTests {
    @Test("the IPv4 address of a host is used first, because many receivers listen only on IPv4")
    func families() {
        var (second, first) = (addrinfo(), addrinfo())
        (second.ai_family, first.ai_family) = (AF_INET, AF_INET6)
        withUnsafeMutablePointer(to: &second) { second in
            first.ai_next = second
            withUnsafeMutablePointer(to: &first) { found in
                let both = DatagramLink.addresses(found).map { $0.pointee.ai_family }
                #expect(both == [AF_INET, AF_INET6])
                found.pointee.ai_next = nil
                let single = DatagramLink.addresses(found).map { $0.pointee.ai_family }
                #expect(single == [AF_INET6])
            }
        }
    }

    @Test("a datagram arrives although the socket has lost its connection")
    func connection() throws {
        let receiver = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(receiver) }
        var own = sockaddr_in()
        own.sin_family = sa_family_t(AF_INET)
        own.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        try withUnsafeMutablePointer(to: &own) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try #require(bind(receiver, $0, size) == 0)
                try #require(getsockname(receiver, $0, &size) == 0)
            }
        }
        let link = try DatagramLink(to: "127.0.0.1:\(UInt16(bigEndian: own.sin_port))")
        // Without its connection, the socket refuses to send, as after a change of the computer's
        // address.
        var none = sockaddr()
        none.sa_family = sa_family_t(AF_UNSPEC)
        let result = connect(link.descriptor, &none, size)
        try #require(result == 0)
        link.send([1, 2])
        var entry = pollfd(fd: receiver, events: Int16(POLLIN), revents: 0)
        let ready = poll(&entry, 1, 4000)
        try #require(ready == 1)
        var bytes = [UInt8](repeating: 0, count: 8)
        let count = recv(receiver, &bytes, bytes.count, 0)
        #expect(bytes.prefix(max(0, count)) == [1, 2])
    }
}
