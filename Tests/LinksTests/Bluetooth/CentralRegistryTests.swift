import GimbalCore
import Testing

@testable import Links

private let now = Instant(nanoseconds: 1_000_000_000)

private func device(_ number: Int) -> String {
    "/org/bluez/hci0/dev_C0_1A_B0_00_00_0\(number)"
}

@Suite("Centrals")
struct CentralRegistryTests {
    @Test(
        "a device's address is taken from its object path, and each connection has its own number")
    func identity() {
        var registry = CentralRegistry(limit: 4, writesPerSecond: 10)
        let first = registry.connect(device(2))?.central
        #expect(first == Central(address: "C0:1A:B0:00:00:02", connection: 1))
        #expect(registry.connect(device(2)) == nil)
        let gone = registry.disconnect(device(2))?.central
        #expect(gone == first)
        #expect(registry.connect(device(2))?.central.connection == 2)
    }

    @Test("a phone beyond the limit is refused, and is not counted")
    func limit() {
        var registry = CentralRegistry(limit: 2, writesPerSecond: 10)
        #expect(registry.connect(device(1))?.isRefused == false)
        #expect(registry.connect(device(2))?.isRefused == false)
        #expect(registry.connect(device(3))?.isRefused == true)
        #expect(registry.connected.count == 2)
        _ = registry.disconnect(device(1))
        #expect(registry.connect(device(4))?.isRefused == false)
    }

    @Test("a paired phone takes the place of the oldest phone that is not paired, if it needs one")
    func strangers() {
        var registry = CentralRegistry(limit: 2, writesPerSecond: 10, prefersPaired: true)
        for number in 3...5 { registry.setPaired(device(number), true) }
        for number in [2, 1] { _ = registry.connect(device(number)) }
        #expect(registry.stranger(toReplaceBy: device(6)) == nil)
        #expect(registry.stranger(toReplaceBy: device(3)) == device(2))
        _ = registry.disconnect(device(2))
        #expect(registry.stranger(toReplaceBy: device(3)) == nil)
        #expect(registry.connect(device(3))?.isRefused == false)
        #expect(registry.connect(device(2))?.isRefused == true)
        #expect(registry.stranger(toReplaceBy: device(4)) == device(1))
        _ = registry.disconnect(device(1))
        #expect(registry.connect(device(4))?.isRefused == false)
        #expect(registry.stranger(toReplaceBy: device(5)) == nil)
        // Without encryption, phones that are not paired have the same rights.
        var other = CentralRegistry(limit: 1, writesPerSecond: 10)
        other.setPaired(device(3), true)
        _ = other.connect(device(1))
        #expect(other.stranger(toReplaceBy: device(3)) == nil)
    }

    @Test("a phone that writes too often does not reduce the write rate of other phones")
    func rate() {
        var registry = CentralRegistry(limit: 2, writesPerSecond: 10)
        _ = registry.connect(device(1))
        _ = registry.connect(device(2))
        var admitted = 0
        for _ in 0..<100 where registry.admitsWrite(of: device(1), now: now) { admitted += 1 }
        #expect(admitted == 10)
        let isOtherAdmitted = registry.admitsWrite(of: device(2), now: now)
        #expect(isOtherAdmitted)
        // A tenth of a second later one more write is allowed.
        let later = now.advanced(bySeconds: 0.1001)
        let answers = [1, 1, 3].map { registry.admitsWrite(of: device($0), now: later) }
        #expect(answers == [true, false, false])
    }

    @Test("600 writes of 20 bytes per second carry a serial line of 115,200 baud")
    func serialLine() {
        var registry = CentralRegistry(limit: 4, writesPerSecond: 600)
        _ = registry.connect(device(1))
        // Ten bits per byte: 576 writes per second, for ten seconds.
        var refused = 0
        for write in 0..<5760 {
            let time = now.advanced(bySeconds: Double(write) / 576)
            if !registry.admitsWrite(of: device(1), now: time) { refused += 1 }
        }
        #expect(refused == 0)
    }

