/// Why a request was refused, for a person and for a script.
public struct RequestError: Error, Hashable, Sendable, Codable {
    /// The kinds of refusal; the raw value is what travels.
    public enum Code: String, Sendable, Codable, CaseIterable {
        /// The line is not JSON; `message` says at which byte.
        case invalidJSON = "invalid_json"
        /// The line is longer than the server reads.
        case lineTooLong = "line_too_long"
        /// The connection ended in mid-line.
        case incompleteLine = "incomplete_line"
        /// JSON, but not a request.
        case invalidRequest = "invalid_request"
        /// There is no such method.
        case unknownMethod = "unknown_method"
        /// A parameter is missing, unknown or of the wrong type; `field` names it.
        case invalidParams = "invalid_params"
        /// A value is outside its range; `field` names it.
        case outOfRange = "out_of_range"
        /// There is no such setting, variable, baseline or subscription; `field` names it.
        case unknownKey = "unknown_key"
        /// The user of this connection may read but not write.
        case permissionDenied = "permission_denied"
        /// Somebody else is in control.
        case notInControl = "not_in_control"
        /// The machine cannot do that now; `message` says why.
        case refused
        /// A limit of the server is reached.
        case tooMany = "too_many"
        /// The daemon failed; its log knows more.
        case internalError = "internal_error"
    }

    /// The kind, as it travels. A string, so that a newer daemon's code does not make an older client fail.
    public var code: String
    /// A sentence for a person.
    public var message: String
    /// The member or parameter that is wrong, where there is one.
    public var field: String?

    /// An error of this kind.
    public init(_ code: Code, _ message: String, field: String? = nil) {
        self.code = code.rawValue
        self.message = message
        self.field = field
    }

    /// The error as a JSON object.
    public var json: JSONValue {
        var members: [String: JSONValue] = ["code": .string(code), "message": .string(message)]
        if let field { members["field"] = .string(field) }
        return .object(members)
    }
}
