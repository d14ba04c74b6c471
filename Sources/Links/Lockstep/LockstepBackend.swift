/// Backend that answers each message of a simulator. The server's thread calls the methods in the
/// order of the events.
public protocol LockstepBackend: Sendable {
    /// Begins a simulation, because a simulator has connected. The call precedes the simulator's
    /// first message.
    func connected()

    /// Answers one message of the simulator: appends exactly one line with its newline to `output`.
    ///
    /// - Parameters:
    ///   - line: Text line of the message, without its newline; nil if the line was longer than
    ///     `LockstepSample.longestLine`.
    ///   - output: Buffer to which the answer is appended.
    func answer(_ line: [UInt8]?, to output: inout [UInt8])

    /// Reports that the simulator has sent no message for `LockstepConfiguration.timeout`. The
    /// method is called once for each pause of the simulator.
    func silent()

    /// Ends the simulation, because the simulator has disconnected; the next call is `connected`.
    ///
    /// - Parameter isMidLine: True if the last message of the simulator was incomplete.
    func disconnected(isMidLine: Bool)

    /// Appends the message that refuses a second simulator, because the socket is in use.
    func refuse(to output: inout [UInt8])
}

/// Configuration of the lockstep socket: its path and limits.
public struct LockstepConfiguration: Sendable {
    /// Path of the socket: `hardware.lockstep.socket`. At most 107 bytes.
    public var path: String
    /// Group that owns the socket; nil, or a group that does not exist, means the daemon's own
    /// group.
    public var group: String?
    /// Timeout for a message from the simulator, s of real time; after the timeout `silent` is
    /// called.
    public var timeout: Double
    /// Limit of the unread replies, bytes; above this limit, further messages wait.
    public var replyBacklog = 256 * 1024

    /// Creates the configuration of the lockstep socket at a path; all other values are the
    /// defaults.
    public init(path: String, group: String?, timeout: Double) {
        self.path = path
        self.group = group
        self.timeout = timeout
    }

    /// Path, group and limits for the listening socket.
    var place: SocketPlace {
        SocketPlace(path: path, group: group, backlog: 8, key: "hardware.lockstep.socket")
    }
}
