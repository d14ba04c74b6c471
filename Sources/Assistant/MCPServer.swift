public import Client
import Threads
import Wire

/// Server of the Model Context Protocol for one client: an assistant that controls the gimbal with
/// tools.
///
/// The server supports protocol versions with and without the handshake `initialize`. A request
/// with a protocol version in `_meta` is answered without session state (version 2026-07-28). After
/// `initialize`, requests are answered as in version 2025-11-25. The server does not create a
/// thread. The server's caller passes the client's messages and the time, and writes the returned
/// messages. Only one thread can use a server, but all threads can use the properties
/// `interruption` and `emergencyStop`.
///
/// Source: Model Context Protocol, versions 2025-11-25 and 2026-07-28: Base Protocol, Versioning,
/// Tools, Prompts, Resources.
public final class MCPServer {
    /// Protocol version without handshake: every request contains the version.
    static let modern = "2026-07-28"
    /// Protocol versions with the handshake `initialize`, the newest first.
    static let legacy = ["2025-11-25", "2025-06-18"]
    /// Member of `_meta` that contains the protocol version.
    private static let versionKey = "io.modelcontextprotocol/protocolVersion"
    private static let prefix = "io.modelcontextprotocol/"

    /// Signal that ends the wait for the daemon's answer to a cancelled call.
    let interruption: WakeupPipe
    /// The tool `stop`, which another thread can execute while the server waits for the daemon.
    let emergencyStop: EmergencyStop
    private let link: DaemonLink
    private let calls: ToolCalls
    private let resources: Resources
    private let version: String
    private var isInitialized = false
    private let hasName: Bool

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - name: Name of the assistant in the daemon's history; nil selects the client's name.
    ///   - isReadOnly: True if the assistant has read-only access and can only stop the gimbal.
    ///   - mayReset: True if the assistant can reset an emergency stop.
    ///   - manual: Folder of the manual pages; nil if there is none.
    ///   - version: Version of airframe.
    ///   - connect: Function that opens a connection to the daemon. The server calls this function
    ///     at the first request that needs the daemon, and again after the connection has been
    ///     lost. The function must be thread-safe.
    /// - Throws: `Errno` if the process has no free descriptors.
    public init(
        name: String?, isReadOnly: Bool, mayReset: Bool, manual: String?, version: String,
        connect: @escaping @Sendable () throws(ClientError) -> any DaemonConnection
    ) throws {
        let person = PersonLink(name: Self.connectionName(name), connect: connect)
        interruption = try WakeupPipe()
        emergencyStop = EmergencyStop(person)
        link = DaemonLink(
            person, policy: ToolPolicy(isReadOnly: isReadOnly, mayReset: mayReset),
            interruption: interruption)
        calls = ToolCalls(link)
        resources = Resources(link, manual: manual)
        hasName = name != nil
        self.version = version
    }

