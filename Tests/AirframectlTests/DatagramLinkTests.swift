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
}
