public import GimbalCore
public import Glibc

/// 128-bit UUID as lower-case text, such as "4fafc201-1fb5-459e-8fcc-c5c9c331914b".
public struct GATTUUID: Hashable, Sendable, CustomStringConvertible {
    /// Text of the UUID, 36 characters.
    public let description: String

    /// Creates a UUID from its 36 characters, in upper or lower case. The process traps for invalid
    /// text, because an invalid UUID is a programming error.
    public init(_ text: String) {
        precondition(text.utf8.count == 36, "not a 128-bit UUID: \(text)")
        description = text.lowercased()
    }
}

/// Connection of one phone, tablet or computer to the peripheral; Bluetooth calls the device a
/// central.
public struct Central: Hashable, Sendable, CustomStringConvertible {
    /// Bluetooth address, such as "C0:1A:B0:00:00:02". A phone that has not paired changes its
    /// address every few minutes.
    public var address: String
    /// ID of the connection, unique while the process runs. A central that connects again gets
    /// another ID.
    public var connection: Int

    /// Creates the identity of a connection.
    public init(address: String, connection: Int) {
        self.address = address
        self.connection = connection
    }

    /// Name of the connection in messages, such as "phone C0:1A:B0:00:00:02 (connection 3)".
    public var description: String { "phone \(address) (connection \(connection))" }
}

/// Error that the central receives for a read or write (Bluetooth Core 5.3, Vol 3, Part F, 3.4.1.1;
/// 0x80 to 0x9F belong to the application).
public enum ATTError: Error, Hashable, Sendable {
    /// Error 0x0D: the written value has a length that the attribute cannot have.
    case invalidLength
    /// Error 0x08: the request is not allowed for this central, or not allowed now.
    case notAuthorized
    /// Error 0x06: the request is not supported.
    case notSupported
    /// Application error, 0x80...0x9F.
    case application(UInt8)
}

/// A characteristic that the peripheral publishes.
public struct GATTCharacteristic: Hashable, Sendable {
    /// Access of a central to a characteristic (Core 5.3, Vol 3, Part G, 3.3.1.1).
    public enum Property: Hashable, Sendable, CaseIterable {
        /// Reads are supported.
        case read
        /// Write with response is supported.
        case write
        /// Write without response is supported; the central receives no error response for a write.
        /// If a characteristic supports write without response, BlueZ does not report errors even
        /// for a write with response.
        case writeWithoutResponse
        /// Values are sent to all subscribers.
        case notify
    }

    /// UUID of the characteristic, unique in the peripheral.
    public var uuid: GATTUUID
    /// Allowed access.
    public var properties: Set<Property>
    /// Name of the characteristic in its user description (descriptor 0x2901).
    public var name: String

    /// Creates a characteristic.
    public init(uuid: GATTUUID, properties: Set<Property>, name: String) {
        self.uuid = uuid
        self.properties = properties
        self.name = name
    }
}

/// Interface through which a service sends notifications and defers answers during a call.
public protocol GATTNotifier {
    /// Sends a value to all subscribers. The method never waits. A value without a subscriber is
    /// dropped.
    func notify(_ characteristic: GATTUUID, _ value: [UInt8])

    /// Defers the present write response until a write to the disk is complete. This method must be
    /// called only within `GATTService.write`. If `GATTService.write` throws, the central
    /// immediately receives the error.
    ///
    /// - Returns: Closure that sends the write response: nil means success. Call the closure once,
    ///   on any thread.
    func answerLater() -> @Sendable (ATTError?) -> Void
}

extension GATTNotifier {
    /// Default implementation for notifiers that cannot defer answers: the returned function
    /// ignores the answer.
    public func answerLater() -> @Sendable (ATTError?) -> Void { { _ in } }
}

extension GATTService {
    /// The service has a separate advertisement.
    public var isAdvertised: Bool { true }
}

/// GATT primary service that answers requests. The thread airframed-ble makes all calls, one at a
/// time; a call must not block.
public protocol GATTService: AnyObject {
    /// UUID of the service.
    var uuid: GATTUUID { get }
    /// True if the service has a separate advertisement. Services without an advertisement come
    /// last.
    var isAdvertised: Bool { get }
    /// The complete name in the service's advertisement. A central can change this name by a write.
    var advertisedName: String { get }
    /// The service's characteristics in the order of their handles. The order must be the same at
    /// every start, because phones cache the handles.
    var characteristics: [GATTCharacteristic] { get }
    /// The service's counters since the start, by their names in `status`.
    var counts: [String: Int] { get }

    /// The present value of a readable characteristic.
    ///
    /// - Throws: The error that is sent to the central.
    func read(
        _ characteristic: GATTUUID, by central: Central, now: Instant
    ) throws(ATTError) -> [UInt8]

    /// Executes a central's complete write of at most 512 bytes. The service can send a
    /// notification in reply.
    ///
    /// - Throws: The error that is sent to the central; the write has had no effect.
    func write(
        _ characteristic: GATTUUID, _ value: [UInt8], by central: Central, now: Instant,
        _ notifier: some GATTNotifier
    ) throws(ATTError)

    /// True if a write of `value` requests an emergency stop.
    func isEmergencyStop(_ characteristic: GATTUUID, _ value: [UInt8]) -> Bool

    /// Begins the notifications of a characteristic after the first central has subscribed. Ends
    /// the notifications after the last central has unsubscribed. BlueZ does not identify the
    /// central.
    func subscription(_ characteristic: GATTUUID, isOn: Bool, now: Instant)

    /// Stops the motion that a central has requested, because the central's connection has ended.
    /// If no other central is connected, the subscriptions have already ended.
    func disconnected(_ central: Central, now: Instant)

    /// Descriptor and events of the service for poll(2); nil if the service has none.
    var entry: pollfd? { get }

    /// Reads from or writes to the service's descriptor after an event of poll(2).
    func ready(now: Instant)

    /// Sends the service's output that is due. `advance` is also called after every call of another
    /// method of the service. A notification contains at most `mtu` minus three bytes. `mtu` is the
    /// smallest size of an ATT packet of the connected centrals, 23...517; 23 if a size is unknown.
    ///
    /// - Returns: Time at which `advance` must be called again; nil if no call is needed before the
    ///   next event.
    func advance(now: Instant, mtu: Int, _ notifier: some GATTNotifier) -> Instant?
}

extension GATTService {
    /// The default implementation: the service has no emergency stop.
    public func isEmergencyStop(_ characteristic: GATTUUID, _ value: [UInt8]) -> Bool { false }
    /// The default implementation: the service has no descriptor.
    public var entry: pollfd? { nil }
    /// The default implementation: the service has no descriptor.
    public func ready(now: Instant) {}
}
