/// Why a simulator's line was refused; no tick has passed then, and the next good line goes on.
public struct LockstepError: Error, Hashable, Sendable {
    /// The kinds of refusal; the raw value is what travels.
    public enum Code: String, Sendable, CaseIterable {
        /// The line is not one JSON object; also an empty line.
        case invalidJSON = "invalid_json"
        /// The line is longer than `LockstepSample.longestLine`.
        case lineTooLong = "line_too_long"
        /// `t`, `gyro` or `accel` is missing.
        case missing
        /// A value is not a number, or not an array of numbers.
        case wrongType = "wrong_type"
        /// An array has not three elements.
        case wrongLength = "wrong_length"
        /// A number is too large for a double.
        case outOfRange = "out_of_range"
        /// `t` is not later than in the line before.
        case timeBackwards = "time_backwards"
        /// `t` is less than 0.1 ms later than in the line before.
        case timeStep = "time_step"
        /// Another simulator is connected.
        case busy
    }

    /// The kind.
    public var code: Code
    /// A sentence for a person: what was read, what is allowed.
    public var message: String
    /// The member that is wrong; empty where the whole line is meant.
    public var field: String

    /// An error of this kind.
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
