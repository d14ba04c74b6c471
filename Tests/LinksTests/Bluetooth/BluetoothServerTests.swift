import FakeBlueZ
import Foundation
import GimbalCore
import Logging
import ServiceLifecycle
import Synchronization
import Testing
import Wire

@testable import Links

/// A server on a private bus, and a fake bluetoothd that the body drives.
private func withRadio(
    pause: UInt32 = 0, logger: Logger = silentLogger,
    name: @escaping @Sendable () -> String = { "BLE Mini" },
    change: (inout BluetoothConfiguration) -> Void = { _ in },
    body: @escaping @Sendable (BluetoothServer, PrivateBus) throws -> Void
) async throws {
    let bus = try PrivateBus()
    var configuration = BluetoothConfiguration()
    configuration.busAddress = bus.address
    change(&configuration)
    let server = try BluetoothServer(
        configuration: configuration,
        services: [RecordingService(pause: pause), PlainService(name: name)], logger: logger)
    let running = Task { try await server.run() }
    nonisolated(unsafe) let unsharedBus = bus
    let result = await onThread { Result { try body(server, unsharedBus) } }
    try await endInTime(running)
    try result.get()
}

/// Advertised name of a service, which another thread changes.
private final class SharedName: Sendable {
    let text = Mutex("BLE Mini")
}

/// A condition that did not occur in time.
private struct StillWaiting: Error {
    var what: String
}

/// Drives the fake until a condition holds, for at most 30 s.
private func pump(_ fake: FakeBlueZ?, _ what: String, _ isDone: () -> Bool) throws {
    let deadline = Date(timeIntervalSinceNow: 30)
    while true {
        fake?.process()
        if isDone() { return }
        guard Date.now < deadline else { throw StillWaiting(what: what) }
        usleep(1000)
    }
}

private func answered(_ fake: FakeBlueZ, _ call: (FakeBlueZ) -> Void) throws -> String {
    let replies = fake.replies
    call(fake)
    try pump(fake, "an answer") { fake.replies > replies }
    return fake.error
}

private func phone(_ number: Int) -> String { "/org/bluez/hci0/dev_C0_1A_B0_00_00_0\(number)" }

@Suite("The Bluetooth service", .serialized)
struct BluetoothServerTests {
    @Test("waits for bluetoothd, registers, names the adapter, and shows this in its status")
    func start() async throws {
        try await withRadio { server, bus in
            try pump(nil, "no bluetoothd") { server.status.state == "no bluetoothd" }
            #expect(server.status.sentence?.contains("systemctl") == true)
            #expect(server.status.sentence?.contains("/sys/class/bluetooth") == true)
            let fake = try FakeBlueZ(bus)
            try pump(fake, "advertising") { server.status.state == "advertising" }
            let status = server.status
            #expect(status.adapter == "hci0" && status.address == "0A:1A:B0:00:00:01")
            #expect(status.advertisements.map(\.name) == ["Test gimbal", "BLE Mini"])
            #expect(status.advertisements.allSatisfy { $0.isRegistered })
            #expect(fake.alias == "AirOS Gimbal" && fake.advertisements == 2)
            #expect(status.matches == 4 && status.sentence == nil)
        }
    }

    @Test("a start without a problem writes no warning about the bus or the adapter")
    func quietStart() async throws {
        let log = LineLog()
        try await withRadio(logger: log.logger) { server, bus in
            let fake = try FakeBlueZ(bus)
            try pump(fake, "advertising") { server.status.state == "advertising" }
        }
        #expect(log.lines.contains { $0.hasPrefix("Bluetooth: advertising") })
        #expect(!log.lines.contains { $0.contains("no bus") || $0.contains("no adapter") })
    }

    @Test("a refused list of objects is reported with its reason, not as a missing adapter")
    func refusedList() async throws {
        try await withRadio { server, bus in
            let fake = try FakeBlueZ(bus)
            fake.refuse("GetManagedObjects", "org.freedesktop.DBus.Error.AccessDenied", "Rejected")
            try pump(fake, "the refusal") { server.status.state == "refused" }
            #expect(server.status.sentence?.contains("Rejected") == true)
            fake.refuse(nil)
            try pump(fake, "advertising") { server.status.state == "advertising" }
        }
    }

