/// Who answers a simulator's lines. Called on the server's thread alone, in the order in which things happen.
public protocol LockstepBackend: Sendable {
    /// A simulator has connected; it has sent nothing yet.
    func connected()

    /// Answers one line: appends exactly one line with its newline.
    ///
    /// - Parameters:
    ///   - line: Without its newline; nil when it was longer than `LockstepSample.longestLine`.
    ///   - output: Where the answer goes.
    func answer(_ line: [UInt8]?, to output: inout [UInt8])

    /// No line has come for `LockstepConfiguration.timeout`. Once for each silence.
    func silent()

    /// The simulator is gone; `connected` comes next.
    ///
    /// - Parameter isMidLine: Whether it left bytes of a line behind that had no end.
    func disconnected(isMidLine: Bool)

    /// Appends what a second simulator is told.
    func refuse(to output: inout [UInt8])
}

/// Where the lockstep socket is, and its limits.
public struct LockstepConfiguration: Sendable {
    /// Path of the socket: `hardware.lockstep.socket`. At most 107 bytes.
    public var path: String
    /// Group that owns the socket; nil or a group that does not exist: the daemon's own.
    public var group: String?
    /// Wall time without a line after which the simulator counts as silent, s.
    public var timeout: Double
    /// Replies that the simulator has not read, bytes, above which its further lines wait.
    public var replyBacklog = 256 * 1024

    /// The configuration with these values, everything else by default.
    public init(path: String, group: String?, timeout: Double) {
        self.path = path
        self.group = group
        self.timeout = timeout
    }

    /// The socket's place.
    var place: SocketPlace {
        SocketPlace(path: path, group: group, backlog: 8, key: "hardware.lockstep.socket")
    }
}
