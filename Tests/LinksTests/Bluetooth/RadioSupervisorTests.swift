import GimbalCore
import Testing

@testable import Links

private let adapter = Radio.adapter

@Suite("Radio supervisor")
struct RadioSupervisorTests {
    @Test("requests bus, objects, name, services and both advertisements, in this order")
    func start() {
        var radio = Radio()
        #expect(radio.on(.time) == [.openBus])
        #expect(radio.on(.busOpened) == [])
        #expect(radio.on(.daemon(isPresent: true)) == [.list])
        #expect(radio.plug() == [])
        #expect(
            radio.on(.done(.list, nil)) == [
                .setAlias(adapter, "AirOS Gimbal"),
                .registerApplication(adapter, asksForHandles: true),
            ])
        #expect(
            radio.on(.done(.registerApplication, nil)) == [
                .registerAdvertisement(adapter, 0), .registerAdvertisement(adapter, 1),
            ])
        radio.on(.done(.registerAdvertisement(0), nil))
        #expect(!radio.supervisor.isOnAir)
        radio.on(.done(.registerAdvertisement(1), nil))
        #expect(radio.supervisor.isOnAir)
        #expect(radio.supervisor.deadline == nil)
        #expect(radio.supervisor.lastError == nil)
    }

    @Test("without a bus it tries to connect every second")
    func noBus() {
        var radio = Radio()
        radio.on(.time)
        radio.on(.busLost("No such file"))
        #expect(radio.after(0.9) == [])
        #expect(radio.after(0.2) == [.openBus])
        #expect(radio.supervisor.lastError == "No such file")
        #expect(radio.supervisor.restarts == 0)
    }

    @Test("without bluetoothd it waits, and registers everything as soon as bluetoothd appears")
    func noDaemon() {
        var radio = Radio()
        radio.on(.time)
        radio.on(.busOpened)
        #expect(radio.on(.daemon(isPresent: false)) == [])
        #expect(radio.after(3600) == [])
        #expect(radio.supervisor.deadline == nil)
        #expect(radio.on(.daemon(isPresent: true)) == [.list])
        radio.on(.done(.list, nil))
        #expect(radio.plug().contains(.registerApplication(adapter, asksForHandles: true)))
    }

    @Test("a restart of bluetoothd is counted, and everything is registered again without waiting")
    func daemonRestart() {
        var radio = Radio.onAir()
        radio.on(.daemon(isPresent: false))
        #expect(!radio.supervisor.isOnAir)
        // A late answer of the killed bluetoothd.
        radio.on(.done(.registerAdvertisement(0), .busy))
        #expect(radio.on(.daemon(isPresent: true)) == [.list])
        radio.on(.done(.list, nil))
        #expect(radio.plug().contains(.registerApplication(adapter, asksForHandles: true)))
        radio.accept()
        #expect(radio.supervisor.isOnAir)
        #expect(radio.supervisor.restarts == 1)
        #expect(radio.supervisor.registrations == 2)
    }

    @Test("a restart of D-Bus causes a new connection and a new registration")
    func busRestart() {
        var radio = Radio.onAir()
        radio.on(.busLost("Connection reset by peer"))
        #expect(radio.after(1.1) == [.openBus])
        radio.on(.busOpened)
        #expect(radio.on(.daemon(isPresent: true)) == [.list])
        #expect(radio.supervisor.restarts == 1)
    }

    @Test("after a dead link the adapter is switched off and on before anything is registered")
    func deadLink() {
        var radio = Radio.onAir()
        radio.on(.daemon(isPresent: false))
        radio.on(.daemon(isPresent: true))
        #expect(radio.on(.deadLink("\(adapter)/dev_C0_1A_B0_00_00_02")) == [])
        #expect(radio.plug() == [])
        #expect(radio.on(.done(.list, nil)) == [.powerOff(adapter)])
        radio.on(.done(.powerOff, nil))
        #expect(radio.after(60) == [])
        #expect(radio.on(.powered(adapter, false)) == [.powerOn(adapter)])
        #expect(
            radio.on(.powered(adapter, true))
                .contains(.registerApplication(adapter, asksForHandles: true)))
        radio.accept()
        #expect(radio.supervisor.isOnAir)
        #expect(radio.after(60) == [])
    }

    @Test(
        "a dead link does not block registration if its adapter cannot be switched off or is not used"
    )
    func deadLinkElsewhere() {
        var radio = Radio.onAir()
        radio.on(.daemon(isPresent: true))
        radio.on(.deadLink("\(adapter)/dev_C0_1A_B0_00_00_02"))
        radio.plug()
        radio.on(.done(.list, nil))
        #expect(
            radio.on(.done(.powerOff, .blocked))
                .contains(.registerApplication(adapter, asksForHandles: true)))
        radio.on(.daemon(isPresent: true))
        radio.on(.deadLink("\(adapter)1/dev_C0_1A_B0_00_00_02"))
        radio.plug()
        #expect(
            radio.on(.done(.list, nil))
                .contains(.registerApplication(adapter, asksForHandles: true)))
    }

    @Test("an adapter that is removed and returns gets all registrations again")
    func adapterRemoved() {
        var radio = Radio.onAir()
        radio.on(.interface(.advertisingManager, of: adapter, isPresent: false))
        radio.on(.interface(.gattManager, of: adapter, isPresent: false))
        radio.on(.interface(.adapter, of: adapter, isPresent: false))
        #expect(radio.supervisor.adapterPath == nil)
        #expect(radio.supervisor.lastError == "The adapter was removed.")
        #expect(radio.plug().contains(.registerApplication(adapter, asksForHandles: true)))
    }

    @Test("the configured adapter is used, or else the first one")
    func choice() {
        for (wanted, expected) in [("", "/org/bluez/hci0"), ("hci1", "/org/bluez/hci1")] {
            var radio = Radio(adapter: wanted)
            radio.on(.time)
            radio.on(.busOpened)
            radio.on(.daemon(isPresent: true))
            radio.plug("/org/bluez/hci1")
            radio.plug("/org/bluez/hci0")
            let actions = radio.on(.done(.list, nil))
            #expect(actions.contains(.registerApplication(expected, asksForHandles: true)))
        }
    }

    @Test("a new bluetoothd has two seconds to find its adapter and to switch it on")
    func lateAdapter() {
        var radio = Radio()
        radio.startDaemon()
        radio.after(1)
        #expect(radio.supervisor.isStarting)
        radio.plug(isPowered: false)
        #expect(radio.supervisor.isStarting)
        radio.on(.powered(adapter, true))
        #expect(!radio.supervisor.isStarting)
        radio.on(.powered(adapter, false))
        #expect(!radio.supervisor.isStarting)
        radio.on(.daemon(isPresent: false))
        radio.startDaemon()
        #expect(radio.supervisor.deadline == radio.now.advanced(bySeconds: 2))
        radio.after(1.9)
        #expect(radio.supervisor.isStarting)
        radio.after(0.2)
        #expect(!radio.supervisor.isStarting && radio.supervisor.deadline == nil)
    }

    @Test("an adapter that is off is switched on, with retries while rfkill blocks it")
    func powerOn() {
        var radio = Radio()
        radio.startDaemon()
        #expect(radio.plug(isPowered: false) == [.powerOn(adapter)])
        #expect(radio.on(.done(.powerOn, .blocked)) == [])
        #expect(radio.supervisor.lastError?.contains("rfkill") == true)
        #expect(radio.after(RadioSupervisor.firstRetry) == [.powerOn(adapter)])
        radio.on(.done(.powerOn, nil))
        #expect(radio.on(.powered(adapter, true)).count == 2)
    }

    @Test(
        "an adapter that a user switched off stays off; when it is on again, the advertisements return"
    )
    func poweredOff() {
        var radio = Radio.onAir()
        #expect(radio.on(.powered(adapter, false)) == [])
        #expect(!radio.supervisor.isOnAir)
        #expect(radio.after(60) == [])
        let actions = radio.on(.powered(adapter, true))
        #expect(
            actions == [.registerAdvertisement(adapter, 0), .registerAdvertisement(adapter, 1)])
    }

    @Test("an advertisement that bluetoothd still has is unregistered and registered again")
    func alreadyExists() {
        var radio = Radio.onAir()
        radio.on(.powered(adapter, false))
        radio.on(.powered(adapter, true))
        #expect(
            radio.on(.done(.registerAdvertisement(0), .exists))
                == [.unregisterAdvertisement(adapter, 0)])
        #expect(
            radio.on(.done(.unregisterAdvertisement(0), nil))
                == [.registerAdvertisement(adapter, 0)])
    }

    @Test(
        "both advertisements are renewed one second after a disconnection, and the renewal is counted"
    )
    func renewal() {
        var radio = Radio.onAir()
        #expect(radio.on(.centralLeft) == [])
        #expect(radio.after(0.9) == [])
        #expect(
            radio.after(0.2) == [
                .unregisterAdvertisement(adapter, 0), .unregisterAdvertisement(adapter, 1),
            ])
        #expect(radio.supervisor.isOnAir)
        #expect(
            radio.on(.done(.unregisterAdvertisement(0), nil))
                == [.registerAdvertisement(adapter, 0)])
        #expect(
            radio.on(.done(.unregisterAdvertisement(1), .busy))
                == [.registerAdvertisement(adapter, 1)])
        radio.on(.done(.registerAdvertisement(0), nil))
        radio.on(.done(.registerAdvertisement(1), nil))
        #expect(radio.supervisor.isOnAir)
        #expect(radio.supervisor.renewed == 2)
        #expect(radio.supervisor.lost == 0)
    }

    @Test(
        "a new connection proves that the advertisements are active, so that they are not renewed")
    func proof() {
        var radio = Radio.onAir()
        radio.on(.centralLeft)
        radio.on(.centralCame)
        #expect(radio.after(60) == [])
        #expect(radio.supervisor.renewed == 0)
    }

    @Test("a new name is advertised immediately")
    func renamed() {
        var radio = Radio.onAir()
        #expect(radio.on(.renamed).count == 2)
    }

    @Test("an advertisement that bluetoothd releases is registered again, and that is counted")
    func released() {
        var radio = Radio.onAir()
        #expect(radio.on(.released(1)) == [])
        #expect(
            radio.after(RadioSupervisor.firstRetry) == [.registerAdvertisement(adapter, 1)])
        #expect(radio.supervisor.lost == 1)
    }

    @Test("an adapter with too few active advertisements gets them again after a delay")
    func silentlyLost() {
        var radio = Radio.onAir()
        radio.on(.active(adapter, 1))
        #expect(radio.after(1) == [])
        #expect(radio.after(1.5).count == 2)
        #expect(radio.supervisor.lost == 1)
        radio.on(.active(adapter, 2))
        radio.on(.done(.unregisterAdvertisement(0), nil))
        radio.on(.done(.unregisterAdvertisement(1), nil))
        radio.on(.done(.registerAdvertisement(0), nil))
        radio.on(.done(.registerAdvertisement(1), nil))
        #expect(radio.after(60) == [])
        #expect(radio.supervisor.deadline == nil)
    }

    @Test("refused requests are repeated at growing intervals, up to eight seconds")
    func backoff() {
        var radio = Radio()
        radio.startDaemon()
        radio.plug()
        radio.on(.done(.registerApplication, .busy))
        var waits: [Double] = []
        for _ in 0..<8 {
            let began = radio.now
            radio.on(.done(.registerApplication, .busy))
            let deadline = radio.supervisor.deadline ?? began
            waits.append((deadline.seconds(since: radio.now) * 100).rounded() / 100)
            radio.after(deadline.seconds(since: radio.now))
        }
        #expect(waits == [0.25, 0.5, 1, 2, 4, 8, 8, 8])
    }

    @Test("after a refusal by the kernel the message names where its reason and a remedy are")
    func kernelRefusal() {
        let message = RadioFailure.busy.sentence(.registerAdvertisement(1))
        #expect(message.contains("journalctl -u bluetooth") && message.contains("6.18.36"))
        let full = RadioFailure(
            name: "org.bluez.Error.NotPermitted", message: "Maximum advertisements reached")
        #expect(!full.sentence(.registerAdvertisement(1)).contains("journalctl"))
        #expect(!RadioFailure.busy.sentence(.registerApplication).contains("journalctl"))
    }

    @Test("a table whose handles are already in use is registered without handles")
    func handles() {
        var radio = Radio()
        radio.startDaemon()
        radio.plug()
        #expect(
            radio.on(.done(.registerApplication, .busy))
                == [.registerApplication(adapter, asksForHandles: false)])
        // A new bluetoothd can have the handles free again.
        radio.on(.daemon(isPresent: false))
        radio.startDaemon()
        #expect(radio.plug().contains(.registerApplication(adapter, asksForHandles: true)))
        radio.on(.done(.registerApplication, .blocked))
        #expect(
            radio.after(60).contains(.registerApplication(adapter, asksForHandles: true)))
    }

    @Test(
        "with encryption an agent is registered first, and pairing is possible only while allowed")
    func pairing() {
        var radio = Radio(isEncrypted: true)
        radio.startDaemon()
        #expect(radio.plug().contains(.registerAgent))
        radio.on(.done(.registerAgent, nil))
        radio.accept()
        #expect(radio.on(.pairable(adapter, true)) == [.setPairable(adapter, false)])
        radio.on(.done(.setPairable, nil))
        radio.on(.pairable(adapter, false))

        let until = radio.now.advanced(bySeconds: 60)
        #expect(radio.on(.allowPairing(until: until)) == [.setPairable(adapter, true)])
        radio.on(.done(.setPairable, nil))
        radio.on(.pairable(adapter, true))
        #expect(radio.supervisor.deadline == until)
        #expect(radio.after(61) == [.setPairable(adapter, false)])
    }

    @Test("without encryption neither agent nor pairing are changed")
    func open() {
        var radio = Radio.onAir()
        #expect(radio.on(.pairable(adapter, true)) == [])
        #expect(radio.on(.allowPairing(until: radio.now.advanced(bySeconds: 9))) == [])
    }

    @Test("after events in any order the radio is on the air once bluetoothd accepts everything")
    func randomOrder() {
        var random = SystemRandomNumberGenerator()
        let failures: [RadioFailure?] = [nil, .busy, .exists, .blocked]
        for _ in 0..<300 {
            var radio = Radio()
            radio.startDaemon()
            for _ in 0..<60 {
                let calls: [RadioCall] = [
                    .registerApplication, .registerAdvertisement(0), .registerAdvertisement(1),
                    .unregisterAdvertisement(0), .powerOn, .powerOff, .setAlias, .list,
                ]
                let events: [RadioEvent] = [
                    .daemon(isPresent: .random()), .powered(adapter, .random()), .centralLeft,
                    .centralCame, .renamed, .deadLink("\(adapter)/dev_C0_1A_B0_00_00_02"),
                    .released(.random(in: 0...2)), .active(adapter, .random(in: 0...3)),
                    .interface(.gattManager, of: adapter, isPresent: .random()),
                    .done(
                        calls.randomElement(using: &random) ?? .list,
                        failures.randomElement(using: &random) ?? nil), .time,
                ]
                radio.after(.random(in: 0...2), events.randomElement(using: &random) ?? .time)
            }
            // From here on bluetoothd carries out every request.
            radio.on(.active(adapter, 2))
            var pending = radio.on(.daemon(isPresent: false))
            pending += radio.on(.daemon(isPresent: true))
            var isPlugged = false
            for _ in 0..<100 where !radio.supervisor.isOnAir {
                if pending.isEmpty { pending = radio.after(1) }
                guard !pending.isEmpty else { continue }
                let action = pending.removeFirst()
                switch action {
                case .list:
                    pending += radio.on(.done(.list, nil))
                    if !isPlugged { pending += radio.plug() }
                    isPlugged = true
                case .setAlias: pending += radio.on(.alias(adapter, "AirOS Gimbal"))
                case .powerOn: pending += radio.on(.powered(adapter, true))
                case .powerOff: pending += radio.on(.powered(adapter, false))
                case .registerApplication: pending += radio.on(.done(.registerApplication, nil))
                case .registerAdvertisement(_, let index):
                    pending += radio.on(.done(.registerAdvertisement(index), nil))
                case .unregisterAdvertisement(_, let index):
                    pending += radio.on(.done(.unregisterAdvertisement(index), nil))
                default: break
                }
            }
            #expect(radio.supervisor.isOnAir)
        }
    }
}
