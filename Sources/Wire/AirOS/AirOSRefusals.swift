public import Port

// Refusals of bytes that an app wrote.
extension Refusal {
    /// A value of the wrong length.
    public static func length(expected: Int, found: Int) -> Refusal {
        Refusal(.invalidLength, "\(found) bytes; expected \(expected)")
    }

    /// A number is NaN or infinite; `name` identifies it.
    public static func notFinite(_ name: String) -> Refusal {
        Refusal(.notFinite, "\(name) is not finite")
    }

    /// The byte has no meaning; `allowed` lists the valid ones.
    public static func outOfRange(_ value: Int, allowed: String) -> Refusal {
        Refusal(.outOfRange, "\(value) is outside \(allowed)")
    }

    /// The text is not UTF-8.
    public static var notText: Refusal { Refusal(.unsupported, "the text is not UTF-8") }

    /// Text that is not a command.
    public static func unknownCommand(_ text: String) -> Refusal {
        Refusal(.unsupported, "there is no command \(quoted(text))")
    }

    /// A speed that is not a number.
    public static func notANumber(_ text: String) -> Refusal {
        Refusal(.invalidParams, "\(quoted(text)) is not a number")
    }

    /// External text, safe in a line of a log.
    private static func quoted(_ text: String) -> String {
        let shown = text.unicodeScalars.prefix(40).map { $0.escaped(asASCII: true) }.joined()
        return "\"\(shown)\(text.unicodeScalars.count > 40 ? "…" : "")\""
    }
}
