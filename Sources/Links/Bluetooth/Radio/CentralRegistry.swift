import GimbalCore
import Port

/// Registry of phones: their connections, their keys, and the rate of their writes. The type uses
/// no clock and makes no D-Bus calls. The D-Bus object path identifies a device.
struct CentralRegistry {
    /// A connected phone.
    struct Entry {
        let central: Central
        var mtu: Int?
        /// True if the phone connected when the maximum number of phones was already connected. A
        /// refused phone is disconnected, and its requests are ignored.
        let isRefused: Bool
        fileprivate var bucket: TokenBucket
    }

    /// Properties of a Bluetooth device in bluetoothd's list.
    private struct Device {
        var name = ""
        var icon = ""
        var isPaired = false
        /// True if the device has sent a request to one of the services.
        var usesServices = false
    }

    /// Largest number of refused phones in the registry; no radio supports more connections.
    private static let mostRefused = 32
    /// Largest number of devices in the registry; by default, bluetoothd keeps fewer devices.
    private static let mostKnown = 256

    private(set) var entries: [String: Entry] = [:]
    private var known: [String: Device] = [:]
    private let limit: Int
    private let writesPerSecond: Double
    private let prefersPaired: Bool
    private var nextConnection = 1

    /// Creates a registry that contains no phones.
    ///
    /// - Parameters:
    ///   - limit: Largest number of accepted phones.
    ///   - writesPerSecond: Largest number of writes per second from one phone.
    ///   - prefersPaired: True if only paired phones can use the services; a paired phone can then
    ///     replace a phone that is not paired.
    init(limit: Int, writesPerSecond: Double, prefersPaired: Bool = false) {
        self.limit = limit
        self.writesPerSecond = writesPerSecond
        self.prefersPaired = prefersPaired
    }

    /// Accepted phones, in the order of their connection.
    var connected: [Entry] {
        entries.values.filter { !$0.isRefused }
            .sorted { $0.central.connection < $1.central.connection }
    }

    /// Smallest size of an ATT packet (MTU) of the connections that can subscribe, bytes. The MTU of
    /// a phone without a request is unknown, and counts as 23, which is the smallest MTU that
    /// Bluetooth permits.
    var mtu: Int {
        entries.filter { !$0.value.isRefused && (!prefersPaired || isPaired($0.key)) }
            .map { $0.value.mtu ?? 23 }.min() ?? 23
    }

    /// Paired phones, for which bluetoothd has keys.
    var bonds: [(address: String, name: String, device: String)] {
        known.filter { $0.value.isPaired && isPhone($0.key) }
            .map { (Self.address(of: $0.key), $0.value.name, $0.key) }
            .sorted { $0.address < $1.address }
    }

    /// Registers a connection.
    ///
    /// - Returns: New entry of the registry; nil if the connection was already registered, or if
    ///   there are more connections than a radio can have.
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

    /// The accepted phone that a new connection of `device` replaces: of the phones that are not
    /// paired, the phone that connected first; nil if `device` needs no place, or is not paired.
    func stranger(toReplaceBy device: String) -> String? {
        guard prefersPaired, entries[device] == nil, isPaired(device), connected.count >= limit
        else { return nil }
        return entries.filter { !$0.value.isRefused && !isPaired($0.key) }
            .min { $0.value.central.connection < $1.value.central.connection }?.key
    }

    /// Marks a connection as closed.
    ///
    /// - Returns: The entry of the ended connection; nil if the connection was not registered.
    mutating func disconnect(_ device: String) -> Entry? {
        entries.removeValue(forKey: device)
    }

    /// Marks all connections as closed.
    ///
    /// - Returns: The accepted phones.
    mutating func disconnectAll() -> [Entry] {
        defer { entries = [:] }
        return connected
    }

    /// Removes the devices in bluetoothd's list, because bluetoothd has exited. After a restart,
    /// bluetoothd reports the devices with keys again.
    mutating func forgetDevices() { known = [:] }

    /// Records the MTU of a connection; each request of the phone contains the MTU.
    mutating func learn(mtu: Int?, of device: String) {
        if let mtu { entries[device]?.mtu = min(max(mtu, 23), 517) }
    }

    /// True if the device can write now without exceeding the limit of writes per second.
    mutating func admitsWrite(of device: String, now: Instant) -> Bool {
        entries[device]?.bucket.take(now: now) ?? false
    }

    /// Records whether bluetoothd has keys for a device.
    mutating func setPaired(_ device: String, _ isPaired: Bool) {
        remember(device) { $0.isPaired = isPaired }
    }

    private func isPaired(_ device: String) -> Bool { known[device]?.isPaired == true }

    /// Records the name of a device.
    mutating func setName(_ device: String, _ name: String) {
        remember(device) { $0.name = name }
    }

    /// Records the icon of a device.
    mutating func setIcon(_ device: String, _ icon: String) {
        remember(device) { $0.icon = icon }
    }

    /// Records a request of a device to one of the services.
    mutating func setUsesServices(_ device: String) {
        guard known[device]?.usesServices != true else { return }
        remember(device) { $0.usesServices = true }
    }

    /// True if the device is a phone, a computer, or a device without an icon, or if it uses the
    /// services. Devices of other kinds, such as gamepads and headsets, serve this computer.
    func isPhone(_ device: String) -> Bool {
        guard let known = known[device] else { return true }
        return known.usesServices || ["", "phone", "computer"].contains(known.icon)
    }

    /// Adds a device. If too many devices are stored, a device without keys is dropped.
    private mutating func remember(_ device: String, _ change: (inout Device) -> Void) {
        if known[device] == nil, known.count >= Self.mostKnown {
            guard let other = known.first(where: { !$0.value.isPaired }) else { return }
            known[other.key] = nil
        }
        change(&known[device, default: Device()])
    }

    /// Number of devices in the registry, connected or not.
    var remembered: Int { Set(known.keys).union(entries.keys).count }

    /// Removes a device from the registry after bluetoothd has removed the device.
    mutating func remove(_ device: String) {
        known[device] = nil
    }

    /// Bluetooth address in a device's D-Bus object path: ".../dev_C0_1A_B0_00_00_02" contains
    /// "C0:1A:B0:00:00:02".
    static func address(of device: String) -> String {
        let last = device.split(separator: "/").last ?? ""
        return last.dropFirst(last.hasPrefix("dev_") ? 4 : 0)
            .map { $0 == "_" ? ":" : String($0) }.joined()
    }
}
