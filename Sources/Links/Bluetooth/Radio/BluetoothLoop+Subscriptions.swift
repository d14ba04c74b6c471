import GimbalCore

extension BluetoothLoop {
    /// Records that bluetoothd has started or stopped the notifications of a characteristic, for a
    /// device that bluetoothd does not name.
    func subscribe(_ characteristic: Int, isOn: Bool) {
        inform(notifier.subscriptions.setStarted(characteristic, isOn), isOn: isOn, clock())
    }

    /// Informs the services that the notifications of characteristics start or stop.
    func inform(_ characteristics: [Int], isOn: Bool, _ now: Instant) {
        for index in characteristics {
            let (service, uuid) = table[index]
            services[service].subscription(uuid, isOn: isOn, now: now)
        }
    }
}
