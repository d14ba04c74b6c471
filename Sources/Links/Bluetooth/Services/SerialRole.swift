public import GimbalCore
public import Glibc

/// Selectable behaviour of the RedBearLab serial service, such as a bridge to a serial port; the
/// setting `rbl.role` selects it. A role receives bytes from a client, and sends bytes to all
/// clients.
///
/// The thread airframed-ble makes all calls, one at a time; a call must not block.
public protocol SerialRole: AnyObject {
    /// Name of the role in the setting `rbl.role` and in the log.
    var name: String { get }
    /// Receives the next bytes of a client's stream. The bytes need not be whole messages.
    func receive(
        _ bytes: [UInt8], from central: Central, now: Instant, _ output: inout SerialOutput)
    /// True if the bytes of one write contain a complete emergency stop.
    func isEmergencyStop(_ bytes: [UInt8]) -> Bool
    /// Counters of the role since the start, by name.
    var counts: [String: Int] { get }
    /// Sets the speed of the role's serial port, if the role has a serial port.
    func setBaud(_ bitsPerSecond: Int)
    /// Stops the motion that a client has requested, because the client's connection has ended.
    func disconnected(_ central: Central, now: Instant)
    /// Descriptor and events for poll(2); nil if the role has none.
    var entry: pollfd? { get }
    /// Reads from or writes to the role's descriptor after an event of poll(2), even without a
    /// subscribed client.
    func ready(now: Instant, _ output: inout SerialOutput)
    /// Discards the output that the role itself stores, because no client is subscribed.
    func discard()
    /// Sends the role's output that is due. The method is called only while a client is subscribed.
    ///
    /// - Returns: Time at which `advance` must be called again; nil if no call is needed before the
    ///   next event.
    func advance(now: Instant, _ output: inout SerialOutput) -> Instant?
}

extension SerialRole {
    /// The default implementation: the role has no emergency stop.
    public func isEmergencyStop(_ bytes: [UInt8]) -> Bool { false }
    /// The default implementation: the role has no counters.
    public var counts: [String: Int] { [:] }
    /// The default implementation: the role has no descriptor.
    public var entry: pollfd? { nil }
    /// The default implementation: the role has no descriptor.
    public func ready(now: Instant, _ output: inout SerialOutput) {}
    /// The default implementation: the role stores no output.
    public func discard() {}
    /// The default implementation: the role has no serial port.
    public func setBaud(_ bitsPerSecond: Int) {}
    /// The default implementation: clients of the role request no motion.
    public func disconnected(_ central: Central, now: Instant) {}
    /// The default implementation: the role has no deadline.
    public func advance(now: Instant, _ output: inout SerialOutput) -> Instant? { nil }
}