    @Test("refused services are reported with bluetoothd's reason, in the status and in the log")
    func refusedServices() async throws {
        let log = LineLog()
        try await withRadio(logger: log.logger) { server, bus in
            let fake = try FakeBlueZ(bus)
            fake.refuse("RegisterApplication", "org.bluez.Error.Failed", "No object received")
            try pump(fake, "the reason") {
                server.status.sentence?.contains("No object received") == true
            }
            #expect(server.status.state == "registering")
        }
        let lines = log.lines.filter { $0.hasPrefix("Bluetooth: registering. ") }
        #expect(lines.count == 1 && lines.first?.contains("No object received") == true)
    }

    @Test("a name that another link has changed is advertised while no phone and no program acts")
    func liveName() async throws {
        let name = SharedName()
        try await withRadio(name: { name.text.withLock { $0 } }) { server, bus in
            let fake = try FakeBlueZ(bus)
            try pump(fake, "advertising") { server.status.state == "advertising" }
            // After this time no event of the start can wake the thread.
            let quiet = Date(timeIntervalSinceNow: 0.5)
            try pump(fake, "the end of the start") { Date.now >= quiet }
            name.text.withLock { $0 = "Turm 2" }
            try pump(fake, "the new name") {
                server.status.advertisements.last?.name == "Turm 2"
                    && server.status.counters.renewedAdvertisements == 2
            }
        }
    }

    @Test("for a missing adapter the status names a command that shows the adapters' names")
    func missingAdapter() async throws {
        try await withRadio(change: { $0.adapter = "hci7" }) { server, bus in
            let fake = try FakeBlueZ(bus)
            try pump(fake, "no adapter") { server.status.state == "no adapter" }
            #expect(server.status.sentence?.contains("`ls /sys/class/bluetooth`") == true)
        }
    }

    @Test("after each of five kills of bluetoothd the service registers again, without leaks")
    func restarts() async throws {
        try await withRadio { server, bus in
            var fake: FakeBlueZ? = try FakeBlueZ(bus)
            try pump(fake, "advertising") { server.status.state == "advertising" }
            for number in 1...5 {
                fake = nil
                try pump(nil, "no bluetoothd") { server.status.state == "no bluetoothd" }
                let began = Date.now
                fake = try FakeBlueZ(bus)
                try pump(fake, "advertising") { server.status.state == "advertising" }
                let took = Date.now.timeIntervalSince(began) * 1000
                print("restart \(number): registered after \(took.rounded()) ms")
                #expect(server.status.counters.restarts == number)
            }
            try pump(fake, "no call is pending") { server.status.pendingCalls == 0 }
            #expect(server.status.matches == 4)
        }
    }

    @Test("a dead link that a new bluetoothd lists is ended by switching the adapter off and on")
    func deadLinks() async throws {
        try await withRadio { server, bus in
            var fake: FakeBlueZ? = try FakeBlueZ(bus)
            try pump(fake, "advertising") { server.status.state == "advertising" }
            fake?.connect(phone(2), true)
            try pump(fake, "the phone") { server.status.centrals.count == 1 }
            fake = nil
            try pump(nil, "no bluetoothd") { server.status.state == "no bluetoothd" }
            let back = try FakeBlueZ(bus)
            back.connect(phone(3), true)
            back.connect(phone(2), true)
            try pump(back, "the end of the link") { back.switchedOff == 1 }
            try pump(back, "advertising") { server.status.state == "advertising" }
            #expect(back.isPowered)
            #expect(server.status.centrals.map(\.address) == ["C0:1A:B0:00:00:03"])
            // The phone reconnects, and is treated like any other phone.
            back.connect(phone(2), true)
            try pump(back, "the phone") { server.status.centrals.count == 2 }
            #expect(back.switchedOff == 1 && back.disconnections == 0)
        }
    }

    @Test("neither the status for all clients nor the log contains the passkey of a pairing")
    func passkey() async throws {
        let log = LineLog()
        try await withRadio(logger: log.logger, change: { $0.security = .encrypted }) {
            server, bus in
            let fake = try FakeBlueZ(bus)
            try pump(fake, "advertising") { server.status.state == "advertising" }
            fake.show(passkey: 12345, of: phone(2))
            try pump(fake, "the request") { server.status.pairing?.address != nil }
            #expect(server.status.pairing?.address == "C0:1A:B0:00:00:02")
            #expect(server.status.pairing?.passkey == nil)
            #expect(log.lines.contains { $0.contains("C0:1A:B0:00:00:02 wants to pair") })
            #expect(!log.lines.contains { $0.contains("12345") })
            // The clients that can pair phones get the passkey.
            #expect(server.pairingStatus.pairing?.passkey == "012345")
        }
    }

