import GimbalCore

/// Which phones are connected, which have keys, and how much each may write. Pure; devices are bluetoothd's names.
struct CentralRegistry {
    /// A phone that is connected.
    struct Entry {
        let central: Central
        var mtu: Int?
        /// Beyond the limit: it is being disconnected, and nothing of it is carried out.
        let isRefused: Bool
        fileprivate var bucket: TokenBucket
    }

    /// A device that bluetoothd keeps.
    private struct Known {
        var name = ""
        var isPaired = false
    }

    /// Refused phones that are remembered until they are gone: more than a radio can be connected to.
    private static let mostRefused = 32
    /// Devices that are remembered: more than bluetoothd keeps of its own accord.
    private static let mostKnown = 256

    private(set) var entries: [String: Entry] = [:]
    private var known: [String: Known] = [:]
    private let limit: Int
    private let writesPerSecond: Double
    private var nextConnection = 1

    /// Nobody is connected.
    init(limit: Int, writesPerSecond: Double) {
        self.limit = limit
        self.writesPerSecond = writesPerSecond
    }

    /// Those whose requests are carried out, in the order in which they came.
    var connected: [Entry] {
        entries.values.filter { !$0.isRefused }
            .sorted { $0.central.connection < $1.central.connection }
    }

    /// Smallest ATT MTU of those who told theirs, 23 when nobody did.
    var mtu: Int { connected.compactMap(\.mtu).min() ?? 23 }

    /// Devices with keys.
    var bonds: [(address: String, name: String, device: String)] {
        known.filter(\.value.isPaired)
            .map { (Self.address(of: $0.key), $0.value.name, $0.key) }
            .sorted { $0.address < $1.address }
    }

    /// A connection began, or was found to exist.
    ///
    /// - Returns: The new entry; nil when it was known, or when there are more than a radio can be connected to.
    mutating func connect(_ device: String) -> Entry? {
        guard entries[device] == nil, entries.count < limit + Self.mostRefused else { return nil }
        let entry = Entry(
            central: Central(address: Self.address(of: device), connection: nextConnection),
            isRefused: connected.count >= limit,
            bucket: TokenBucket(burst: writesPerSecond, perSecond: writesPerSecond))
        nextConnection += 1
        entries[device] = entry
        return entry
    }

    /// A connection ended.
    ///
    /// - Returns: What it was.
    mutating func disconnect(_ device: String) -> Entry? {
        entries.removeValue(forKey: device)
    }

    /// Everybody is gone, with bluetoothd. Keys are listed anew when it is back.
    ///
    /// - Returns: Those whose requests were carried out.
    mutating func disconnectAll() -> [Entry] {
        defer {
            entries = [:]
            known = [:]
        }
        return connected
    }

    /// A request said what the connection's MTU is.
    mutating func learn(mtu: Int?, of device: String) {
        if let mtu { entries[device]?.mtu = min(max(mtu, 23), 517) }
    }

    /// Whether this write of the device is within what it may write.
    mutating func admitsWrite(of device: String, now: Instant) -> Bool {
        entries[device]?.bucket.take(now: now) ?? false
    }

    /// A device has keys, or no longer.
    mutating func setPaired(_ device: String, _ isPaired: Bool) {
        remember(device) { $0.isPaired = isPaired }
    }

    /// What a device calls itself.
    mutating func setName(_ device: String, _ name: String) {
        remember(device) { $0.name = name }
    }

    /// Bounded: a device without keys makes room.
    private mutating func remember(_ device: String, _ change: (inout Known) -> Void) {
        if known[device] == nil, known.count >= Self.mostKnown {
            guard let other = known.first(where: { !$0.value.isPaired }) else { return }
            known[other.key] = nil
        }
        change(&known[device, default: Known()])
    }

    /// Devices that are remembered, connected or not.
    var remembered: Int { Set(known.keys).union(entries.keys).count }

    /// bluetoothd no longer keeps a device.
    mutating func remove(_ device: String) {
        known[device] = nil
    }

    /// ".../dev_C0_1A_B0_00_00_02" → "C0:1A:B0:00:00:02".
    static func address(of device: String) -> String {
        let last = device.split(separator: "/").last ?? ""
        return last.dropFirst(last.hasPrefix("dev_") ? 4 : 0)
            .map { $0 == "_" ? ":" : String($0) }.joined()
    }
}
