import Wire

/// Message of JSON-RPC 2.0 that a client has sent.
///
/// Source: JSON-RPC 2.0 specification; Model Context Protocol 2026-07-28, Base Protocol, Messages.
enum RPCMessage: Equatable {
    /// A request; its reply has the same ID.
    case request(id: JSONValue, method: String, params: [String: JSONValue])
    /// A message without a reply.
    case notification(method: String, params: [String: JSONValue])
    /// A reply. The server sends no requests, so it ignores replies.
    case reply

    /// Reads one line.
    ///
    /// - Throws: The error for the reply, and the request's ID if it is known.
    init(line: [UInt8]) throws(RPCFailure) {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: line)
        } catch {
            throw RPCFailure(.parse, "The line is not JSON: \(error.sentence).")
        }
        guard let members = value.object else {
            throw RPCFailure(.invalidRequest, "A message is one JSON object, not \(value.kind).")
        }
        let id = members["id"]
        switch id {
        case nil, .string, .int: break
        default: throw RPCFailure(.invalidRequest, "id must be a string or a whole number.")
        }
        guard members["jsonrpc"] == "2.0" else {
            throw RPCFailure(.invalidRequest, "jsonrpc must be \"2.0\".", id: id)
        }
        guard let method = members["method"] else {
            guard members["result"] != nil || members["error"] != nil else {
                throw RPCFailure(.invalidRequest, "The message contains no method.", id: id)
            }
            self = .reply
            return
        }
        guard let name = method.string else {
            throw RPCFailure(.invalidRequest, "method must be a string.", id: id)
        }
        let params: [String: JSONValue]
        switch members["params"] {
        case nil: params = [:]
        case .object(let object): params = object
        default: throw RPCFailure(.invalidParams, "params must be an object.", id: id)
        }
        self =
            id.map { .request(id: $0, method: name, params: params) }
            ?? .notification(method: name, params: params)
    }

    /// JSON text of a reply, without the newline at its end.
    static func reply(id: JSONValue, _ result: [String: JSONValue]) -> [UInt8] {
        line(["id": id, "result": .object(result)])
    }

    /// Member of `_meta` that contains the daemon's error: code, message and field.
    static let errorKey = "airframe/error"

    /// Reply to a tool call: the daemon's result as text and as an object, or its error message
    /// with the remedy.
    ///
    /// An error has no `structuredContent`, because some clients check `structuredContent` of an
    /// error against the schema of the tool's result, and then discard the message. Source:
    /// modelcontextprotocol/typescript-sdk, issue 1943.
    static func toolReply(
        id: JSONValue, _ outcome: Result<JSONValue, RequestError>, isModern: Bool
    ) -> [UInt8] {
        func content(_ text: String) -> JSONValue { [["type": "text", "text": .string(text)]] }
        var result: [String: JSONValue] = [:]
        switch outcome {
        case .success(let value):
            let object: JSONValue = value.object == nil ? ["items": value] : value
            // If the answer has only the member `sentence`, this sentence is the text.
            let isSentence = value.object?.count == 1
            result["content"] = content(
                (isSentence ? value["sentence"]?.string : nil) ?? object.text)
            result["structuredContent"] = object
        case .failure(let error):
            result["content"] = content(error.message)
            result["_meta"] = .object([errorKey: error.json])
            result["isError"] = true
        }
        if isModern { result["resultType"] = "complete" }
        return reply(id: id, result)
    }

    /// JSON text of an error reply, without the newline at its end. If the ID is unknown, the
    /// member `id` is omitted, as MCP requires.
    static func error(_ failure: RPCFailure, id: JSONValue?) -> [UInt8] {
        var error: [String: JSONValue] = [
            "code": .int(failure.code.rawValue), "message": .string(failure.message),
        ]
        error["data"] = failure.data
        var members: [String: JSONValue] = ["error": .object(error)]
        members["id"] = failure.id ?? id
        return line(members)
    }

    private static func line(_ members: [String: JSONValue]) -> [UInt8] {
        var bytes: [UInt8] = []
        JSONValue.object(members.merging(["jsonrpc": "2.0"]) { own, _ in own }).write(to: &bytes)
        return bytes
    }
}

/// Error of a request, as JSON-RPC reports it.
struct RPCFailure: Error, Equatable {
    /// Codes of errors.
    enum Code: Int {
        case parse = -32700
        case invalidRequest = -32600
        case unknownMethod = -32601
        case invalidParams = -32602
        case internalError = -32603
        /// The protocol version of a request is not supported (MCP 2026-07-28).
        case unsupportedVersion = -32022
    }

    var code: Code
    var message: String
    var id: JSONValue?
    var data: JSONValue?

    init(_ code: Code, _ message: String, id: JSONValue? = nil, data: JSONValue? = nil) {
        self.code = code
        self.message = message
        self.id = id
        self.data = data
    }
}
