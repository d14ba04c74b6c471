import FakeBlueZ
import Foundation
import GimbalCore
import TestSupport
import Testing

@testable import Links

/// A real dbus-daemon, the real shim, and a simulated bluetoothd that misbehaves on purpose.
@Suite("The shim between bluetoothd and the service", .serialized)
struct BlueZBusTests {
    @Test("publishes services, characteristics and descriptions in the order of the table")
    func table() throws {
        let harness = try ShimHarness()
        let fake = try harness.connect()
        #expect(
            fake.objects == [
                "/org/airframe/service0",
                "/org/airframe/service0/char00", "/org/airframe/service0/char00/name",
                "/org/airframe/service0/char01", "/org/airframe/service0/char01/name",
                "/org/airframe/service0/char02", "/org/airframe/service0/char02/name",
                "/org/airframe/service1",
                "/org/airframe/service1/char03", "/org/airframe/service1/char03/name",
            ])
        #expect(fake.handles == [0x100, 0x150])
    }

    @Test("a refused table can be registered without handles")
    func withoutHandles() throws {
        let harness = try ShimHarness()
        let fake = try harness.connect()
        harness.bus.ask(.registerApplication("/org/bluez/hci0", asksForHandles: false))
        harness.pump { fake.applications == 2 && fake.handles.isEmpty }
    }

    @Test("reads reach the service with device and MTU, and a long value is read in pieces")
    func reads() throws {
        let harness = try ShimHarness()
        let fake = try harness.connect()
        harness.readAnswer = .success(Array(0..<200))
        #expect(harness.answered { $0.read(ShimHarness.char0) } == "")
        #expect(fake.value == Array(0..<200))
        #expect(harness.requests.last?.device == FakeBlueZ.phone)
        #expect(harness.requests.last?.mtu == 185)
        #expect(harness.answered { $0.read(ShimHarness.char0, offset: 184) } == "")
        #expect(fake.value == Array(184..<200))
        #expect(harness.answered { $0.read(ShimHarness.char0, offset: 201) } == "InvalidOffset")
    }

    @Test("the user description is the characteristic's name")
    func description() throws {
        let harness = try ShimHarness()
        _ = try harness.connect()
        let path = ShimHarness.char1 + "/name"
        let get = { (fake: FakeBlueZ) in fake.get(path, "org.bluez.GattDescriptor1", "UUID") }
        #expect(harness.answered(get) == "")
    }

    @Test(
        "each error of the service is mapped to the D-Bus error that bluetoothd translates to the matching ATT error code",
        arguments: [
            (ATTError.invalidLength, "InvalidValueLength", "Length"),
            (.notAuthorized, "NotAuthorized", "Not now"),
            (.notSupported, "NotSupported", "Not supported"),
            (.application(0x80), "Failed", "0x80"), (.application(0x9F), "Failed", "0x9f"),
            (.application(0xA0), "Failed", "0x86"),
        ])
    func errors(error: ATTError, name: String, message: String) throws {
        let harness = try ShimHarness()
        let fake = try harness.connect()
        harness.writeAnswer = error
        harness.readAnswer = .failure(error)
        #expect(harness.answered { $0.write(ShimHarness.char1, [1]) } == name)
        #expect(fake.message == message)
        #expect(harness.answered { $0.read(ShimHarness.char1) } == name)
    }

    @Test(
        "a write that waits for the disk is answered later, and other writes are answered meanwhile"
    )
    func later() throws {
        let harness = try ShimHarness()
        let fake = try harness.connect()
        harness.isLeftForLater = true
        let before = fake.replies
        for _ in 0..<2 { fake.write(ShimHarness.char1, [1]) }
        harness.pump { harness.requests.count == 2 }
        harness.isLeftForLater = false
        #expect(harness.answered { $0.write(ShimHarness.char1, [2]) } == "")
        #expect(fake.replies == before + 1)
        let tokens = harness.requests.map(\.token)
        #expect(Set(tokens).count == 3)
        harness.bus.answer(tokens[1], .application(0x82))
        harness.pump { fake.replies == before + 2 }
        #expect(fake.error == "Failed" && fake.message == "0x82")
        harness.bus.answer(tokens[0], nil)
        harness.pump { fake.replies == before + 3 }
        #expect(fake.error == "")
        // A second answer and an unknown token are ignored.
        harness.bus.answer(tokens[0], nil)
        harness.bus.answer(99, nil)
        #expect(harness.answered { $0.write(ShimHarness.char1, [3]) } == "")
        #expect(fake.replies == before + 4)
    }

    @Test(
        "at most sixteen writes wait for the disk, and closing the bus discards them")
    func muchLater() throws {
        let harness = try ShimHarness()
        let fake = try harness.connect()
        harness.isLeftForLater = true
        for _ in 0..<16 { fake.write(ShimHarness.char1, [1]) }
        harness.pump { harness.requests.count == 16 }
        #expect(harness.answered { $0.write(ShimHarness.char1, [1]) } == "Failed")
        #expect(fake.message == "0x82")
        harness.bus.close()
        for request in harness.requests { harness.bus.answer(request.token, nil) }
    }

    @Test(
        "writes of up to 512 bytes arrive complete; longer writes and writes with an offset are refused"
    )
    func writes() throws {
        let harness = try ShimHarness()
        _ = try harness.connect()
        for length in [0, 1, 20, 180, 512] {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
            #expect(harness.answered { $0.write(ShimHarness.char1, bytes) } == "")
            #expect(harness.writes.last == bytes)
        }
        let count = harness.writes.count
        let long = [UInt8](repeating: 1, count: 513)
        #expect(harness.answered { $0.write(ShimHarness.char1, long) } == "InvalidValueLength")
        #expect(
            harness.answered { $0.write(ShimHarness.char1, [1], offset: 2) } == "InvalidOffset")
        #expect(harness.writes.count == count)
    }

    @Test(
        "an operation that a characteristic does not have is refused before it reaches the service")
    func flags() throws {
        let harness = try ShimHarness()
        _ = try harness.connect()
        #expect(harness.answered { $0.write(ShimHarness.char0, [1]) } == "NotSupported")
        #expect(harness.answered { $0.read(ShimHarness.char2) } == "NotSupported")
        let gatt = "org.bluez.GattCharacteristic1"
        #expect(
            harness.answered { $0.call(ShimHarness.char1, gatt, "StartNotify") } == "NotSupported")
        #expect(harness.requests.isEmpty && harness.subscriptions.isEmpty)
    }

    @Test("subscriptions reach the service, notifications reach bluetoothd")
    func notifications() throws {
        let harness = try ShimHarness()
        let fake = try harness.connect()
        let gatt = "org.bluez.GattCharacteristic1"
        #expect(harness.answered { $0.call(ShimHarness.char0, gatt, "StartNotify") } == "")
        #expect(harness.bus.notify(0, [1, 2, 3]) == 0)
        harness.pump { fake.notifications == 1 }
        #expect(fake.value == [1, 2, 3])
        #expect(harness.answered { $0.call(ShimHarness.char0, gatt, "StopNotify") } == "")
        #expect(harness.subscriptions == [true, false])
    }

    @Test("a missing property is an error, and the next request is answered")
    func absentProperties() throws {
        let harness = try ShimHarness()
        _ = try harness.connect()
        let advertisement = "/org/airframe/advertisement0"
        for name in ["TxPower", "Appearance", "SolicitUUIDs", ""] {
            let error = harness.answered {
                $0.get(advertisement, "org.bluez.LEAdvertisement1", name)
            }
            #expect(error == "org.freedesktop.DBus.Error.UnknownProperty")
        }
        let get = { (fake: FakeBlueZ) in
            fake.get(advertisement, "org.bluez.LEAdvertisement1", "LocalName")
        }
        #expect(harness.answered(get) == "")
        #expect(
            harness.answered { $0.get("/org/airframe/service7", "x.y", "UUID") }
                == "org.freedesktop.DBus.Error.UnknownProperty")
    }

    @Test("calls with wrong arguments are refused with a named error, and none reaches the service")
    func malformedCalls() throws {
        let harness = try ShimHarness()
        _ = try harness.connect()
        for kind in 0..<8 {
            let error = harness.answered { $0.callWrongly(ShimHarness.char1, kind) }
            switch kind {
            case 0, 1, 2: #expect(error == "InvalidArguments")
            case 4: #expect(error == "NotSupported")
            // Options with a wrong type are skipped.
            case 3, 6, 7: #expect(error == "")
            default: #expect(error.contains("Unknown"))
            }
        }
        #expect(harness.writes == [[9], []])
        #expect(harness.requests.allSatisfy { $0.device.isEmpty && $0.mtu == nil })
    }

    @Test("malformed signals change nothing, and later signals are used")
    func malformedSignals() throws {
        let harness = try ShimHarness()
        let fake = try harness.connect()
        harness.events = []
        for kind in 0..<6 { fake.signalWrongly(kind) }
        fake.say(active: 3)
        harness.pump { harness.events.contains(.radio(.active("/org/bluez/hci0", 3))) }
        #expect(harness.busError == nil)
        #expect(!harness.events.contains(.device(.connected("/x", true))))
    }

    @Test("only bluetoothd is served")
    func strangers() throws {
        let harness = try ShimHarness()
        let fake = try harness.connect()
        fake.abdicate()
        harness.pump { harness.events.contains(.radio(.daemon(isPresent: false))) }
        let denied = "org.freedesktop.DBus.Error.AccessDenied"
        #expect(harness.answered { $0.write(ShimHarness.char1, [1]) } == denied)
        #expect(harness.answered { $0.read(ShimHarness.char1) } == denied)
        let get = { (fake: FakeBlueZ) in
            fake.get("/org/airframe/advertisement0", "org.bluez.LEAdvertisement1", "LocalName")
        }
        #expect(harness.answered(get) == denied)
        #expect(harness.requests.isEmpty)
    }

    @Test("any number of signals that a stranger sends directly to the shim change nothing")
    func spoofedSignals() throws {
        let harness = try ShimHarness()
        let bluetoothd = try harness.connect()
        let stranger = try FakeBlueZ(strangerOn: harness.privateBus, beside: bluetoothd)
        harness.events = []
        for round in 0..<200 {
            for kind in 0..<5 {
                #expect(stranger.spoof(kind, device: "/org/bluez/hci0/dev_\(round)") == 0)
            }
        }
        // The stranger's call follows its signals, so its answer shows that all signals have been
        // handled.
        harness.fake = stranger
        let denied = "org.freedesktop.DBus.Error.AccessDenied"
        #expect(harness.answered { $0.write(ShimHarness.char1, [1]) } == denied)
        #expect(harness.events.isEmpty)
        // The real bluetoothd is still served, and its signals are still used.
        harness.fake = bluetoothd
        #expect(harness.answered { $0.write(ShimHarness.char1, [1]) } == "")
        bluetoothd.connect(FakeBlueZ.phone, true)
        harness.pump { harness.events == [.device(.connected(FakeBlueZ.phone, true))] }
    }

    @Test("results and errors of calls, and the absence of bluetoothd, are reported as events")
    func calls() throws {
        let harness = try ShimHarness()
        let fake = try harness.connect()
        fake.refuse("RegisterAdvertisement", "org.bluez.Error.NotPermitted", "Maximum reached")
        harness.bus.ask(.registerAdvertisement("/org/bluez/hci0", 1))
        let failure = RadioFailure(
            name: "org.bluez.Error.NotPermitted", message: "Maximum reached")
        harness.pump {
            harness.events.contains(.radio(.done(.registerAdvertisement(1), failure)))
        }
        harness.bus.ask(.setAlias("/org/bluez/hci0", "AirOS Gimbal"))
        harness.pump { harness.events.contains(.radio(.done(.setAlias, nil))) }
        #expect(fake.alias == "AirOS Gimbal")
        harness.bus.ask(.list)
        harness.pump { harness.events.contains(.radio(.done(.list, nil))) }
        #expect(harness.events.contains(.radio(.powered("/org/bluez/hci0", true))))
        #expect(harness.events.contains(.radio(.alias("/org/bluez/hci0", "AirOS Gimbal"))))
    }

    @Test("if bluetoothd is killed during calls, the calls end and release their resources")
    func killed() throws {
        let harness = try ShimHarness()
        _ = try harness.connect()
        let before = harness.bus.resources
        harness.bus.ask(.list)
        harness.bus.ask(.registerAdvertisement("/org/bluez/hci0", 0))
        #expect(harness.bus.resources.calls == 2)
        harness.fake = nil
        harness.pump { harness.events.contains(.radio(.daemon(isPresent: false))) }
        harness.pump { harness.bus.resources.calls == 0 }
        #expect(harness.bus.resources == before)
        // bluetoothd returns on the same connection.
        harness.events = []
        harness.fake = try FakeBlueZ(harness.privateBus)
        harness.pump { harness.events.contains(.radio(.daemon(isPresent: true))) }
    }

    @Test("the end of the bus is an error, and all resources are released")
    func busEnds() throws {
        let harness = try ShimHarness()
        _ = try harness.connect()
        harness.bus.ask(.list)
        harness.fake = nil
        harness.privateBus.stop()
        harness.pump { harness.busError != nil }
        harness.bus.close()
        #expect(harness.bus.resources == BlueZBus.Resources())
        #expect(harness.bus.pollEntry() == nil)
        #expect(harness.bus.open(address: harness.privateBus.address) != 0)
        #expect(harness.bus.resources == BlueZBus.Resources())
    }

    @Test("twenty consecutive connections leak neither descriptors nor objects")
    func reopening() throws {
        let harness = try ShimHarness()
        _ = try harness.connect()
        let (descriptors, resources) = (openDescriptors(), harness.bus.resources)
        for _ in 0..<20 {
            harness.events = []
            #expect(harness.bus.open(address: harness.privateBus.address) == 0)
            harness.pump { harness.events.contains(.radio(.daemon(isPresent: true))) }
        }
        harness.pump { harness.bus.resources == resources }
        #expect(openDescriptors() == descriptors)
    }

    @Test(
        "random writes, reads and wrong calls are all answered, without leaks of memory or descriptors"
    )
    func flood() throws {
        let harness = try ShimHarness()
        let fake = try harness.connect()
        let total =
            ProcessInfo.processInfo.environment["AIRFRAME_WRITES"].flatMap(Int.init)
            ?? 20_000
        var random = Xorshift(state: 7)
        var sent = 0
        var memory = 0
        let (descriptors, resources) = (openDescriptors(), harness.bus.resources)
        let paths = [ShimHarness.char0, ShimHarness.char1, ShimHarness.char2]
        while sent < total {
            for _ in 0..<50 {
                let path = paths[random.next(below: 3)]
                let kind = random.next(below: 20)
                let offset = UInt16(random.next(below: 8) == 0 ? random.next(below: 600) : 0)
                if kind == 0 {
                    fake.callWrongly(path, random.next(below: 8))
                } else if kind == 1 {
                    fake.read(path, offset: offset)
                } else {
                    let bytes = (0..<random.next(below: 40)).map { _ in
                        UInt8(truncatingIfNeeded: random.next(below: 256))
                    }
                    fake.write(path, bytes, offset: offset)
                }
            }
            sent += 50
            harness.pump { fake.replies >= sent }
            harness.requests = []
            harness.writes = []
            // By then every pool has reached its final size.
            if sent == min(total / 2, 100_000) { memory = residentKilobytes() }
        }
        #expect(fake.replies == sent)
        harness.pump { harness.bus.resources == resources }
        #expect(openDescriptors() == descriptors)
        let growth = residentKilobytes() - memory
        print("\(sent) requests at the shim's boundary, memory grew by \(growth) kB")
        // A sanitizer's quarantine keeps freed memory.
        if !Sanitizer.isActive { #expect(growth < 2048) }
    }
}

/// Random numbers with a fixed seed.
private struct Xorshift {
    var state: UInt64

    mutating func next(below limit: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(limit))
    }
}
