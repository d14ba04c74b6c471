public import GimbalCore
public import Glibc

/// A 128-bit UUID in its text form, lower case: "4fafc201-1fb5-459e-8fcc-c5c9c331914b".
public struct GATTUUID: Hashable, Sendable, CustomStringConvertible {
    /// The 36 characters.
    public let description: String

    /// A UUID from its 36 characters in either case; a program that names another text is wrong and ends.
    public init(_ text: String) {
        precondition(text.utf8.count == 36, "not a 128-bit UUID: \(text)")
        description = text.lowercased()
    }
}

/// A phone, tablet or computer that is connected: one connection of one central.
public struct Central: Hashable, Sendable, CustomStringConvertible {
    /// Its Bluetooth address, "C0:1A:B0:00:00:02"; phones change theirs every few minutes unless bonded.
    public var address: String
    /// Unique in the life of the process: a central that comes back is another one.
    public var connection: Int

    /// A connection of this central.
    public init(address: String, connection: Int) {
        self.address = address
        self.connection = connection
    }

    /// "phone C0:1A:B0:00:00:02 (connection 3)".
    public var description: String { "phone \(address) (connection \(connection))" }
}

/// Why a read or write is refused, as the central hears it (Bluetooth Core 5.3, Vol 3, Part F, 3.4.1.1; 0x80 to 0x9F
/// belong to the application).
public enum ATTError: Error, Hashable, Sendable {
    /// 0x0D: the value has a length that the attribute cannot have.
    case invalidLength
    /// 0x08: not for this central, or not now.
    case notAuthorized
    /// 0x06: the request is not understood.
    case notSupported
    /// 0x80...0x9F.
    case application(UInt8)
}

/// A characteristic as it is published.
public struct GATTCharacteristic: Hashable, Sendable {
    /// Access of a central to a characteristic (Core 5.3, Vol 3, Part G, 3.3.1.1).
    public enum Property: Hashable, Sendable, CaseIterable {
        /// Reads are answered.
        case read
        /// Writes are answered.
        case write
        /// Writes without an answer; the central never hears of an error, nor, under BlueZ, for writes with one.
        case writeWithoutResponse
        /// Values are sent to all subscribers.
        case notify
    }

    /// Unique among all characteristics of the peripheral.
    public var uuid: GATTUUID
    /// Allowed access.
    public var properties: Set<Property>
    /// For people, in the user description (descriptor 0x2901).
    public var name: String

    /// A characteristic with this UUID.
    public init(uuid: GATTUUID, properties: Set<Property>, name: String) {
        self.uuid = uuid
        self.properties = properties
        self.name = name
    }
}

/// Access of a service to the radio during a call.
public protocol GATTNotifier {
    /// Sends a value to every central that subscribed; never waits. A value that nobody subscribed to is dropped.
    func notify(_ characteristic: GATTUUID, _ value: [UInt8])

    /// Leaves the answer to the present write for later, because it has to wait for a disk. Only from inside
    /// `GATTService.write`, which then returns; where it throws instead, the central hears that at once.
    ///
    /// - Returns: Takes the answer, once, on any thread; nil: done.
    func answerLater() -> @Sendable (ATTError?) -> Void
}

extension GATTNotifier {
    /// A write without an answer.
    public func answerLater() -> @Sendable (ATTError?) -> Void { { _ in } }
}

/// A primary service and what answers for it. Everything is called on the thread airframed-ble, one call at a time;
/// none may wait for anything.
public protocol GATTService: AnyObject {
    /// The service's UUID; it is in an advertisement of its own.
    var uuid: GATTUUID { get }
    /// The name in its advertisement, complete, never shortened. A write may have changed it.
    var advertisedName: String { get }
    /// In the order in which they get their handles, which must be the same at every start: phones remember them.
    var characteristics: [GATTCharacteristic] { get }
    /// Counters since the start, by their names in `status`.
    var counts: [String: Int] { get }

    /// The present value of a readable characteristic.
    ///
    /// - Throws: The error for the central.
    func read(
        _ characteristic: GATTUUID, by central: Central, now: Instant
    ) throws(ATTError) -> [UInt8]

    /// A central's write, whole: at most 512 bytes. It may answer by notification.
    ///
    /// - Throws: The error for the central; then nothing has changed.
    func write(
        _ characteristic: GATTUUID, _ value: [UInt8], by central: Central, now: Instant,
        _ notifier: some GATTNotifier
    ) throws(ATTError)

    /// The first central subscribed, or the last one unsubscribed. BlueZ does not say which one.
    func subscription(_ characteristic: GATTUUID, isOn: Bool, now: Instant)

    /// A connection ended; by then every subscription of a lone central has ended too.
    func disconnected(_ central: Central, now: Instant)

    /// Descriptor and events of the service for poll(2); nil: none.
    var entry: pollfd? { get }

    /// poll(2) has found it.
    func ready(now: Instant)

    /// Sends what is due; called after every call above as well. A notification carries three bytes less than `mtu`, which is the smallest ATT MTU among the
    /// connected centrals that told theirs, 23...517.
    ///
    /// - Returns: When it wants to be called next; nil: not before something else happens.
    func advance(now: Instant, mtu: Int, _ notifier: some GATTNotifier) -> Instant?
}

extension GATTService {
    /// The default: no descriptor.
    public var entry: pollfd? { nil }
    /// The default: no descriptor.
    public func ready(now: Instant) {}
}
