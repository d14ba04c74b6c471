/// Formats text for mdoc(7), the language of the manual pages.
public enum Mdoc {
    private static let width = 78

    /// Text lines of limited length. Each sentence starts a new line, and text that looks like a
    /// macro is escaped.
    public static func lines(_ text: String) -> [String] {
        var lines: [String] = []
        var line = ""
        var words = text.split(separator: " ").map(String.init)[...]
        while let word = words.popFirst() {
            let escaped = Self.escaped(word)
            let isFull = line.utf8.count + escaped.utf8.count + 1 > width
            if !line.isEmpty, isFull || endsSentence(line, before: word) {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? atBeginning(escaped) : " " + escaped
        }
        return line.isEmpty ? lines : lines + [line]
    }

    /// Formats one argument of a macro.
    public static func argument(_ text: String) -> String {
        let escaped = Self.escaped(text).split(separator: "\"", omittingEmptySubsequences: false)
            .joined(separator: "\\(dq")
        if escaped.contains(" ") || escaped.isEmpty { return "\"\(escaped)\"" }
        // A word of up to 3 bytes could be the name of a macro, or a bracket that mdoc separates.
        return escaped.utf8.count <= 3 ? "\\&" + escaped : escaped
    }

    private static func endsSentence(_ line: String, before word: String) -> Bool {
        guard let last = line.last, ".?!".contains(last), let first = word.first else {
            return false
        }
        return first.isUppercase || first == "`" || first == "-"
    }

    private static func atBeginning(_ word: String) -> String {
        word.hasPrefix(".") || word.hasPrefix("'") ? "\\&" + word : word
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "`": result += "\\(ga"
            case "'": result += "\\(aq"
            case "~": result += "\\(ti"
            case "^": result += "\\(ha"
            default: result.append(character)
            }
        }
        return result
    }
}
