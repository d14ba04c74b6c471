/// Where the diagnostics socket is and what it grants.
public struct DiagnosticsConfiguration: Sendable {
    /// Path of the socket: `diagnostics.socket`. At most 107 bytes.
    public var path: String
    /// Group that owns the socket and may write; nil or a group that does not exist: the daemon's own.
    public var group: String?
    /// Connections at a time; `ClientSlots` distributes them.
    public var maximumClients = 64
    /// Connections among them for clients that may write: readers keep no stop out.
    public var reservedForWriters = 16
    /// Longest request line, bytes.
    public var longestLine = 64 * 1024
    /// Replies waiting for one client, bytes, above which its further requests wait; at twice this it is closed.
    public var replyBacklog = 64 * 1024
    /// Output waiting for one client, bytes, above which its subscription messages are dropped and counted.
    public var streamBacklog = 16 * 1024
    /// Seconds after which a client is closed that has `replyBacklog` waiting and reads nothing.
    public var stallSeconds = 10.0

    /// The configuration for this path, everything else by default.
    public init(path: String, group: String? = "airframe") {
        self.path = path
        self.group = group
    }

    /// The socket's place.
    var place: SocketPlace {
        SocketPlace(path: path, group: group, backlog: maximumClients, key: "diagnostics.socket")
    }
}
