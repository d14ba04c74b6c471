public import Port

/// Request line: `{"id":1,"method":"status","params":{}}`. The reply contains the same `id`;
/// `params` is optional.
public struct Request: Hashable, Sendable {
    /// ID of the request: any JSON scalar, or `null` if omitted. The reply contains the same ID.
    public var id: JSONValue
    /// Name of the method, possibly unknown.
    public var method: String
    /// The parameters of the request, by name.
    public var params: [String: JSONValue]

    /// Creates a request.
    public init(id: JSONValue, method: String, params: [String: JSONValue] = [:]) {
        self.id = id
        self.method = method
        self.params = params
    }

    /// The request as one line without newline.
    public var line: [UInt8] {
        var bytes: [UInt8] = []
        JSONValue.object(["id": id, "method": .string(method), "params": .object(params)])
            .write(to: &bytes)
        return bytes
    }
}

/// Rejection of an invalid request line, with the ID for the answer.
public struct RequestRejection: Error, Hashable, Sendable {
    /// The ID of the request; `null` if it could not be read.
    public var id: JSONValue
    /// Reason why the line was rejected.
    public var error: Refusal
}

extension Request {
    /// Reads one line.
    ///
    /// - Parameter line: The bytes of the line before its newline.
    /// - Throws: A rejection with the problem and its position (a byte offset or a field).
    public init(line: [UInt8]) throws(RequestRejection) {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: line)
        } catch {
            let message = "The line is not JSON: \(error.sentence)."
            throw RequestRejection(id: .null, error: Refusal(.invalidJSON, message))
        }
        guard case .object(let members) = value else {
            throw RequestRejection(
                id: .null,
                error: Refusal(
                    .invalidRequest,
                    "A request is an object such as {\"id\":1,\"method\":\"status\"}, not \(value.kind)."
                ))
        }
        try self.init(members: members)
    }

    private init(members: [String: JSONValue]) throws(RequestRejection) {
        let id = members["id"] ?? .null
        func reject(_ field: String, _ message: String) -> RequestRejection {
            RequestRejection(
                id: id.isScalar ? id : .null,
                error: Refusal(.invalidRequest, message, field: field))
        }
        guard id.isScalar else {
            throw reject("id", "id must be a number, a string or null, not \(id.kind).")
        }
        guard let method = members["method"] else {
            throw reject(
                "method", "The request contains no method, for example \"method\":\"status\".")
        }
        guard case .string(let name) = method else {
            throw reject("method", "method must be a string, not \(method.kind).")
        }
        switch members["params"] ?? .null {
        case .object(let params): self.init(id: id, method: name, params: params)
        case .null: self.init(id: id, method: name)
        case let other: throw reject("params", "params must be an object, not \(other.kind).")
        }
    }
}

extension JSONValue {
    /// True if the JSON value is neither an array nor an object.
    fileprivate var isScalar: Bool {
        switch self {
        case .array, .object: false
        case .null, .bool, .int, .double, .string: true
        }
    }
}
