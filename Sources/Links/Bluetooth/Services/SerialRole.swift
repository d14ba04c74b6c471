public import GimbalCore
public import Glibc

/// What stands behind the RedBearLab service: bytes from a client go in, bytes for the clients come out.
///
/// Thread airframed-ble, one call at a time; none may wait.
public protocol SerialRole: AnyObject {
    /// The name in configuration and log.
    var name: String { get }
    /// What a client wrote, as it came: pieces of a stream, not messages.
    func receive(
        _ bytes: [UInt8], from central: Central, now: Instant, _ output: inout SerialOutput)
    /// What it has counted, by name.
    var counts: [String: Int] { get }
    /// The speed that a client wants of the serial port, if there is one.
    func setBaud(_ bitsPerSecond: Int)
    /// A connection ended; what it moves must stand still.
    func disconnected(_ central: Central, now: Instant)
    /// What poll(2) is to look at for it; nil: nothing.
    var entry: pollfd? { get }
    /// poll(2) has found what it looked for. Called also while nobody listens.
    func ready(now: Instant, _ output: inout SerialOutput)
    /// Hands out what is due. Not called while nobody listens.
    ///
    /// - Returns: When it wants to be called next; nil: not before something else happens.
    func advance(now: Instant, _ output: inout SerialOutput) -> Instant?
}

extension SerialRole {
    /// Nothing is counted.
    public var counts: [String: Int] { [:] }
    /// Nothing is waited for.
    public var entry: pollfd? { nil }
    /// Nothing is waited for.
    public func ready(now: Instant, _ output: inout SerialOutput) {}
    /// There is no port.
    public func setBaud(_ bitsPerSecond: Int) {}
    /// Nothing moves.
    public func disconnected(_ central: Central, now: Instant) {}
    /// Nothing is due by itself.
    public func advance(now: Instant, _ output: inout SerialOutput) -> Instant? { nil }
}
