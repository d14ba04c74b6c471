/// Source of requests for motion. Each connection is a separate source.
public struct CommandSource: Hashable, Sendable, CustomStringConvertible {
    /// Link over which a request arrives.
    public enum Link: String, Sendable, CaseIterable {
        /// The diagnostics socket, for programs on the same computer.
        case diagnostics
        /// The AirOS service over Bluetooth.
        case airos
        /// The RedBearLab service over Bluetooth.
        case rbl
        /// Datagrams from a remote control for the wheels, as in the rider robot.
        case udp
        /// A MAVLink peer.
        case mavlink
        /// A companion program that follows a person; its requests arrive on the socket.
        case companion
        /// An assistant that acts for a person, such as a language model; its requests arrive on the
        /// socket.
        case assistant
        /// Buttons, sticks, dials and gamepads on this computer.
        case controls
    }

    /// Link of the source.
    public let link: Link
    /// ID of the connection, unique within the link.
    public let connection: UInt64
    /// Name that the client has given itself, for messages; empty without a name. Two sources can
    /// have the same name.
    public let name: String

    /// Creates a source.
    public init(link: Link, connection: UInt64, name: String = "") {
        self.link = link
        self.connection = connection
        self.name = name
    }

    /// Creates the source for a MAVLink component with the given system ID and component ID.
    public init(link: Link, system: UInt8, component: UInt8) {
        self.init(
            link: link,
            connection: Self.mavlinkRange | UInt64(system) << 8 | UInt64(component))
    }

    /// Bit in the IDs of MAVLink components, so that they differ from other connections of a link.
    private static let mavlinkRange: UInt64 = 1 << 32

    /// True if two sources are the same connection.
    public static func == (a: CommandSource, b: CommandSource) -> Bool {
        a.link == b.link && a.connection == b.connection
    }

    /// Hashes the link and the ID of the connection.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(link)
        hasher.combine(connection)
    }

    /// Name for display, such as "diagnostics client 3", "diagnostics client 4 (web, phone)" or
    /// "mavlink client 255/190".
    public var description: String {
        if link == .companion { return "the program that follows a person" }
        if link == .controls { return "the controls" + (name.isEmpty ? "" : " (\(name))") }
        let number =
            connection >> 32 == 1 ? "\(connection >> 8 & 255)/\(connection & 255)" : "\(connection)"
        return "\(link.rawValue) client \(number)" + (name.isEmpty ? "" : " (\(name))")
    }
}