    /// Answers one message (one line), which must not contain a newline.
    ///
    /// - Parameters:
    ///   - line: The client's message.
    ///   - now: Current time, s, on any monotonic clock.
    /// - Returns: Messages for the client, without newlines.
    public func receive(_ line: [UInt8], now: Double) -> [[UInt8]] {
        if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return [] }
        do throws(RPCFailure) {
            switch try RPCMessage(line: line) {
            case .reply: return []
            case .notification(let method, let params):
                if let id = Self.cancelled(method, params) { calls.cancel(id) }
                return []
            case .request(let id, let method, let params):
                do throws(RPCFailure) {
                    return try answer(id: id, method, params, now: now)
                } catch {
                    return [RPCMessage.error(error, id: id)]
                }
            }
        } catch {
            return [RPCMessage.error(error, id: nil)]
        }
    }

    /// ID of the call that a notification cancels; nil for other notifications.
    static func cancelled(_ method: String, _ params: [String: JSONValue]) -> JSONValue? {
        method == "notifications/cancelled" ? params["requestId"] : nil
    }

    /// Format of the answer to a call of the tool `stop`: true for the format of version
    /// 2026-07-28, false for the earlier format. Nil if the request is not a call of this tool in a
    /// supported version. A call of `stop` does not need the handshake `initialize`, and its
    /// arguments have no effect.
    static func stopFormat(_ method: String, _ params: [String: JSONValue]) -> Bool? {
        guard method == "tools/call", params["name"]?.string == EmergencyStop.tool else {
            return nil
        }
        guard let requested = params["_meta"]?[versionKey] else { return false }
        return requested.string == modern ? true : nil
    }

    /// Ends the active rotation and the active shot, because another thread has sent an emergency stop.
    ///
    /// - Returns: Messages for the client.
    func stopped(now: Double) -> [[UInt8]] { calls.stopped(now: now) }

    /// The error reply to a message that is longer than `limit`, bytes.
    public func refuseLine(longerThan limit: Int) -> [UInt8] {
        RPCMessage.error(
            RPCFailure(
                .invalidRequest,
                "The line is longer than \(limit) bytes; airframectl skips this line up to its newline."
            ),
            id: nil)
    }

    /// Time of the next call of `tick`, s; nil if neither a rotation nor a shot is active.
    public var deadline: Double? { calls.due }

    /// Continues the active rotation and the active shot, or ends them.
    ///
    /// - Returns: Messages for the client.
    public func tick(now: Double) -> [[UInt8]] { calls.tick(now: now) }

    /// Stops the active rotation and the active shot, and closes the connection to the daemon,
    /// because the client has closed its output.
    public func end() {
        calls.end()
        link.close()
    }

    // MARK: Requests

    private func answer(
        id: JSONValue, _ method: String, _ params: [String: JSONValue], now: Double
    ) throws(RPCFailure) -> [[UInt8]] {
        let meta = params["_meta"]
        guard let requested = meta?[Self.versionKey] else {
            return try answerLegacy(id: id, method, params, now: now)
        }
        guard requested.string == Self.modern else {
            throw RPCFailure(
                .unsupportedVersion, "This protocol version is not supported.",
                data: [
                    "supported": .array(([Self.modern] + Self.legacy).map(JSONValue.string)),
                    "requested": requested,
                ])
        }
        guard meta?[Self.prefix + "clientCapabilities"]?.object != nil else {
            throw RPCFailure(
                .invalidParams, "_meta must contain \(Self.prefix)clientCapabilities.")
        }
        adoptName(meta?[Self.prefix + "clientInfo"])
        if method == "tools/call" {
            return try calls.call(id: id, params, isModern: true, now: now)
        }
        var result: [String: JSONValue]
        if method == "server/discover" {
            result = [
                "supportedVersions": .array(([Self.modern] + Self.legacy).map(JSONValue.string)),
                "capabilities": Self.capabilities, "instructions": .string(Instructions.text),
            ]
        } else {
            result = try list(method, params)
        }
        // The result of `resources/read` changes continually. The other results are constant while
        // the daemon runs.
        result["ttlMs"] = .int(["resources/read", "prompts/get"].contains(method) ? 0 : 10_000)
        result["cacheScope"] = "private"
        result["resultType"] = "complete"
        result["_meta"] = .object([Self.prefix + "serverInfo": serverInfo])
        return [RPCMessage.reply(id: id, result)]
    }

    private func answerLegacy(
        id: JSONValue, _ method: String, _ params: [String: JSONValue], now: Double
    ) throws(RPCFailure) -> [[UInt8]] {
        switch method {
        case "initialize":
            guard let requested = params["protocolVersion"]?.string else {
                throw RPCFailure(.invalidParams, "initialize needs protocolVersion.")
            }
            isInitialized = true
            adoptName(params["clientInfo"])
            let agreed = Self.legacy.contains(requested) ? requested : Self.legacy[0]
            return [
                RPCMessage.reply(
                    id: id,
                    [
                        "protocolVersion": .string(agreed), "capabilities": Self.capabilities,
                        "serverInfo": serverInfo, "instructions": .string(Instructions.text),
                    ])
            ]
        case "ping": return [RPCMessage.reply(id: id, [:])]
        case _ where !isInitialized:
            throw RPCFailure(
                .invalidRequest,
                "The request contains no protocol version. Send initialize first, or put \(Self.versionKey) into _meta of each request."
            )
        case "tools/call": return try calls.call(id: id, params, isModern: false, now: now)
        default: return [RPCMessage.reply(id: id, try list(method, params))]
        }
    }

    /// Answers a request that exists in all supported protocol versions; tool calls are handled
    /// elsewhere.
    private func list(
        _ method: String, _ params: [String: JSONValue]
    ) throws(RPCFailure) -> [String: JSONValue] {
        switch method {
        case "tools/list":
            return [
                "tools": .array(
                    try link.rpc { link throws(ClientError) in
                        try link.catalogue().tools.map(\.listing)
                    })
            ]
        case "prompts/list": return ["prompts": .array(Prompt.all.map(\.listing))]
        case "prompts/get": return try Prompt.answer(params)
        case "resources/list": return ["resources": .array(resources.listing)]
        case "resources/templates/list": return ["resourceTemplates": []]
        case "resources/read": return try resources.read(params)
        default:
            throw RPCFailure(.unknownMethod, "There is no method \"\(method.prefix(64))\".")
        }
    }

    private static let capabilities: JSONValue = ["tools": [:], "prompts": [:], "resources": [:]]

    private var serverInfo: JSONValue {
        [
            "name": "airframe", "title": "Camera gimbal (airframe)", "version": .string(version),
        ]
    }

    // MARK: Names

    /// Adopts the client's name for the connection, and thus for the daemon's history, unless the
    /// user has chosen a name. Call this method before the connection opens.
    private func adoptName(_ info: JSONValue?) {
        guard !hasName, link.person.name == Self.connectionName(nil),
            let name = info?["name"]?.string
        else { return }
        link.person.name = Self.connectionName(name)
    }

    /// Name of the connection: "mcp" and the client's name, without control characters, at most 64
    /// bytes.
    private static func connectionName(_ name: String?) -> String {
        let plain = (name ?? "").unicodeScalars.filter { (0x20...0x7E).contains($0.value) }
        return plain.isEmpty ? "mcp" : "mcp " + String(String.UnicodeScalarView(plain.prefix(60)))
    }
}

extension DaemonLink {
    /// Answers a client's request with data from the daemon; tool calls are handled elsewhere.
    ///
    /// - Throws: `internalError` with the daemon's message, which contains the remedy.
    func rpc<Result>(
        _ body: (DaemonLink) throws(ClientError) -> Result
    ) throws(RPCFailure) -> Result {
        do throws(ClientError) {
            return try body(self)
        } catch {
            throw RPCFailure(.internalError, error.requestError.message)
        }
    }
}
