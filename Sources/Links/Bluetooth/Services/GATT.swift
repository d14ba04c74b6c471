public import GimbalCore
public import Glibc

/// A 128-bit UUID in its text form, lower case: "4fafc201-1fb5-459e-8fcc-c5c9c331914b".
public struct GATTUUID: Hashable, Sendable, CustomStringConvertible {
    /// The 36 characters.
    public let description: String

    /// Creates a UUID from its 36 characters in either case; another text ends the program, as a
    /// bug.
    public init(_ text: String) {
        precondition(text.utf8.count == 36, "not a 128-bit UUID: \(text)")
        description = text.lowercased()
    }
}

/// A connected phone, tablet or computer: one connection of one central.
public struct Central: Hashable, Sendable, CustomStringConvertible {
    /// Bluetooth address, "C0:1A:B0:00:00:02"; phones change theirs every few minutes unless
    /// bonded.
    public var address: String
    /// Number of the connection, unique in the life of the process: a central that returns gets
    /// another number.
    public var connection: Int

    /// A connection of this central.
    public init(address: String, connection: Int) {
        self.address = address
        self.connection = connection
    }

    /// "phone C0:1A:B0:00:00:02 (connection 3)".
    public var description: String { "phone \(address) (connection \(connection))" }
}

/// Error of a read or write for the central (Bluetooth Core 5.3, Vol 3, Part F, 3.4.1.1; 0x80 to
/// 0x9F belong to the application).
public enum ATTError: Error, Hashable, Sendable {
    /// 0x0D: the value has a length that the attribute cannot have.
    case invalidLength
    /// 0x08: not allowed for this central, or not now.
    case notAuthorized
    /// 0x06: the request is not supported.
    case notSupported
    /// 0x80...0x9F.
    case application(UInt8)
}

/// A published characteristic.
public struct GATTCharacteristic: Hashable, Sendable {
    /// Access of a central to a characteristic (Core 5.3, Vol 3, Part G, 3.3.1.1).
    public enum Property: Hashable, Sendable, CaseIterable {
        /// Reads are supported.
        case read
        /// Writes with an answer are supported.
        case write
        /// Writes without an answer are supported; the central receives no errors, with BlueZ not
        /// even for writes with an answer.
        case writeWithoutResponse
        /// Values are sent to all subscribers.
        case notify
    }

    /// Unique among all characteristics of the peripheral.
    public var uuid: GATTUUID
    /// Allowed access.
    public var properties: Set<Property>
    /// Name for people, in the user description (descriptor 0x2901).
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
    /// Sends a value to all subscribers; never waits. A value without a subscriber is dropped.
    func notify(_ characteristic: GATTUUID, _ value: [UInt8])

    /// Defers the answer to the present write, because it waits for a disk. Only within
    /// `GATTService.write`, which then returns; if it throws instead, the central receives that
    /// error at once.
    ///
    /// - Returns: Receiver of the answer, to be called once, on any thread; nil means success.
    func answerLater() -> @Sendable (ATTError?) -> Void
}

extension GATTNotifier {
    /// The default: the answer is ignored.
    public func answerLater() -> @Sendable (ATTError?) -> Void { { _ in } }
}

/// A primary service with its responder. All calls are made on the thread airframed-ble, one at a
/// time; no call must block.
public protocol GATTService: AnyObject {
    /// The service's UUID; it has a separate advertisement.
    var uuid: GATTUUID { get }
    /// The complete name in its advertisement. A write may have changed it.
    var advertisedName: String { get }
    /// The characteristics in the order of their handles, which must be the same at every start,
    /// because phones store the handles.
    var characteristics: [GATTCharacteristic] { get }
    /// Counters since the start, by their names in `status`.
    var counts: [String: Int] { get }

    /// The present value of a readable characteristic.
    ///
    /// - Throws: The error for the central.
    func read(
        _ characteristic: GATTUUID, by central: Central, now: Instant
    ) throws(ATTError) -> [UInt8]

    /// Handles a central's complete write of at most 512 bytes. The service can answer by
    /// notification.
    ///
    /// - Throws: The error for the central; in this case nothing has changed.
    func write(
        _ characteristic: GATTUUID, _ value: [UInt8], by central: Central, now: Instant,
        _ notifier: some GATTNotifier
    ) throws(ATTError)

    /// Handles the subscription of the first central, or the end of the last central's
    /// subscription. BlueZ does not identify the central.
    func subscription(_ characteristic: GATTUUID, isOn: Bool, now: Instant)

    /// Handles the end of a connection; all subscriptions of a lone central have ended by then.
    func disconnected(_ central: Central, now: Instant)

    /// Descriptor and events of the service for poll(2); nil without one.
    var entry: pollfd? { get }

    /// Handles an event of the descriptor.
    func ready(now: Instant)

    /// Sends due output; also called after every call above. A notification contains three bytes
    /// less than `mtu`, which is the smallest known ATT MTU among the connected centrals, 23...517.
    ///
    /// - Returns: Time of the next call; nil if none is needed without an event.
    func advance(now: Instant, mtu: Int, _ notifier: some GATTNotifier) -> Instant?
}

extension GATTService {
    /// The default: no descriptor.
    public var entry: pollfd? { nil }
    /// The default: no descriptor.
    public func ready(now: Instant) {}
}
