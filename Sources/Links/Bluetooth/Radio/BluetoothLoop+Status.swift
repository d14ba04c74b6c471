import GimbalCore
import Wire

extension BluetoothLoop {
    /// State of Bluetooth in one or two words, and a message that states the problem and its
    /// remedy. The message is nil if there is no problem.
    var radioState: (state: String, sentence: String?) {
        if supervisor.isStarting { return ("starting", nil) }
        guard supervisor.hasBus else {
            return ("no bus", "Is D-Bus running? Check it with `systemctl status dbus`.")
        }
        guard supervisor.hasDaemon else {
            return (
                "no bluetoothd",
                "Start bluetoothd: `systemctl enable --now bluetooth`. systemd starts bluetoothd only after the kernel has loaded the driver of a Bluetooth adapter, which creates /sys/class/bluetooth."
            )
        }
        if let refusal = supervisor.listRefusal {
            return ("refused", "\(refusal.sentence(.list)) \(Self.remedy(for: refusal))")
        }
        guard let adapter = supervisor.adapter else {
            let which =
                configuration.adapter.isEmpty ? "adapter" : "adapter \(configuration.adapter)"
            return (
                "no adapter",
                "bluetoothd has no \(which) that can be a Bluetooth LE peripheral; `ls /sys/class/bluetooth` shows the names of the adapters."
            )
        }
        guard adapter.isPowered == true else {
            return (
                "adapter off",
                "Switch the adapter on: `rfkill unblock bluetooth`, then `bluetoothctl power on`."
            )
        }
        guard supervisor.isOnAir else {
            let steps = [supervisor.application] + supervisor.advertisements
            let isRefused = steps.contains { $0.isWaiting }
            return ("registering", isRefused ? supervisor.lastError : nil)
        }
        return ("advertising", nil)
    }

    /// Remedy if bluetoothd's objects cannot be listed.
    private static func remedy(for refusal: RadioFailure) -> String {
        refusal.name == "org.freedesktop.DBus.Error.AccessDenied"
            ? "D-Bus's policy bluetooth.conf in /etc/dbus-1/system.d or /usr/share/dbus-1/system.d must permit messages of airframed's user to org.bluez."
            : "Restart bluetoothd: `systemctl restart bluetooth`."
    }

    /// Status of Bluetooth.
    func status(now: Instant, _ notifier: RadioNotifier) -> BluetoothStatus {
        var status = BluetoothStatus()
        (status.state, status.sentence) = radioState
        status.lastError = supervisor.lastError
        status.adapter = supervisor.adapterPath?.split(separator: "/").last.map(String.init)
        status.address = supervisor.adapterPath.flatMap { addresses[$0] }
        status.alias = supervisor.adapter?.alias
        status.name = configuration.name
        status.security = configuration.security.rawValue
        status.freeSlots = supervisor.adapter?.slots
        status.advertisements = zip(services, supervisor.advertisements).map { service, step in
            AdvertisementStatus(
                uuid: "\(service.uuid)", name: service.advertisedName,
                isRegistered: step == .done || (supervisor.isOnAir && !step.isWaiting),
                counts: service.counts)
        }
        status.centrals = centrals.connected.map {
            CentralStatus(
                address: $0.central.address, connection: $0.central.connection, mtu: $0.mtu)
        }
        status.bonds = centrals.bonds.map { BondStatus(address: $0.address, name: $0.name) }
        status.pairing = pairing(now: now)
        status.counters = counters
        status.counters.restarts = supervisor.restarts
        status.counters.registrations = supervisor.registrations
        status.counters.renewedAdvertisements = supervisor.renewed
        status.counters.lostAdvertisements = supervisor.lost
        status.counters.notifications = notifier.counts.sent
        status.counters.droppedNotifications = notifier.counts.dropped
        let resources = bus.resources
        status.pendingCalls = resources.calls + resources.queued
        status.matches = resources.matches
        return status
    }

    private func pairing(now: Instant) -> PairingStatus? {
        let remaining = supervisor.pairingUntil.map { max($0.seconds(since: now), 0) }
        guard remaining != nil || passkey != nil else { return nil }
        return PairingStatus(
            remainingS: Number(remaining ?? 0), passkey: passkey.map { Self.digits($0.number) },
            address: passkey.map { CentralRegistry.address(of: $0.device) })
    }

    /// Passkey as text with six digits.
    static func digits(_ passkey: UInt32) -> String {
        let text = String(passkey)
        return String(repeating: "0", count: max(6 - text.count, 0)) + text
    }
}
