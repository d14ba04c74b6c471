public import GimbalCore
public import Glibc

/// Function of the RedBearLab service: its input is bytes from a client, its output bytes for the
/// clients.
///
/// Thread airframed-ble, one call at a time; none may wait.
public protocol SerialRole: AnyObject {
    /// The name in configuration and log.
    var name: String { get }
    /// Handles bytes from a client: pieces of a stream, not messages.
    func receive(
        _ bytes: [UInt8], from central: Central, now: Instant, _ output: inout SerialOutput)
    /// Counters, by name.
    var counts: [String: Int] { get }
    /// The speed that a client wants of the serial port, if there is one.
    func setBaud(_ bitsPerSecond: Int)
    /// A connection ended; what it moves must stand still.
    func disconnected(_ central: Central, now: Instant)
    /// Descriptor and events for poll(2); nil: none.
    var entry: pollfd? { get }
    /// poll(2) has found what it looked for. Called also while nobody listens.
    func ready(now: Instant, _ output: inout SerialOutput)
    /// Hands out what is due. Not called while nobody listens.
    ///
    /// - Returns: When it wants to be called next; nil: not before something else happens.
    func advance(now: Instant, _ output: inout SerialOutput) -> Instant?
}

extension SerialRole {
    /// The default: no counters.
    public var counts: [String: Int] { [:] }
    /// The default: no descriptor.
    public var entry: pollfd? { nil }
    /// The default: no descriptor.
    public func ready(now: Instant, _ output: inout SerialOutput) {}
    /// There is no port.
    public func setBaud(_ bitsPerSecond: Int) {}
    /// The default: no motion.
    public func disconnected(_ central: Central, now: Instant) {}
    /// The default: no deadline.
    public func advance(now: Instant, _ output: inout SerialOutput) -> Instant? { nil }
}
