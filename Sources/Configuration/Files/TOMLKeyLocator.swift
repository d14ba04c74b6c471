/// Finds the line of every key in a TOML document. The parser reports positions only for syntax
/// errors.
///
/// The locator also protects the parser. On some malformed texts, such as `[=]` or `a = [}`,
/// TOMLKit 0.6 (toml++ 3.4) aborts the process with a failed assertion. The locator detects these
/// texts before they reach the parser, and reports the first as `fault`. A valid document has no
/// fault. If the document has a fault, the locator's other results are meaningless. The duration of
/// a scan is linear in the length of the text.
public struct TOMLKeyLocator: Sendable {
    /// One step of a key's path: from a table or an array to one of its elements.
    public enum Step: Hashable, Sendable {
        /// A key of a table, without quotes and with resolved escapes.
        case key(String)
        /// An element of an array or of an array of tables.
        case index(Int)
    }

    /// Location of a key in the text.
    public struct Location: Sendable, Equatable {
        /// Line of the key, from 1.
        public let line: Int
        /// Column of the key, bytes from the start of the line, from 1.
        public let column: Int
        /// The text of the value; nil for a table. The values in a table have separate entries.
        public let value: String?
    }

    /// Location of every key, table and array element. The location of a table is its first
    /// occurrence.
    public private(set) var locations: [[Step]: Location] = [:]

    /// Line numbers of strings with a NUL character. The parser's C interface would end a string at
    /// a NUL character.
    public private(set) var linesWithNul: [Int] = []

    /// First malformed part at which the parser would abort the process; nil if there is none.
    public private(set) var fault: Fault?

    /// A fault of the text, with its line and column. Line and column numbers begin at 1. Columns
    /// count bytes.
    public struct Fault: Sendable, Equatable {
        /// Line of the fault.
        public let line: Int
        /// Column of the fault.
        public let column: Int
        /// Description of the fault, as the end of a sentence.
        public let message: String
    }

    private var scanner: TOMLScanner
    private var arrayCounts: [[Step]: Int] = [:]

    /// Largest number of nested levels: names in a key, including the names of its tables, and
    /// nested arrays. No setting has more than three levels. The locator stores the path of each
    /// level, so the scan of a document with many levels would be slow.
    public static let depthLimit = 32

    /// Scans `text`, and locates all keys, tables and array elements.
    public init(_ text: [UInt8]) {
        scanner = TOMLScanner(text)
        locate()
        linesWithNul = scanner.linesWithNul
    }

    /// Location of a value. The keys begin with the outermost table and end with the value's key.
    public subscript(_ keys: [String]) -> Location? { locations[keys.map(Step.key)] }

    private mutating func locate() {
        var table: [Step] = []
        while fault == nil {
            scanner.skipBlankLines()
            guard let next = scanner.peek else { return }
            if next == UInt8(ascii: "[") {
                table = header()
            } else {
                pair(in: table, depth: 0)
            }
            // The rest of the line is a comment, or an error that the parser reports.
            scanner.skipLine()
        }
    }

    /// Scans `[a.b]` or `[[a.b]]`; returns the path of the table that contains the following pairs.
    private mutating func header() -> [Step] {
        let (line, column) = scanner.place
        scanner.advance()
        let isArray = scanner.peek == UInt8(ascii: "[")
        if isArray { scanner.advance() }
        scanner.skipSpaces()
        if !scanner.isAtKey, scanner.peek != UInt8(ascii: "]") {
            noteFault("expected the name of a table after [")
        }
        let keys = scanner.keys()
        guard keys.count <= Self.depthLimit else {
            noteFault("more than \(Self.depthLimit) names in one key")
            return []
        }
        var path: [Step] = []
        for (position, key) in keys.enumerated() {
            path.append(.key(key))
            note(path, Location(line: line, column: column, value: nil))
            if isArray, position == keys.count - 1 {
                let count = arrayCounts[path, default: 0]
                arrayCounts[path] = count + 1
                path.append(.index(count))
                note(path, Location(line: line, column: column, value: nil))
            } else if let count = arrayCounts[path] {
                path.append(.index(count - 1))
            }
        }
        return path
    }

    /// Scans a pair `a.b = value`.
    private mutating func pair(in table: [Step], depth: Int) {
        let (line, column) = scanner.place
        let start = scanner.position
        let keys = scanner.keys()
        scanner.skipSpaces()
        guard !keys.isEmpty, scanner.peek == UInt8(ascii: "=") else {
            // If there is no `key = value` at this position, the scan advances by at least one
            // byte. Therefore the scan always ends.
            if scanner.position == start { scanner.advance() }
            return
        }
        scanner.advance()
        scanner.skipSpaces()
        let valueStart = scanner.position
        guard table.count + keys.count <= 2 * Self.depthLimit, keys.count <= Self.depthLimit else {
            return noteFault("more than \(Self.depthLimit) names in one key")
        }
        let path = table + keys.map(Step.key)
        value(at: path, depth: depth)
        let text = scanner.text(from: valueStart)
        for length in (table.count + 1)..<path.count {
            note(Array(path[..<length]), Location(line: line, column: column, value: nil))
        }
        // If the same path occurs twice, the later location replaces the earlier location.
        locations[path] = Location(line: line, column: column, value: text)
    }

    private mutating func value(at path: [Step], depth: Int) {
        guard depth < Self.depthLimit else {
            noteFault("arrays or tables are nested deeper than \(Self.depthLimit) levels")
            return scanner.skipLine()
        }
        if !scanner.isAtValue { noteFault("expected a value") }
        switch scanner.peek {
        case UInt8(ascii: "["): array(at: path, depth: depth)
        case UInt8(ascii: "{"): inlineTable(at: path, depth: depth)
        case UInt8(ascii: "\""), UInt8(ascii: "'"): _ = scanner.string()
        default: scalar()
        }
    }

    private mutating func scalar() {
        let start = scanner.position
        let (line, column) = scanner.place
        scanner.skipScalar()
        if !TOMLScanner.isHarmless(scalar: scanner.bytes(from: start)), fault == nil {
            fault = Fault(line: line, column: column, message: "expected a time after the date")
        }
    }

    private mutating func array(at path: [Step], depth: Int) {
        scanner.advance()
        var index = 0
        while true {
            scanner.skipBlankLines()
            guard let next = scanner.peek else { return }
            if next == UInt8(ascii: "]") { return scanner.advance() }
            if next == UInt8(ascii: ",") {
                scanner.advance()
                continue
            }
            let (line, column) = scanner.place
            let start = scanner.position
            let element = path + [.index(index)]
            value(at: element, depth: depth + 1)
            locations[element] = Location(
                line: line, column: column, value: scanner.text(from: start))
            index += 1
            if scanner.position == start { scanner.advance() }
        }
    }

    private mutating func inlineTable(at path: [Step], depth: Int) {
        scanner.advance()
        while true {
            scanner.skipBlankLines()
            guard let next = scanner.peek else { return }
            if next == UInt8(ascii: "}") { return scanner.advance() }
            if next == UInt8(ascii: ",") {
                scanner.advance()
                continue
            }
            pair(in: path, depth: depth + 1)
        }
    }

    private mutating func noteFault(_ message: String) {
        let (line, column) = scanner.place
        if fault == nil { fault = Fault(line: line, column: column, message: message) }
    }

    private mutating func note(_ path: [Step], _ location: Location) {
        if locations[path] == nil { locations[path] = location }
    }
}
