/// Refusal of a request. All links use this type.
///
/// Each link translates a refusal to its own answer: an ATT error, a MAV_RESULT or a JSON object.
public struct Refusal: Error, Hashable, Sendable {
    /// The kinds of refusal.
    public enum Code: String, Sendable, CaseIterable {
        /// The line is not JSON; `message` states the byte offset of the error.
        case invalidJSON = "invalid_json"
        /// The line is longer than the server's limit.
        case lineTooLong = "line_too_long"
        /// The connection ended in the middle of a line.
        case incompleteLine = "incomplete_line"
        /// The line is JSON, but not a request.
        case invalidRequest = "invalid_request"
        /// The method does not exist.
        case unknownMethod = "unknown_method"
        /// A parameter is missing, unknown or of the wrong type; `field` names it.
        case invalidParams = "invalid_params"
        /// A value is outside its range; `field` names it.
        case outOfRange = "out_of_range"
        /// The setting, variable, baseline or subscription does not exist; `field` names it.
        case unknownKey = "unknown_key"
        /// The connection's user has no write access.
        case permissionDenied = "permission_denied"
        /// Another source sent a request that only the source in control can send.
        case notInControl = "not_in_control"
        /// The machine cannot execute the request now; `message` states the reason.
        case refused
        /// A limit of the server is reached.
        case tooMany = "too_many"
        /// The daemon failed; its log has details.
        case internalError = "internal_error"
        /// Another client is in control; the same request can succeed later.
        case held
        /// The rules for control do not permit this request from the source.
        case forbidden
        /// An emergency stop is latched.
        case stopped
        /// The mode is `inactive`, so nothing would move.
        case inactive
        /// Another operation is running; the same request can succeed later.
        case busy
        /// The execution of the request failed, or the process is ending.
        case failed
        /// The request needs joint angles, which are unknown.
        case sensorMissing
        /// The sensors have not delivered a sample yet; the same request can succeed later.
        case sensorSilent
        /// No measurement is available yet.
        case noValue
        /// The request is not understood, or the link does not support it.
        case unsupported
        /// The bytes have a length that the value cannot have.
        case invalidLength
        /// A number is NaN or infinite.
        case notFinite
    }

    /// The kind of refusal.
    public var code: Code
    /// Reason for the refusal, as text for the user: a sentence or a clause.
    public var message: String
    /// Name of the invalid member or parameter; nil if the refusal does not concern a member or
    /// parameter.
    public var field: String?

    /// Creates a refusal.
    public init(_ code: Code, _ message: String, field: String? = nil) {
        self.code = code
        self.message = message
        self.field = field
    }
}

extension Refusal {
    /// Refusal because the mode is `inactive`, so nothing would move; another mode must be
    /// requested first.
    public static var inactive: Refusal {
        Refusal(
            .inactive,
            "the mode is inactive, so the motors are off; select another mode first: airframectl mode locked"
        )
    }

    /// Refusal of a value that is NaN or infinite, or outside its range.
    public static func outOfRange(field: String, allowed: String) -> Refusal {
        Refusal(.outOfRange, "\(field) is outside \(allowed)", field: field)
    }

    /// Refusal of a value that is NaN or infinite, or outside its range of integers.
    static func outOfRange(
        _ field: String, _ range: ClosedRange<Double>, _ unit: String
    ) -> Refusal {
        let ends = "\(Int(range.lowerBound))...\(Int(range.upperBound))"
        return .outOfRange(field: field, allowed: unit.isEmpty ? ends : "\(ends) \(unit)")
    }
}

/// Closure that receives a deferred result. The closure is called once, on any thread.
public typealias Later<Value> = @Sendable (Result<Value, Refusal>) -> Void