    @Test("the MTU is the smallest MTU; it is 23 until each phone has sent a request")
    func mtu() {
        var registry = CentralRegistry(limit: 4, writesPerSecond: 10)
        #expect(registry.mtu == 23)
        for number in 1...3 { _ = registry.connect(device(number)) }
        registry.learn(mtu: 517, of: device(1))
        registry.learn(mtu: 185, of: device(2))
        registry.learn(mtu: nil, of: device(3))
        #expect(registry.mtu == 23)
        registry.learn(mtu: 247, of: device(3))
        #expect(registry.mtu == 185)
        registry.learn(mtu: 5, of: device(3))
        #expect(registry.mtu == 23)
    }

    @Test("a phone that cannot use encrypted services does not reduce the MTU of the paired phones")
    func mtuOfPairedPhones() {
        var registry = CentralRegistry(limit: 4, writesPerSecond: 10, prefersPaired: true)
        registry.setPaired(device(1), true)
        for number in 1...2 { _ = registry.connect(device(number)) }
        registry.learn(mtu: 185, of: device(1))
        #expect(registry.mtu == 185)
        registry.setPaired(device(2), true)
        #expect(registry.mtu == 23)
        _ = registry.disconnect(device(1))
        _ = registry.disconnect(device(2))
        #expect(registry.mtu == 23)
    }

    @Test("paired devices are listed by address until they are forgotten")
    func bonds() {
        var registry = CentralRegistry(limit: 4, writesPerSecond: 10)
        registry.setName(device(2), "iPhone")
        registry.setPaired(device(2), true)
        registry.setPaired(device(1), false)
        #expect(registry.bonds.map(\.address) == ["C0:1A:B0:00:00:02"])
        #expect(registry.bonds.map(\.name) == ["iPhone"])
        registry.remove(device(2))
        #expect(registry.bonds.isEmpty)
    }

    @Test(
        "a paired gamepad is listed only if it uses a service; a paired phone or computer is listed"
    )
    func kinds() {
        var registry = CentralRegistry(limit: 4, writesPerSecond: 10)
        for (number, icon) in ["input-gaming", "phone", "computer"].enumerated() {
            registry.setIcon(device(number), icon)
            registry.setPaired(device(number), true)
        }
        #expect(registry.bonds.map(\.device) == [device(1), device(2)])
        registry.setUsesServices(device(0))
        #expect(registry.bonds.count == 3)
        _ = registry.disconnectAll()
        #expect(registry.bonds.count == 3)
        registry.forgetDevices()
        #expect(registry.bonds.isEmpty)
    }

    @Test("30,000 unpaired devices are not remembered, but paired devices are")
    func bounded() {
        var registry = CentralRegistry(limit: 2, writesPerSecond: 10)
        registry.setPaired(device(1), true)
        registry.setName(device(1), "iPhone")
        for number in 0..<30_000 {
            let stranger = "/org/bluez/hci0/dev_\(number)"
            registry.setName(stranger, "x")
            registry.setPaired(stranger, false)
            _ = registry.connect(stranger)
        }
        #expect(registry.remembered < 300)
        #expect(registry.bonds.map(\.name) == ["iPhone"])
    }

    @Test(
        "subscriptions pause when the last phone leaves, and resume with the next phone"
    )
    func subscriptions() {
        let subscriptions = Subscriptions()
        #expect(subscriptions.setStarted(3, true) == [3])
        #expect(subscriptions.setStarted(3, true) == [])
        #expect(subscriptions.isOn(3))
        #expect(subscriptions.pause() == [3])
        #expect(!subscriptions.isOn(3))
        #expect(subscriptions.pause() == [])
        #expect(subscriptions.resume() == [3])
        #expect(subscriptions.isOn(3))
        _ = subscriptions.pause()
        #expect(subscriptions.setStarted(4, true) == [3, 4], "a start ends the pause")
        #expect(subscriptions.setStarted(3, false) == [3])
        #expect(subscriptions.setStarted(3, false) == [])
    }
}
