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

    /// Local port of an IPv4 socket.
    private func port(of descriptor: Int32) throws -> UInt16 {
        var own = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &own) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &size)
            }
        }
        try #require(result == 0)
        return UInt16(bigEndian: own.sin_port)
    }

    @Test("the port of the socket stays the same while no program receives the datagrams")
    func refusals() throws {
        // The discard port of this computer is closed.
        let link = try DatagramLink(to: "127.0.0.1:9")
        let port = try port(of: link.descriptor)
        for _ in 0..<50 {
            link.send([1])
            usleep(1000)
        }
        let later = try self.port(of: link.descriptor)
        #expect(later == port)
    }

    @Test("a datagram arrives although the socket has lost its connection")
    func connection() throws {
        let receiver = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(receiver) }
        var own = sockaddr_in()
        own.sin_family = sa_family_t(AF_INET)
        own.sin_addr.s_addr = inet_addr("127.0.0.1")
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        try withUnsafeMutablePointer(to: &own) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try #require(bind(receiver, $0, size) == 0)
            }
        }
        let port = try port(of: receiver)
        let link = try DatagramLink(to: "127.0.0.1:\(port)")
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
