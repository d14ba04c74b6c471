public import GimbalCore
public import Glibc
public import Wire

/// Battery Service of the Bluetooth SIG (BAS 1.0), with the characteristic Battery Level. Phones
/// show the battery level without an additional app. The service has no advertisement, because the
/// advertisements of the other services already announce the gimbal. Only the thread airframed-ble
/// uses the service.
public final class BatteryLevelService: GATTService {
    /// UUID of the assigned number 0x180F.
    public let uuid = GATTUUID("0000180f-0000-1000-8000-00805f9b34fb")
    /// UUID of the assigned number 0x2A19, Battery Level: one byte, 0...100 %.
    public static let level = GATTUUID("00002a19-0000-1000-8000-00805f9b34fb")
    /// The list is empty, because the service has no advertisement.
    public let advertisedName = ""
    /// The service has no advertisement.
    public let isAdvertised = false
    /// Battery Level.
    public let characteristics = [
        GATTCharacteristic(uuid: level, properties: [.read, .notify], name: "Battery Level")
    ]
    /// Number of notifications since the start.
    public private(set) var notifications = 0

    /// Interval between two checks for a new value, s.
    private static let period = 2.0
    private let battery: @Sendable () -> BatteryStatus?
    private var sent: UInt8?
    /// Time of the next check; nil if no central has subscribed.
    private var due: Instant?

    /// Creates a service.
    ///
    /// - Parameter battery: Function that returns the state of the battery.
    public init(battery: @escaping @Sendable () -> BatteryStatus?) { self.battery = battery }

    /// The counters of the service, by name.
    public var counts: [String: Int] { ["notifications": notifications] }

    private var percent: UInt8? {
        battery()?.percent.known.map { UInt8(min(max($0, 0), 100).rounded()) }
    }

    /// Returns the charge, %.
    ///
    /// - Throws: `noValue` if the charge is not known.
    public func read(
        _ characteristic: GATTUUID, by central: Central, now: Instant
    ) throws(ATTError) -> [UInt8] {
        guard let percent else { throw .noValue }
        return [percent]
    }

    /// Refuses every write.
    public func write(
        _ characteristic: GATTUUID, _ value: [UInt8], by central: Central, now: Instant,
        _ notifier: some GATTNotifier
    ) throws(ATTError) { throw .notSupported }

    /// Begins or ends the notifications.
    public func subscription(_ characteristic: GATTUUID, isOn: Bool, now: Instant) {
        sent = nil
        due = isOn ? now : nil
    }

    /// Does nothing, because clients of the service cannot request motion.
    public func disconnected(_ central: Central, now: Instant) {}

    /// The service has no descriptor.
    public var entry: pollfd? { nil }

    /// Does nothing, because the service has no descriptor.
    public func ready(now: Instant) {}

    /// Sends the charge to the subscribers after it has changed.
    public func advance(now: Instant, mtu: Int, _ notifier: some GATTNotifier) -> Instant? {
        guard let moment = due, now >= moment else { return due }
        if let percent, percent != sent {
            notifier.notify(Self.level, [percent])
            sent = percent
            notifications += 1
        }
        due = now.advanced(bySeconds: Self.period)
        return due
    }
}
