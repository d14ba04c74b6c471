/// Answer to a change request: a sentence with the new state.
public struct Acknowledgement: Hashable, Sendable, Codable {
    /// Sentence for the user, such as "The mode is locked."
    public var sentence: String
    /// Duration of the requested motion, s; absent if it is unlimited or unknown.
    public var durationS: Number?
    /// Names of the limits that affected the request, for scripts. `range`: an angle was limited to
    /// its range. `rate` and `acceleration`: a limit increased the duration or reduced the rate.
    /// `joints`: the camera stops at the end of a joint's range. `mode`: the mode controls a
    /// requested axis. The property is absent if no limit affected the request.
    public var limitedBy: [String]?

    /// Creates an acknowledgement with the given sentence.
    public init(_ sentence: String, durationS: Number? = nil, limitedBy: [String] = []) {
        self.sentence = sentence
        self.durationS = durationS
        self.limitedBy = limitedBy.isEmpty ? nil : limitedBy
    }
}

/// Version of the program, and version of the socket's protocol.
public struct VersionInfo: Hashable, Sendable, Codable {
    /// Version of the socket's protocol. The version increases with every change that affects
    /// clients.
    public static let currentProtocol = 1

    /// Program name.
    public var program: String
    /// Program version.
    public var version: String
    /// Version of the socket's protocol.
    public var protocolVersion: Int
    /// Compiler, build type and (if known) commit, for a bug report.
    public var build: String

    enum CodingKeys: String, CodingKey {
        case program, version, build, protocolVersion = "protocol"
    }

    /// Creates a description.
    public init(
        program: String, version: String, protocolVersion: Int = Self.currentProtocol,
        build: String = ""
    ) {
        self.program = program
        self.version = version
        self.protocolVersion = protocolVersion
        self.build = build
    }
}

/// One line of the daemon's log in memory.
public struct LogLine: Hashable, Sendable, Codable {
    /// Sequence number of the line, consecutive.
    public var sequence: Int
    /// Time of the line, seconds on the loop's clock.
    public var t: Number
    /// Severity of the line: `debug`, `info`, `notice`, `warning`, `error` or `critical`.
    public var level: String
    /// Text of the line.
    public var message: String

    enum CodingKeys: String, CodingKey {
        case t, level, message, sequence = "seq"
    }

    /// Creates a line of the log.
    public init(sequence: Int, t: Number, level: String, message: String) {
        self.sequence = sequence
        self.t = t
        self.level = level
        self.message = message
    }
}

/// Part of airframed's log: the answer to `log`.
public struct LogPage: Hashable, Sendable, Codable {
    /// Lines of the log, oldest first.
    public var lines: [LogLine]
    /// Value of the parameter `since` for the next request.
    public var next: Int
    /// Number of lines from `since` on that were removed from memory before this request.
    public var lost: Int

    /// Creates a part of the log with the given lines.
    public init(lines: [LogLine], next: Int, lost: Int) {
        self.lines = lines
        self.next = next
        self.lost = lost
    }
}

/// Result of one check of `doctor`.
public struct DoctorCheck: Hashable, Sendable, Codable {
    /// Outcome of the check.
    public enum Level: String, Sendable, Codable, CaseIterable {
        /// The check has found no problem.
        case ok
        /// The gimbal works, but with a limitation.
        case warn
        /// The problem prevents motion or the operation of the program.
        case fail
    }

    /// Short name of the check, for example "loop rate".
    public var name: String
    /// Outcome of the check.
    public var level: Level
    /// Result of the check with the measured values, as text.
    public var finding: String
    /// Remedy of the problem; empty if no remedy is needed.
    public var remedy: String

    /// Creates the result of a check with the given outcome.
    public init(_ name: String, _ level: Level, _ finding: String, remedy: String = "") {
        self.name = name
        self.level = level
        self.finding = finding
        self.remedy = remedy
    }
}

/// Description of a connection for the connection's own client: the result of `client`.
public struct ClientIdentity: Hashable, Sendable, Codable {
    /// Name of the connection, as in messages and in the member `holder` of `status`.
    public var name: String
    /// True if the connection has write access.
    public var canWrite: Bool

    /// Creates an identity.
    public init(name: String, canWrite: Bool) {
        self.name = name
        self.canWrite = canWrite
    }
}
