public import Port

/// Refusal in the format of the socket.
public struct RequestError: Error, Hashable, Sendable, Codable {
    /// Kind of the refusal, see `Refusal.Code.word`. The property is a string, so that older
    /// clients can decode the codes of a newer daemon.
    public var code: String
    /// Reason of the refusal as a sentence.
    public var message: String
    /// Name of the invalid member or parameter; nil if the refusal does not concern a member or
    /// parameter.
    public var field: String?

    /// Creates an error of the given kind.
    public init(_ code: String, _ message: String, field: String? = nil) {
        self.code = code
        self.message = message
        self.field = field
    }

    /// Converts a refusal to an error.
    public init(_ refusal: Refusal) {
        self.init(refusal.code.word, refusal.message, field: refusal.field)
    }

    /// The error as a JSON object.
    public var json: JSONValue {
        var members: [String: JSONValue] = ["code": .string(code), "message": .string(message)]
        if let field { members["field"] = .string(field) }
        return .object(members)
    }
}

extension Refusal.Code {
    /// Name of the error's kind, for clients of the socket.
    public var word: String {
        switch self {
        case .held, .forbidden: Self.notInControl.rawValue
        case .stopped, .inactive, .busy, .failed, .sensorMissing, .sensorSilent, .noValue,
            .unsupported:
            Self.refused.rawValue
        case .invalidLength, .notFinite: Self.invalidParams.rawValue
        case .invalidJSON, .lineTooLong, .incompleteLine, .invalidRequest, .unknownMethod,
            .invalidParams, .outOfRange, .unknownKey, .permissionDenied, .notInControl, .refused,
            .tooMany, .internalError:
            rawValue
        }
    }
}
