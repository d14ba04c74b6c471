public import Port

// Refusals of invalid bytes from an AirOS app.
extension Refusal {
    /// Refusal of a value of the wrong length.
    public static func length(expected: Int, found: Int) -> Refusal {
        Refusal(.invalidLength, "\(found) bytes; expected \(expected)")
    }

    /// Refusal of an infinite or NaN number; `name` is the number's name.
    public static func notFinite(_ name: String) -> Refusal {
        Refusal(.notFinite, "\(name) is not finite")
    }

    /// Refusal of an undefined byte; `allowed` lists the valid bytes.
    public static func outOfRange(_ value: Int, allowed: String) -> Refusal {
        Refusal(.outOfRange, "\(value) is outside \(allowed)")
    }

    /// Refusal of a text that is not UTF-8.
    public static var notText: Refusal { Refusal(.unsupported, "the text is not UTF-8") }

    /// Refusal of a text that is not a command.
    public static func unknownCommand(_ text: String) -> Refusal {
        Refusal(.unsupported, "there is no command \(quoted(text))")
    }

    /// Refusal of a speed that is not a number.
    public static func notANumber(_ text: String) -> Refusal {
        Refusal(.invalidParams, "\(quoted(text)) is not a number")
    }

    /// External text in quotes, shortened and escaped for a log line.
    private static func quoted(_ text: String) -> String {
        let shown = text.unicodeScalars.prefix(40).map { $0.escaped(asASCII: true) }.joined()
        return "\"\(shown)\(text.unicodeScalars.count > 40 ? "…" : "")\""
    }
}
