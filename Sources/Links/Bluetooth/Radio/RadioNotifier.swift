/// Table of the characteristics of all services, numbered as in CBlueZ.
struct CharacteristicTable {
    private let entries: [(service: Int, uuid: GATTUUID)]
    private let indices: [GATTUUID: Int]

    /// Creates the table of the given services' characteristics.
    init(_ services: [any GATTService]) {
        entries = services.enumerated().flatMap { index, service in
            service.characteristics.map { (index, $0.uuid) }
        }
        indices = Dictionary(uniqueKeysWithValues: entries.enumerated().map { ($1.uuid, $0) })
    }

    /// Service and UUID of the characteristic with the given index.
    subscript(index: Int) -> (service: Int, uuid: GATTUUID) { entries[index] }

    /// The index of a characteristic in the table.
    func index(of uuid: GATTUUID) -> Int? { indices[uuid] }
}

/// Subscriptions to the characteristics. For each characteristic, bluetoothd reports only whether
/// at least one central has subscribed.
final class Subscriptions {
    /// Characteristics for which bluetoothd has started notifications.
    private var started: Set<Int> = []
    /// True if notifications are paused, because no central is connected.
    private(set) var isPaused = false

    /// Records that bluetoothd has started or stopped the notifications of a characteristic.
    /// bluetoothd starts notifications only for a connected central, so the start ends a pause.
    ///
    /// - Returns: Characteristics for which notifications must be started or stopped.
    func setStarted(_ index: Int, _ isOn: Bool) -> [Int] {
        guard isOn else { return started.remove(index) != nil && !isPaused ? [index] : [] }
        let isNew = started.insert(index).inserted
        return isPaused ? resume() : isNew ? [index] : []
    }

    /// Records that the last central has disconnected.
    ///
    /// - Returns: Characteristics for which notifications must be stopped.
    func pause() -> [Int] {
        guard !isPaused else { return [] }
        isPaused = true
        return started.sorted()
    }

    /// Records that a central has connected.
    ///
    /// - Returns: Characteristics for which notifications must be started.
    func resume() -> [Int] {
        guard isPaused else { return [] }
        isPaused = false
        return started.sorted()
    }

    /// Removes all subscriptions, because bluetoothd has exited.
    func forget() { started = [] }

    /// True if a notification of the characteristic would reach a central.
    func isOn(_ index: Int) -> Bool { !isPaused && started.contains(index) }
}

/// Sender of the services' notifications. The sender counts the notifications, and drops
/// notifications without a subscriber.
struct RadioNotifier: GATTNotifier {
    /// Counters of the sent notifications and of the dropped notifications.
    final class Counts {
        var sent = 0
        var dropped = 0
    }

    /// State of the write request that the service is executing now.
    final class Write {
        var token: UInt64 = 0
        var isLeftForLater = false
    }

    let bus: BlueZBus
    let mailbox: BluetoothMailbox
    let write = Write()
    let table: CharacteristicTable
    let subscriptions = Subscriptions()
    let counts = Counts()

    func notify(_ characteristic: GATTUUID, _ value: [UInt8]) {
        guard let index = table.index(of: characteristic), subscriptions.isOn(index) else { return }
        if bus.notify(index, value) == 0 { counts.sent += 1 } else { counts.dropped += 1 }
    }

    func answerLater() -> @Sendable (ATTError?) -> Void {
        write.isLeftForLater = true
        let (mailbox, token) = (mailbox, write.token)
        return { mailbox.post(.answer(token: token, $0)) }
    }
}
