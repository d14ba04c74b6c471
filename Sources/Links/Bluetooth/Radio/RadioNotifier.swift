/// Which service has which characteristic, counted over all services as the shim does.
struct CharacteristicTable {
    private let entries: [(service: Int, uuid: GATTUUID)]
    private let indices: [GATTUUID: Int]

    /// The table of these services.
    init(_ services: [any GATTService]) {
        entries = services.enumerated().flatMap { index, service in
            service.characteristics.map { (index, $0.uuid) }
        }
        indices = Dictionary(uniqueKeysWithValues: entries.enumerated().map { ($1.uuid, $0) })
    }

    /// Characteristic number `index`.
    subscript(index: Int) -> (service: Int, uuid: GATTUUID) { entries[index] }

    /// The number of a characteristic.
    func index(of uuid: GATTUUID) -> Int? { indices[uuid] }
}

/// Who wants notifications, as far as bluetoothd says: whether anybody does, per characteristic.
final class Subscriptions {
    /// What bluetoothd has started.
    private var started: Set<Int> = []
    /// No central is connected, so nothing is sent although it was started.
    private(set) var isPaused = false

    /// - Returns: Whether that changes what the service is to do.
    func setStarted(_ index: Int, _ isOn: Bool) -> Bool {
        if isOn {
            let isNew = started.insert(index).inserted
            // A subscription is a sign that somebody is connected; who, a later event tells.
            return isNew && !isPaused
        }
        return started.remove(index) != nil && !isPaused
    }

    /// The last central has gone.
    ///
    /// - Returns: What ends with it.
    func pause() -> [Int] {
        guard !isPaused else { return [] }
        isPaused = true
        return started.sorted()
    }

    /// A central has come.
    ///
    /// - Returns: What begins with it.
    func resume() -> [Int] {
        guard isPaused else { return [] }
        isPaused = false
        return started.sorted()
    }

    /// bluetoothd is gone.
    func forget() { started = [] }

    /// Whether a value would reach anybody.
    func isOn(_ index: Int) -> Bool { !isPaused && started.contains(index) }
}

/// Sends what the services notify, counts it, and drops what nobody wants.
struct RadioNotifier: GATTNotifier {
    /// What was sent and what was not.
    final class Counts {
        var sent = 0
        var dropped = 0
    }

    /// The write that is being carried out.
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
