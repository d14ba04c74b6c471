import Testing

@testable import WebServing

@Suite("Connections of a web server, shared between addresses") struct LedgerTests {
    private static let limits: WebOptions.Limits = {
        var limits = WebOptions.Limits()
        (limits.connections, limits.connectionsPerAddress) = (20, 12)
        return limits
    }()

    private let ledger = Ledger(Self.limits)

    private func admit(_ address: String) -> (id: UInt64, replaced: UInt64?)? {
        guard case .accepted(let id, let replaced) = ledger.admit(address, Self.limits) else {
            return nil
        }
        return (id, replaced)
    }

    @Test("a new address replaces the oldest connection of the address with the most connections")
    func replacement() throws {
        let first = try (0..<12).map { _ in try #require(admit("10.0.0.1")).id }
        for _ in 0..<8 { _ = try #require(admit("10.0.0.2")) }
        #expect(admit("10.0.0.1") == nil)
        #expect(try #require(admit("10.0.0.3")).replaced == first[0])
        #expect(try #require(admit("10.0.0.3")).replaced == first[1])
        #expect(ledger.open == 20)
    }

    @Test("without trust, no address gets more connections than another by replacing connections")
    func fairness() throws {
        for _ in 0..<12 { _ = try #require(admit("10.0.0.1")) }
        for _ in 0..<8 { _ = try #require(admit("10.0.0.2")) }
        // The two addresses try again and again; the shares become equal, and stay equal.
        var replaced = 0
        for round in 0..<100 {
            replaced += admit("10.0.0.\(1 + round % 2)") == nil ? 0 : 1
        }
        #expect(replaced == 2)
        #expect(ledger.counters.refusals == [.connections: 99, .connectionsPerAddress: 1])
        #expect(ledger.open == 20)
    }

    @Test("connections of trusted clients and WebSockets are never replaced")
    func kept() throws {
        for number in 0..<12 {
            ledger.keep(try #require(admit("10.0.0.1")).id, isTrusted: number % 2 == 0)
        }
        for _ in 0..<8 { ledger.keep(try #require(admit("10.0.0.2")).id, isTrusted: false) }
        #expect(admit("10.0.0.3") == nil)
        #expect(ledger.counters.refusals[.connections] == 1)
    }

    @Test("an address of a trusted client replaces connections of addresses with one connection")
    func trusted() throws {
        ledger.keep(try #require(admit("10.0.0.1")).id, isTrusted: true)
        for number in 2...20 { _ = try #require(admit("10.0.0.\(number)")) }
        #expect(admit("10.0.0.99") == nil)
        for _ in 0..<6 { #expect(try #require(admit("10.0.0.1")).replaced != nil) }
        #expect(ledger.open == 20)
    }

    @Test("IPv6 addresses of one network count as one address")
    func networks() throws {
        for number in 0..<12 { _ = try #require(admit("2001:db8::\(number)")) }
        #expect(admit("2001:db8::ffff") == nil)
        #expect(ledger.counters.refusals == [.connectionsPerAddress: 1])
    }

    @Test(
        "a computer that uses all connections of its IPv6 network, or all connections with another computer, does not lock out its neighbours",
        arguments: [(12, 0), (11, 9)])
    func neighbour(hostile: Int, others: Int) throws {
        let first = try (0..<hostile).map { _ in try #require(admit("fe80::bad")).id }
        for _ in 0..<others { _ = try #require(admit("10.0.0.2")) }
        #expect(try #require(admit("fe80::1")).replaced == first[0])
        #expect(admit("fe80::bad") == nil)
        #expect(ledger.open == hostile + others)
    }

    @Test("trust belongs to one IPv6 address, and other addresses of its network do not share it")
    func trustedNeighbour() throws {
        ledger.keep(try #require(admit("fe80::1")).id, isTrusted: true)
        for number in 2...12 { _ = try #require(admit("fe80::\(number)")) }
        #expect(admit("fe80::99") == nil)
        for _ in 0..<6 { #expect(try #require(admit("fe80::1")).replaced != nil) }
        for _ in 0..<2000 { _ = ledger.delay("fe80::2", now: 1) }
        #expect(ledger.delay("fe80::3", now: 1) != nil)
        #expect(ledger.delay("fe80::1", now: 1) == nil)
    }

    @Test("requests of other addresses do not use up the request rate of a trusted address")
    func rate() throws {
        ledger.keep(try #require(admit("10.0.0.1")).id, isTrusted: true)
        var refused = 0
        for round in 0..<8000 {
            refused += ledger.delay("10.0.0.\(2 + round % 8)", now: 1) == nil ? 0 : 1
        }
        #expect(refused == 4000)
        #expect(ledger.delay("10.0.0.99", now: 1) != nil)
        #expect(ledger.delay("10.0.0.1", now: 1) == nil)
    }

    @Test("the list of trusted addresses is bounded, and its oldest address is dropped first")
    func bounded() throws {
        for number in 0...Ledger.mostTrusted {
            let id = try #require(admit("10.0.\(number).1")).id
            ledger.keep(id, isTrusted: true)
            ledger.leave(id)
        }
        for number in 1...20 { _ = try #require(admit("10.1.0.\(number)")) }
        #expect(admit("10.0.0.1") == nil)
        #expect(admit("10.0.1.1") != nil)
    }
}