    @Test("without a bus the status reports this, and the service ends without waiting")
    func noBus() async throws {
        try await withRadio(change: { $0.busAddress = "unix:path=/nowhere" }) { server, _ in
            try pump(nil, "no bus") { server.status.state == "no bus" }
            #expect(server.status.lastError?.contains("No such file") == true)
        }
    }

    @Test(
        "the end of the bus during calls is detected, and a connected phone counts as disconnected")
    func busEnds() async throws {
        try await withRadio { server, bus in
            let fake = try FakeBlueZ(bus)
            try pump(fake, "advertising") { server.status.state == "advertising" }
            fake.connect(phone(2), true)
            try pump(fake, "the phone") { server.status.centrals.count == 1 }
            // The fake no longer answers, so the calls of this renewal are open when the bus ends.
            fake.connect(phone(2), false)
            fake.connect(phone(3), true)
            bus.stop()
            try pump(nil, "no bus") { server.status.state == "no bus" }
            #expect(server.status.centrals.isEmpty && server.status.matches == 0)
            #expect(server.status.counters.restarts == 1)
        }
    }

    @Test("a bus that hangs does not prevent the service from ending")
    func hangingBus() async throws {
        try await withRadio { server, bus in
            let fake = try FakeBlueZ(bus)
            try pump(fake, "advertising") { server.status.state == "advertising" }
            fake.connect(phone(2), true)
            try pump(fake, "the phone") { server.status.centrals.count == 1 }
            // `withRadio` requires that the service ends in time.
            bus.freeze()
        }
    }

    @Test(
        "a phone that writes too often gets error 0x84 unless it stops the gimbal, and another phone is served"
    )
    func tooManyWrites() async throws {
        try await withRadio(change: { $0.writesPerSecond = 10 }) { server, bus in
            let fake = try FakeBlueZ(bus)
            try pump(fake, "advertising") { server.status.state == "advertising" }
            // The bus allows at most 128 unanswered calls for each connection.
            for batch in 1...4 {
                for _ in 0..<50 { fake.write(ShimHarness.char1, [1], device: phone(2)) }
                try pump(fake, "answers") { fake.replies == 50 * batch }
            }
            #expect(fake.error == "Failed" && fake.message == "0x84")
            let stop = try answered(fake) { $0.write(ShimHarness.char1, [0xEE], device: phone(2)) }
            #expect(stop == "")
            let error = try answered(fake) { $0.write(ShimHarness.char1, [1], device: phone(3)) }
            #expect(error == "")
            try pump(fake, "the counters") {
                let counters = server.status.counters
                return counters.refusedWrites + counters.writes == 202
            }
            #expect(server.status.counters.refusedWrites > 100)
        }
    }

    @Test("a phone beyond the limit is disconnected, and its requests are not carried out")
    func tooManyPhones() async throws {
        try await withRadio(change: { $0.maximumCentrals = 2 }) { server, bus in
            let fake = try FakeBlueZ(bus)
            try pump(fake, "advertising") { server.status.state == "advertising" }
            for number in 1...3 { fake.connect(phone(number), true) }
            try pump(fake, "the disconnection") { fake.disconnections == 1 }
            let refused = try answered(fake) { $0.write(ShimHarness.char1, [1], device: phone(3)) }
            #expect(refused == "NotAuthorized")
            let served = try answered(fake) { $0.write(ShimHarness.char1, [1], device: phone(2)) }
            #expect(served == "")
            try pump(fake, "the status") { server.status.counters.refusedConnections == 1 }
            #expect(server.status.centrals.map(\.address).last == "C0:1A:B0:00:00:02")
        }
    }

    @Test("phones that are not paired cannot exclude a paired phone from encrypted services")
    func pairedPhone() async throws {
        try await withRadio(change: {
            $0.maximumCentrals = 2
            $0.security = .encrypted
        }) { server, bus in
            let fake = try FakeBlueZ(bus)
            try pump(fake, "advertising") { server.status.state == "advertising" }
            fake.say(isPaired: true, of: phone(4))
            for number in 2...4 { fake.connect(phone(number), true) }
            try pump(fake, "the disconnection") { fake.disconnections == 1 }
            let served = try answered(fake) { $0.write(ShimHarness.char1, [1], device: phone(4)) }
            #expect(served == "")
            let refused = try answered(fake) { $0.write(ShimHarness.char1, [1], device: phone(2)) }
            #expect(refused == "NotAuthorized")
            try pump(fake, "the status") { server.status.counters.refusedConnections == 2 }
            let addresses = server.status.centrals.map(\.address)
            #expect(addresses == ["C0:1A:B0:00:00:03", "C0:1A:B0:00:00:04"])
        }
    }

