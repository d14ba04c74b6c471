/// Refusal of a simulator's line. The refused line causes no tick. The run continues with the next
/// valid line.
public struct LockstepError: Error, Hashable, Sendable {
    /// Kind of refusal. The reply to the simulator contains the raw value of the kind.
    public enum Code: String, Sendable, CaseIterable {
        /// The line is not one JSON object, or is empty.
        case invalidJSON = "invalid_json"
        /// The line is longer than `LockstepSample.longestLine`.
        case lineTooLong = "line_too_long"
        /// `t`, `gyro` or `accel` is missing.
        case missing
        /// A value is not a number, or not an array of numbers.
        case wrongType = "wrong_type"
        /// An array does not have three elements.
        case wrongLength = "wrong_length"
        /// A number is too large for a double.
        case outOfRange = "out_of_range"
        /// `t` is not later than in the previous line.
        case timeBackwards = "time_backwards"
        /// `t` is later than in the previous line by less than 0.1 ms.
        case timeStep = "time_step"
        /// Another simulator is connected.
        case busy
    }

    /// Kind of refusal.
    public var code: Code
    /// Sentence for the user, with the received value and the permitted values.
    public var message: String
    /// Name of the invalid member; empty if the whole line is invalid.
    public var field: String

    /// Creates a refusal of the given kind.
    public init(_ code: Code, _ message: String, field: String = "") {
        self.code = code
        self.message = message
        self.field = field
    }

    /// Appends the reply, with its newline: `{"error":{"code":…,"message":…,"field":…}}`.
    public func write(to bytes: inout [UInt8]) {
        bytes += #"{"error":{"code":"#.utf8
        JSONValue.write(code.rawValue, to: &bytes)
        bytes += #","message":"#.utf8
        JSONValue.write(message, to: &bytes)
        bytes += #","field":"#.utf8
        JSONValue.write(field, to: &bytes)
        bytes += "}}\n".utf8
    }
}
