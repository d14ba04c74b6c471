public import GimbalCore
public import Glibc

/// Function of the RedBearLab service: its input is bytes from a client, its output bytes for the
/// clients.
///
/// Thread airframed-ble, one call at a time; no call must block.
public protocol SerialRole: AnyObject {
    /// The name in configuration and log.
    var name: String { get }
    /// Handles bytes from a client: pieces of a stream, not messages.
    func receive(
        _ bytes: [UInt8], from central: Central, now: Instant, _ output: inout SerialOutput)
    /// Counters, by name.
    var counts: [String: Int] { get }
    /// Sets the speed of the serial port, if there is one.
    func setBaud(_ bitsPerSecond: Int)
    /// Handles the end of a connection: the motion that the client requested must stop.
    func disconnected(_ central: Central, now: Instant)
    /// Descriptor and events for poll(2); nil without one.
    var entry: pollfd? { get }
    /// Handles an event of the descriptor, even without a listener.
    func ready(now: Instant, _ output: inout SerialOutput)
    /// Outputs due bytes. Not called without a listener.
    ///
    /// - Returns: Time of the next call; nil if none is needed without an event.
    func advance(now: Instant, _ output: inout SerialOutput) -> Instant?
}

extension SerialRole {
    /// The default: no counters.
    public var counts: [String: Int] { [:] }
    /// The default: no descriptor.
    public var entry: pollfd? { nil }
    /// The default: no descriptor.
    public func ready(now: Instant, _ output: inout SerialOutput) {}
    /// The default: there is no port.
    public func setBaud(_ bitsPerSecond: Int) {}
    /// The default: no motion.
    public func disconnected(_ central: Central, now: Instant) {}
    /// The default implementation has no deadline.
    public func advance(now: Instant, _ output: inout SerialOutput) -> Instant? { nil }
}
