import Glibc

// Lines for people, within the width of their terminal.
extension Output {
    /// Width of the terminal on standard output, at least 40 characters. `.max` without a terminal,
    /// so that other programs read one line for each entry.
    static var columns: Int {
        isatty(STDOUT_FILENO) == 1 ? max(40, Terminal.size(of: STDOUT_FILENO).columns) : .max
    }

    /// Writes a line of text or of a table. A line that is wider than the terminal continues on the
    /// next lines.
    static func row(_ text: String) {
        folded(text, to: columns).forEach(line)
    }

    /// Breaks a line between words.
    ///
    /// - Parameters:
    ///   - text: The line; it can contain the sequences of `Style`.
    ///   - width: Largest number of visible characters; a longer word exceeds it.
    /// - Returns: The lines. They are aligned with the last column that begins in the left half, or
    ///   with the text of a list's item.
    static func folded(_ text: String, to width: Int) -> [String] {
        guard text.visibleCount > width else { return [text] }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        let indent = hangingIndent(words, upTo: width / 2)
        var lines: [String] = []
        var line = ""
        var count = 0
        for (index, word) in words.enumerated() {
            let length = word.visibleCount
            if length > 0, count > indent, count + 1 + length > width {
                lines.append(withoutTrailingSpaces(line))
                line = String(repeating: " ", count: indent) + word
                count = indent + length
            } else {
                line += (index == 0 ? "" : " ") + word
                count += (index == 0 ? 0 : 1) + length
            }
        }
        return lines + [withoutTrailingSpaces(line)]
    }

    /// Start of the last column of a line: a word after at least two spaces, or after the `-` of a
    /// list's item.
    private static func hangingIndent(_ words: [Substring], upTo limit: Int) -> Int {
        var indent = 0
        var position = 0
        for (index, word) in words.enumerated() {
            guard position <= limit else { break }
            let isItem = index == 1 && words[0] == "-"
            if !word.isEmpty, index > 0, isItem || words[index - 1].isEmpty { indent = position }
            position += word.visibleCount + 1
        }
        return indent
    }

    private static func withoutTrailingSpaces(_ line: String) -> String {
        var line = line
        while line.last == " " { line.removeLast() }
        return line
    }
}
