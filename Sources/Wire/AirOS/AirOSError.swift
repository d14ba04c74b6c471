/// What is wrong with bytes that an app wrote.
public enum AirOSError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A value has so many bytes, and this one has not.
    case length(expected: Int, found: Int)
    /// A number is NaN or infinite; which one.
    case notFinite(String)
    /// The byte stands for nothing; `allowed` says what does.
    case outOfRange(Int, allowed: String)
    /// Not UTF-8.
    case notText
    /// Text that is no command.
    case unknownCommand(String)
    /// A speed that is no number.
    case notANumber(String)

    /// The fault as a clause.
    public var description: String {
        switch self {
        case .length(let expected, let found): "\(found) bytes where \(expected) are expected"
        case .notFinite(let name): "\(name) is not finite"
        case .outOfRange(let value, let allowed): "\(value) is outside \(allowed)"
        case .notText: "the text is not UTF-8"
        case .unknownCommand(let text): "there is no command \(Self.quoted(text))"
        case .notANumber(let text): "\(Self.quoted(text)) is no number"
        }
    }

    /// Text from a stranger, safe in a line of a log.
    private static func quoted(_ text: String) -> String {
        let shown = text.unicodeScalars.prefix(40).map { $0.escaped(asASCII: true) }.joined()
        return "\"\(shown)\(text.unicodeScalars.count > 40 ? "…" : "")\""
    }
}