    @Test("gamepads, and devices at another adapter, do not count as phones, and stay connected")
    func otherDevices() async throws {
        try await withRadio(change: { $0.maximumCentrals = 1 }) { server, bus in
            try pump(nil, "no bluetoothd") { server.status.state == "no bluetoothd" }
            let fake = try FakeBlueZ(bus)
            // bluetoothd reports these connections before airframed has chosen an adapter.
            fake.connect("/org/bluez/hci1/dev_C0_1A_B0_00_00_01", true)
            fake.say(icon: "input-gaming", of: phone(2))
            fake.connect(phone(2), true)
            try pump(fake, "advertising") { server.status.state == "advertising" }
            fake.connect("/org/bluez/hci1/dev_C0_1A_B0_00_00_03", true)
            fake.say(icon: "phone", of: phone(4))
            fake.connect(phone(4), true)
            try pump(fake, "the phone") { !server.status.centrals.isEmpty }
            #expect(server.status.centrals.map(\.address) == ["C0:1A:B0:00:00:04"])
            #expect(server.status.counters.refusedConnections == 0 && fake.disconnections == 0)
        }
    }

    @Test("a headset whose icon arrives after its connection no longer counts as a phone")
    func lateIcon() async throws {
        try await withRadio { server, bus in
            let fake = try FakeBlueZ(bus)
            try pump(fake, "advertising") { server.status.state == "advertising" }
            fake.connect(phone(2), true)
            try pump(fake, "the device") { server.status.centrals.count == 1 }
            fake.say(icon: "audio-headset", of: phone(2))
            try pump(fake, "the icon") { server.status.centrals.isEmpty }
            #expect(fake.disconnections == 0)
            // A device that uses a service is a phone, although its icon is not a phone's icon.
            let served = try answered(fake) { $0.write(ShimHarness.char1, [1], device: phone(2)) }
            #expect(served == "")
            try pump(fake, "the phone") { server.status.centrals.count == 1 }
            // bluetoothd repeats the icon after it has read the device's appearance.
            fake.say(icon: "audio-headset", of: phone(2))
            fake.connect(phone(3), true)
            try pump(fake, "the second phone") { server.status.centrals.count == 2 }
        }
    }

    @Test("a device that does not count as a phone can subscribe after the last phone has left")
    func subscription() async throws {
        try await withRadio { server, bus in
            let fake = try FakeBlueZ(bus)
            try pump(fake, "advertising") { server.status.state == "advertising" }
            func changes() -> Int? {
                server.status.advertisements.first?.counts["subscription changes"]
            }
            fake.connect(phone(2), true)
            try pump(fake, "the phone") { server.status.centrals.count == 1 }
            fake.connect(phone(2), false)
            fake.say(icon: "input-gaming", of: phone(3))
            fake.connect(phone(3), true)
            try pump(fake, "no phone") { server.status.centrals.isEmpty }
            fake.call(ShimHarness.char0, "org.bluez.GattCharacteristic1", "StartNotify")
            try pump(fake, "the subscription") { changes() == 1 }
            fake.connect(phone(3), false)
            try pump(fake, "the end of the subscription") { changes() == 2 }
        }
    }

    @Test("a disconnection renews the advertisements")
    func renewal() async throws {
        try await withRadio { server, bus in
            let fake = try FakeBlueZ(bus)
            try pump(fake, "advertising") { server.status.state == "advertising" }
            fake.connect(phone(2), true)
            try pump(fake, "the phone") { server.status.centrals.count == 1 }
            fake.connect(phone(2), false)
            try pump(fake, "the renewal") {
                server.status.counters.renewedAdvertisements == 2
                    && server.status.state == "advertising" && fake.advertisements == 2
            }
        }
    }

    @Test("a connection that ends before the thread is free again also renews the advertisements")
    func briefConnection() async throws {
        try await withRadio(pause: 300_000) { server, bus in
            let fake = try FakeBlueZ(bus)
            try pump(fake, "advertising") { server.status.state == "advertising" }
            fake.connect(phone(2), true)
            try pump(fake, "the phone") { server.status.centrals.count == 1 }
            // While the write blocks the thread, the bus collects both messages.
            fake.write(ShimHarness.char1, [1], device: phone(2))
            fake.connect(phone(3), true)
            fake.connect(phone(3), false)
            try pump(fake, "the renewal") {
                server.status.counters.renewedAdvertisements == 2
            }
        }
    }
}
