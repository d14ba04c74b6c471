import Glibc

/// Highlighting of text, if the terminal supports it.
struct Style: Sendable {
    /// Meaning of a text, which determines the text's colour.
    enum Role: String, Sendable, CaseIterable {
        case good = "32"
        case caution = "33"
        case bad = "1;31"
        case strong = "1"
        case quiet = "2"
    }

    /// Random number that marks the program's escape sequences until `Output` writes them. External
    /// text cannot contain this random number. Therefore external text cannot change colours.
    static let key = String(UInt64.random(in: 1...UInt64.max))
    /// Escape sequence for each kind of highlighting, without the random number of `Style`.
    static let sequences = Role.allCases.map { "[\($0.rawValue)m" } + ["[0m"]

    /// True if the style uses escape sequences.
    var isColoured: Bool

    /// Style without escape sequences, for files, pipes and tests.
    static let plain = Style(isColoured: false)

    /// Style for standard output: colours on a terminal, unless `NO_COLOR` (https://no-color.org)
    /// or `TERM` disables them.
    static func forOutput() -> Style {
        func variable(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }
        let isWanted = variable("NO_COLOR").isEmpty && variable("TERM") != "dumb"
        return Style(isColoured: isWanted && isatty(STDOUT_FILENO) == 1)
    }

    func callAsFunction(_ role: Role, _ text: String) -> String {
        guard isColoured, !text.isEmpty else { return text }
        return "\u{1B}\(Self.key)[\(role.rawValue)m\(text)\u{1B}\(Self.key)[0m"
    }
}

extension StringProtocol {
    /// The characters of a text. Those of the sequences of `Style`, which begin with ESC and end with
    /// a letter, are not visible.
    var styledCharacters: [(character: Character, isVisible: Bool)] {
        var isEscape = false
        return map { character in
            if character == "\u{1B}" { isEscape = true }
            defer { if character.isLetter { isEscape = false } }
            return (character, !isEscape)
        }
    }

    /// Number of visible characters.
    var visibleCount: Int { styledCharacters.count { $0.isVisible } }
}
