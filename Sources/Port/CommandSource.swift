/// Source of requests for motion: one value for each connection, not for each kind of link.
public struct CommandSource: Hashable, Sendable, CustomStringConvertible {
    /// Link that a request arrives on.
    public enum Link: String, Sendable, CaseIterable {
        /// The diagnostics socket: a person at the machine.
        case diagnostics
        /// The AirOS service over Bluetooth.
        case airos
        /// The RedBearLab service over Bluetooth.
        case rbl
        /// The rider's datagrams.
        case udp
        /// A MAVLink peer.
        case mavlink
    }

    /// The link.
    public let link: Link
    /// Distinguishes the connections of one link.
    public let connection: UInt64

    /// Creates a source.
    public init(link: Link, connection: UInt64) {
        self.link = link
        self.connection = connection
    }

    /// Name for people, for example "diagnostics client 3" or "mavlink client 255/190".
    public var description: String {
        let number =
            link == .mavlink ? "\(connection >> 8 & 255)/\(connection & 255)" : "\(connection)"
        return "\(link.rawValue) client \(number)"
    }
}
