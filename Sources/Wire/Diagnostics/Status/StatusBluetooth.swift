/// State of the Bluetooth peripheral: its visibility to phones, and the connected phones.
public struct BluetoothStatus: Hashable, Sendable, Codable {
    /// State: `starting` (until bluetoothd has its adapter, at most 2 s after its first answer),
    /// `no bus`, `no bluetoothd`, `refused` (bluetoothd does not list its objects), `no adapter`,
    /// `adapter off`, `registering` or `advertising`.
    public var state = "starting"
    /// Bluetooth problem and its remedy, as text for the user; absent while the peripheral
    /// advertises.
    public var sentence: String?
    /// The last Bluetooth problem, even if it no longer exists.
    public var lastError: String?
    /// Name of the Bluetooth adapter, for example "hci0"; absent if there is none.
    public var adapter: String?
    /// Bluetooth address of the adapter.
    public var address: String?
    /// Name that the adapter shows to connected phones; absent until the adapter reports it.
    public var alias: String?
    /// Configured name for the advertisements.
    public var name = ""
    /// Value of the setting `bluetooth.security`: `open` or `encrypted`.
    public var security = ""
    /// State of each advertisement.
    public var advertisements: [AdvertisementStatus] = []
    /// Number of free advertising instances of the adapter; absent if the adapter does not report
    /// it.
    public var freeSlots: Int?
    /// Connected phones.
    public var centrals: [CentralStatus] = []
    /// Paired phones.
    public var bonds: [BondStatus] = []
    /// Pairing that is allowed or in progress; absent otherwise.
    public var pairing: PairingStatus?
    /// Counters of Bluetooth events since the start.
    public var counters = BluetoothCounters()
    /// Number of unanswered calls to bluetoothd, plus the number of queued D-Bus messages.
    public var pendingCalls = 0
    /// Number of subscriptions to signals of bluetoothd.
    public var matches = 0

    /// Creates a status of the Bluetooth peripheral with unknown values.
    public init() {}

    /// Copy of this status without the passkey of a pairing, for clients that cannot pair phones.
    public var withoutPasskey: BluetoothStatus {
        var status = self
        status.pairing?.passkey = nil
        return status
    }
}

/// State of a service and its advertisement.
public struct AdvertisementStatus: Hashable, Sendable, Codable {
    /// Service in the advertisement.
    public var uuid: String
    /// Complete name in the advertisement.
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
    /// Passkey to type on the phone, six digits; absent until a phone requests pairing, and absent
    /// for clients that cannot pair phones.
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
    /// Number of exits of bluetoothd or the D-Bus daemon.
    public var restarts = 0
    /// Number of registrations of all services with bluetoothd.
    public var registrations = 0
    /// Number of repeated registrations of advertisements after a disconnection. The repetition is
    /// necessary because bluetoothd can drop an advertisement silently.
    public var renewedAdvertisements = 0
    /// Number of advertisements that bluetoothd released or the adapter stopped sending completely.
    public var lostAdvertisements = 0
    /// Number of connections since the start.
    public var connections = 0
    /// Number of connections that were closed immediately because the limit was reached.
    public var refusedConnections = 0
    /// Number of writes that a service received.
    public var writes = 0
    /// Number of writes that were refused because the phone exceeded the permitted write rate.
    public var refusedWrites = 0
    /// Number of writes that a service refused.
    public var invalidWrites = 0
    /// Number of notifications that were sent.
    public var notifications = 0
    /// Number of notifications dropped because bluetoothd had not accepted the previous ones.
    public var droppedNotifications = 0

    /// Creates counters at zero.
    public init() {}
}
