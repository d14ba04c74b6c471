/// Why a request was refused: one type for whoever asks, on every link.
///
/// Each link translates it once, at its edge: into an ATT error, a MAV_RESULT or a JSON object.
public struct Refusal: Error, Hashable, Sendable {
    /// The kinds of refusal.
    public enum Code: String, Sendable, CaseIterable {
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
        /// Only the source in control may ask for this, and it is another one.
        case notInControl = "not_in_control"
        /// The machine cannot do that now; `message` says why.
        case refused
        /// A limit of the server is reached.
        case tooMany = "too_many"
        /// The daemon failed; its log knows more.
        case internalError = "internal_error"
        /// Somebody else is in control; control may become free.
        case held
        /// The rules never let this source do that.
        case forbidden
        /// An emergency stop is latched.
        case stopped
        /// The mode is inactive: nothing would move.
        case inactive
        /// Something else goes on; the same request may be granted a little later.
        case busy
        /// It was tried in vain, or the process ends.
        case failed
        /// Nothing shows the joints, which the request needs.
        case sensorMissing
        /// The sensors have not said anything yet; the same request may be granted a little later.
        case sensorSilent
        /// Nothing has been measured yet.
        case noValue
        /// The request is not understood, or the link does not offer it.
        case unsupported
        /// The bytes have a length that the value cannot have.
        case invalidLength
        /// A number is NaN or infinite.
        case notFinite
    }

    /// The kind.
    public var code: Code
    /// A sentence or a clause for a person.
    public var message: String
    /// The member or parameter that is wrong, where there is one.
    public var field: String?

    /// A refusal of this kind.
    public init(_ code: Code, _ message: String, field: String? = nil) {
        self.code = code
        self.message = message
        self.field = field
    }
}

extension Refusal {
    /// The mode is inactive, nothing would move; ask for a mode first.
    public static var inactive: Refusal {
        Refusal(.inactive, "the mode is inactive, so nothing would move: airframectl mode locked")
    }
}

/// Receiver of an answer that takes time; called once, on any thread.
public typealias Later<Value> = @Sendable (Result<Value, Refusal>) -> Void
