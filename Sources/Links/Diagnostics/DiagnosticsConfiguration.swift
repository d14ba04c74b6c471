/// Configuration of the diagnostics socket: its path and limits.
public struct DiagnosticsConfiguration: Sendable {
    /// Path of the socket: `diagnostics.socket`. At most 107 bytes.
    public var path: String
    /// Group that owns the socket and has write access; nil, or a group that does not exist, means
    /// the daemon's own group.
    public var group: String?
    /// Largest number of connections to the socket; `ClientSlots` decides which clients get
    /// connections.
    public var maximumClients = 64
    /// Number of connections reserved for clients with write access, so that readers cannot block a
    /// stop.
    public var reservedForWriters = 16
    /// Longest accepted request line, bytes.
    public var longestLine = 64 * 1024
    /// Limit of a client's waiting replies, bytes. Above this limit, the client's further requests
    /// wait, so at most one more reply is added.
    public var replyBacklog = 64 * 1024
    /// Limit of a client's waiting output, bytes; above this limit, subscription messages to the
    /// client are dropped and counted.
    public var streamBacklog = 16 * 1024
    /// Stall timeout, s. The connection is closed if `replyBacklog` bytes wait and the client reads
    /// nothing for this time.
    public var stallSeconds = 10.0

    /// Creates the configuration for a socket at the given path; all other values are the defaults.
    public init(path: String, group: String? = "airframe") {
        self.path = path
        self.group = group
    }

    /// Path, group and limits for the listening socket.
    var place: SocketPlace {
        SocketPlace(path: path, group: group, backlog: maximumClients, key: "diagnostics.socket")
    }
}
