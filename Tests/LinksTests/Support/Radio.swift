import GimbalCore

@testable import Links

/// A supervisor of two advertisements with a clock, and its requests.
struct Radio {
    static let adapter = "/org/bluez/hci0"

    var supervisor: RadioSupervisor
    var now = Instant(nanoseconds: 1_000_000_000)

    init(adapter: String = "", isEncrypted: Bool = false) {
        supervisor = RadioSupervisor(
            RadioSupervisor.Plan(
                adapter: adapter, alias: "AirOS Gimbal", advertisements: 2,
                isEncrypted: isEncrypted))
    }

    @discardableResult
    mutating func after(_ seconds: Double, _ event: RadioEvent = .time) -> [RadioAction] {
        now = now.advanced(bySeconds: seconds)
        return supervisor.handle(event, now: now)
    }

    @discardableResult
    mutating func on(_ event: RadioEvent) -> [RadioAction] { after(0.001, event) }

    /// Makes the bus and bluetoothd available.
    mutating func startDaemon() {
        on(.time)
        on(.busOpened)
        on(.daemon(isPresent: true))
        on(.done(.list, nil))
    }

    /// An adapter reports its properties.
    @discardableResult
    mutating func plug(_ path: String = Self.adapter, isPowered: Bool = true) -> [RadioAction] {
        on(.alias(path, "raspberrypi"))
        on(.interface(.adapter, of: path, isPresent: true))
        on(.alias(path, "raspberrypi"))
        on(.interface(.gattManager, of: path, isPresent: true))
        on(.interface(.advertisingManager, of: path, isPresent: true))
        return on(.powered(path, isPowered))
    }

    /// bluetoothd accepts all registrations.
    mutating func accept() {
        on(.alias(Self.adapter, "AirOS Gimbal"))
        on(.done(.registerApplication, nil))
        on(.done(.registerAdvertisement(0), nil))
        on(.done(.registerAdvertisement(1), nil))
    }

    /// A radio that is advertising.
    static func onAir() -> Radio {
        var radio = Radio()
        radio.startDaemon()
        radio.plug()
        radio.accept()
        return radio
    }
}

extension RadioFailure {
    static let busy = RadioFailure(name: "org.bluez.Error.Failed", message: "busy")
    static let exists = RadioFailure(
        name: "org.bluez.Error.AlreadyExists", message: "Already Exists")
    static let blocked = RadioFailure(
        name: "org.bluez.Error.Blocked", message: "Blocked through rfkill")
}
