import GimbalCore

extension BluetoothLoop {
    /// Records that bluetoothd has started or stopped the notifications of a characteristic.
    /// bluetoothd starts notifications only for a connected device, and does not name this device.
    func subscribe(_ characteristic: Int, isOn: Bool) {
        let now = clock()
        if isOn { resumeSubscriptions(now) }
        guard notifier.subscriptions.setStarted(characteristic, isOn) else { return }
        let (service, uuid) = table[characteristic]
        services[service].subscription(uuid, isOn: isOn, now: now)
    }

    /// Resumes the notifications, because a central is connected.
    func resumeSubscriptions(_ now: Instant) {
        for index in notifier.subscriptions.resume() {
            let (service, uuid) = table[index]
            services[service].subscription(uuid, isOn: true, now: now)
        }
    }

    /// Pauses the notifications, because no central is connected.
    func endSubscriptions(_ now: Instant) {
        for index in notifier.subscriptions.pause() {
            let (service, uuid) = table[index]
            services[service].subscription(uuid, isOn: false, now: now)
        }
    }
}
