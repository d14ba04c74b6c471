/// Scanner for TOML, with a current position in the document. The scanner's methods advance over
/// blanks, keys, strings and scalars.
///
/// The scanner never reads beyond the text, even if the text is malformed.
struct TOMLScanner: Sendable {
    /// Largest length of a returned text, characters. No setting has a value longer than this
    /// limit.
    private static let longestText = 4096

    private let text: [UInt8]
    private(set) var position = 0
    private(set) var linesWithNul: [Int] = []
    private var line = 1
    private var lineStart = 0

    init(_ text: [UInt8]) {
        self.text = text
        if text.starts(with: [0xEF, 0xBB, 0xBF]) {
            position = 3
            lineStart = 3
        }
    }

    var peek: UInt8? { position < text.count ? text[position] : nil }

    /// Line and column of the next byte, from 1.
    var place: (line: Int, column: Int) { (line, position - lineStart + 1) }

    /// True if a bare or quoted key begins at the current position.
    var isAtKey: Bool {
        peek.map { Self.isBareKey($0) || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") }
            ?? false
    }

    /// True if a value can begin at the current position.
    var isAtValue: Bool {
        guard let byte = peek else { return false }
        return isAtKey && byte != UInt8(ascii: "_") || Array("+.[{".utf8).contains(byte)
    }

    /// Returns true if the parser can read the scalar without crashing. In a date and time, the
    /// parser requires a digit after the T, or two digits after a blank.
    static func isHarmless(scalar: ArraySlice<UInt8>) -> Bool {
        func isDigit(at index: Int) -> Bool {
            index < scalar.endIndex && Self.isDigit(scalar[index])
        }
        guard isDigit(at: scalar.startIndex) else { return true }
        return scalar.indices.allSatisfy { index in
            switch scalar[index] {
            case UInt8(ascii: "t"), UInt8(ascii: "T"): isDigit(at: index + 1)
            case UInt8(ascii: " "): !isDigit(at: index + 1) || isDigit(at: index + 2)
            default: true
            }
        }
    }

    func bytes(from start: Int) -> ArraySlice<UInt8> { text[start..<position] }

    /// Scanned text since `start`, without trailing blanks. A text of more than `longestText`
    /// characters is truncated.
    func text(from start: Int) -> String {
        var end = min(position, start + Self.longestText)
        while end > start, Self.isBlank(text[end - 1]) || Self.isLineEnd(text[end - 1]) { end -= 1 }
        return String(decoding: text[start..<end], as: UTF8.self)
    }

    mutating func advance() {
        guard position < text.count else { return }
        if text[position] == UInt8(ascii: "\n") {
            line += 1
            lineStart = position + 1
        }
        position += 1
    }

    mutating func skipSpaces() {
        while let byte = peek, Self.isBlank(byte) { advance() }
    }

    /// Skips spaces, line ends and comments.
    mutating func skipBlankLines() {
        while let byte = peek {
            if byte == UInt8(ascii: "#") {
                skipLine()
            } else if Self.isBlank(byte) || Self.isLineEnd(byte) {
                advance()
            } else {
                return
            }
        }
    }

    /// Skips the rest of the line, except its end.
    mutating func skipLine() {
        while let byte = peek, byte != UInt8(ascii: "\n") { advance() }
    }

    /// Skips a number, a date or a word, up to the end of the value.
    mutating func skipScalar() {
        while let byte = peek, !Self.isLineEnd(byte) {
            switch byte {
            case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: "#"): return
            default: advance()
            }
        }
    }

    /// Scans a dotted key; returns its parts, or an empty array if there is no key.
    mutating func keys() -> [String] {
        var result: [String] = []
        while true {
            skipSpaces()
            guard let byte = peek else { return result }
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                result.append(string())
            } else {
                let start = position
                while let byte = peek, Self.isBareKey(byte) { advance() }
                guard position > start else { return result }
                result.append(String(decoding: text[start..<position], as: UTF8.self))
            }
            skipSpaces()
            guard peek == UInt8(ascii: ".") else { return result }
            advance()
        }
    }

    /// Scans a string of any of the four kinds; returns its contents with resolved escapes.
    mutating func string() -> String {
        guard let quote = peek else { return "" }
        let isLiteral = quote == UInt8(ascii: "'")
        advance()
        var isMultiline = false
        if starts(with: quote, count: 2) {
            advance()
            advance()
            isMultiline = true
        } else if peek == quote {
            advance()
            return ""
        }
        var content: [UInt8] = []
        while let byte = peek {
            if byte == quote {
                if !isMultiline {
                    advance()
                    break
                }
                if starts(with: quote, count: 3) {
                    for _ in 0..<3 { advance() }
                    // The content can end with one or two quotes before the three closing quotes.
                    while peek == quote { advance() }
                    break
                }
                advance()
                content.append(byte)
            } else if byte == UInt8(ascii: "\\"), !isLiteral {
                advance()
                escape(into: &content)
            } else if byte == UInt8(ascii: "\n"), !isMultiline {
                break
            } else {
                advance()
                content.append(byte)
            }
        }
        return String(decoding: content, as: UTF8.self)
    }

    /// Scans the escape after a backslash.
    private mutating func escape(into content: inout [UInt8]) {
        guard let byte = peek else { return }
        let digits: Int
        switch byte {
        case UInt8(ascii: "b"): return append(0x08, to: &content)
        case UInt8(ascii: "t"): return append(0x09, to: &content)
        case UInt8(ascii: "n"): return append(0x0A, to: &content)
        case UInt8(ascii: "f"): return append(0x0C, to: &content)
        case UInt8(ascii: "r"): return append(0x0D, to: &content)
        case UInt8(ascii: "u"): digits = 4
        case UInt8(ascii: "U"): digits = 8
        default: return append(byte, to: &content)
        }
        advance()
        let start = position
        while position < start + digits, let next = peek, Self.isHexDigit(next) { advance() }
        let code = UInt32(String(decoding: text[start..<position], as: UTF8.self), radix: 16)
        guard let code, let scalar = Unicode.Scalar(code) else { return }
        if code == 0 { linesWithNul.append(line) }
        content.append(contentsOf: Array(String(scalar).utf8))
    }

    private mutating func append(_ byte: UInt8, to content: inout [UInt8]) {
        advance()
        content.append(byte)
    }

    private func starts(with quote: UInt8, count: Int) -> Bool {
        position + count <= text.count
            && text[position..<position + count].allSatisfy { $0 == quote }
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }

    private static func isLineEnd(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    private static func isBareKey(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
