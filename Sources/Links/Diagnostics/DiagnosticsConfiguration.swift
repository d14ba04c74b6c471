/// Configuration of the diagnostics socket: place and limits.
public struct DiagnosticsConfiguration: Sendable {
    /// Path of the socket: `diagnostics.socket`. At most 107 bytes.
    public var path: String
    /// Group that owns the socket and can write; nil, or a group that does not exist, means the
    /// daemon's own.
    public var group: String?
    /// Largest number of connections; `ClientSlots` distributes them.
    public var maximumClients = 64
    /// Number of connections reserved for clients that can write, so that readers cannot block a
    /// stop.
    public var reservedForWriters = 16
    /// Longest request line, bytes.
    public var longestLine = 64 * 1024
    /// Size of a client's waiting replies, bytes, above which its further requests wait; at twice
    /// this size it is closed.
    public var replyBacklog = 64 * 1024
    /// Size of a client's waiting output, bytes, above which its subscription messages are dropped
    /// and counted.
    public var streamBacklog = 16 * 1024
    /// Time after which a client is closed if `replyBacklog` bytes wait and it reads nothing, s.
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
