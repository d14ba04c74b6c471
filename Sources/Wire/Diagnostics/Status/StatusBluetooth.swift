/// State of the Bluetooth peripheral: whether phones can find it, and the connected phones.
public struct BluetoothStatus: Hashable, Sendable, Codable {
    /// State as a short phrase: "no bus", "no bluetoothd", "no adapter", "adapter off",
    /// "registering" or "advertising".
    public var state = "starting"
    /// Problem of Bluetooth and its remedy, as text for the user; absent while the peripheral
    /// advertises.
    public var sentence: String?
    /// The last problem of Bluetooth, even if it no longer exists.
    public var lastError: String?
    /// Name of the Bluetooth adapter, for example "hci0"; absent if there is none.
    public var adapter: String?
    /// Bluetooth address of the adapter.
    public var address: String?
    /// The name that a connected phone reads; absent until the adapter has reported it.
    public var alias: String?
    /// The name that the adapter must advertise.
    public var name = ""
    /// Value of the setting `bluetooth.security`: open or encrypted.
    public var security = ""
    /// State of each advertisement.
    public var advertisements: [AdvertisementStatus] = []
    /// Number of advertisements that the adapter can accept in addition to the present ones; absent
    /// if the adapter does not report this number.
    public var freeSlots: Int?
    /// Connected phones.
    public var centrals: [CentralStatus] = []
    /// Paired phones.
    public var bonds: [BondStatus] = []
    /// Pairing that is allowed or in progress; absent otherwise.
    public var pairing: PairingStatus?
    /// Numbers of Bluetooth events since the start.
    public var counters = BluetoothCounters()
    /// Number of calls to bluetoothd that have not been answered, plus the number of D-Bus messages
    /// that wait to be sent.
    public var pendingCalls = 0
    /// Number of subscriptions to signals of bluetoothd.
    public var matches = 0

    /// Creates a status of the Bluetooth peripheral whose values are unknown.
    public init() {}
}

/// State of a service and its advertisement.
public struct AdvertisementStatus: Hashable, Sendable, Codable {
    /// Service that the advertisement announces.
    public var uuid: String
    /// Complete name that the advertisement announces.
    public var name: String
    /// True if bluetoothd has accepted the advertisement.
    public var isRegistered: Bool
    /// Counters of the service since the start, by name.
    public var counts: [String: Int]

    /// Creates the state of an advertisement.
    public init(uuid: String, name: String, isRegistered: Bool, counts: [String: Int] = [:]) {
        self.uuid = uuid
        self.name = name
        self.counts = counts
        self.isRegistered = isRegistered
    }
}

/// A connected phone.
public struct CentralStatus: Hashable, Sendable, Codable {
    /// Bluetooth address of the phone.
    public var address: String
    /// Sequence number of the connection since the start.
    public var connection: Int
    /// Largest size of an ATT packet (MTU), bytes; absent until the phone's first read or write.
    public var mtu: Int?

    /// Creates a connection.
    public init(address: String, connection: Int, mtu: Int?) {
        self.address = address
        self.connection = connection
        self.mtu = mtu
    }
}

/// A paired device.
public struct BondStatus: Hashable, Sendable, Codable {
    /// Bluetooth address of the device.
    public var address: String
    /// Name of the phone.
    public var name: String

    /// Creates a paired device.
    public init(address: String, name: String) {
        self.address = address
        self.name = name
    }
}

/// Pairing that is allowed or in progress.
public struct PairingStatus: Hashable, Sendable, Codable {
    /// Remaining time of the pairing permission, s; 0 means that pairing is not allowed.
    public var remainingS: Number
    /// Passkey to type on the phone, six digits; absent until a phone requests pairing.
    public var passkey: String?
    /// The phone that requests pairing.
    public var address: String?

    /// Creates a state of pairing.
    public init(remainingS: Number, passkey: String? = nil, address: String? = nil) {
        self.remainingS = remainingS
        self.passkey = passkey
        self.address = address
    }
}

/// Events of the radio since the start.
public struct BluetoothCounters: Hashable, Sendable, Codable {
    /// Number of times that bluetoothd or the D-Bus daemon has ended.
    public var restarts = 0
    /// Number of times that all services were registered with bluetoothd.
    public var registrations = 0
    /// Number of advertisements that were registered again after a disconnection, because
    /// bluetoothd can drop an advertisement without a message.
    public var renewedAdvertisements = 0
    /// Number of advertisements that bluetoothd released, or that the adapter no longer sent
    /// completely.
    public var lostAdvertisements = 0
    /// Number of connections since the start.
    public var connections = 0
    /// Number of connections beyond the limit, which were ended immediately.
    public var refusedConnections = 0
    /// Number of writes that reached a service.
    public var writes = 0
    /// Number of writes that were refused because the phone sent more writes per second than
    /// permitted.
    public var refusedWrites = 0
    /// Number of writes that a service refused.
    public var invalidWrites = 0
    /// Number of notifications that were sent.
    public var notifications = 0
    /// Number of notifications that were dropped because bluetoothd had not accepted the previous
    /// notifications.
    public var droppedNotifications = 0

    /// Creates counters of zero.
    public init() {}
}
