public import GimbalCore
public import Glibc

/// Role of the RedBearLab service: it receives bytes from a client, and sends bytes to all clients.
///
/// The thread airframed-ble makes all calls, one at a time; a call must not block.
public protocol SerialRole: AnyObject {
    /// The name of the role in configuration and log.
    var name: String { get }
    /// Handles bytes from a client. The bytes are parts of a stream, not whole messages.
    func receive(
        _ bytes: [UInt8], from central: Central, now: Instant, _ output: inout SerialOutput)
    /// Counters of the role since the start, by name.
    var counts: [String: Int] { get }
    /// Sets the speed of the role's serial port, if the role has a serial port.
    func setBaud(_ bitsPerSecond: Int)
    /// Handles the end of a connection: the motion that the client requested must stop.
    func disconnected(_ central: Central, now: Instant)
    /// Descriptor and events for poll(2); nil if the role has none.
    var entry: pollfd? { get }
    /// Handles an event of the role's descriptor, even if no client is subscribed.
    func ready(now: Instant, _ output: inout SerialOutput)
    /// Outputs bytes of the role that are due. The method is called only while a client is
    /// subscribed.
    ///
    /// - Returns: Time at which `advance` must be called again; nil if it need not be called before
    ///   the next event.
    func advance(now: Instant, _ output: inout SerialOutput) -> Instant?
}

extension SerialRole {
    /// The default implementation: the role has no counters.
    public var counts: [String: Int] { [:] }
    /// The default implementation: the role has no descriptor.
    public var entry: pollfd? { nil }
    /// The default implementation: the role has no descriptor.
    public func ready(now: Instant, _ output: inout SerialOutput) {}
    /// The default implementation: the role has no serial port.
    public func setBaud(_ bitsPerSecond: Int) {}
    /// The default implementation: clients of the role request no motion.
    public func disconnected(_ central: Central, now: Instant) {}
    /// The default implementation: the role has no deadline.
    public func advance(now: Instant, _ output: inout SerialOutput) -> Instant? { nil }
}
