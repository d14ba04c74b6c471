import PlainText
import TOMLKit

/// The settings in one TOML text, checked against the schema.
///
/// TOMLKit 0.6 never frees a parsed document. Each load of a file with all settings leaks 20 kB.
/// For a reload, the leak is acceptable. For frequent changes, `LiteralReader` avoids the parser
/// where possible.
struct TOMLDocument {
    /// Settings in the text, each with its value and line, in the order of the schema.
    private(set) var values: [(setting: Setting, value: SettingValue, line: Int?)] = []
    /// All problems, in the order of the text.
    private(set) var problems: [ConfigurationProblem] = []
    /// False if the text is not TOML; `values` is then empty.
    private(set) var isParsed = false

    private let path: String
    private var locator = TOMLKeyLocator([])

    /// Longest allowed line, bytes. The parser handles dotted keys recursively, so a line with many
    /// thousand keys would exhaust the stack.
    static let longestLine = 4096

    /// Largest number of reported problems. Without this limit, a file of another format could
    /// cause thousands of messages.
    static let problemLimit = 50

    /// Reads a whole file.
    ///
    /// - Parameters:
    ///   - bytes: The file's contents.
    ///   - path: Name of the file in messages.
    init(bytes: [UInt8], path: String) {
        self.path = path
        if let problem = Self.textProblem(bytes, path: path) {
            problems = [problem]
            return
        }
        locator = TOMLKeyLocator(bytes)
        if let fault = locator.fault {
            problems = [
                ConfigurationProblem(
                    .syntax, at: .file(path, line: fault.line, column: fault.column),
                    "not valid TOML: \(fault.message)")
            ]
            return
        }
        do {
            let table = try TOMLTable(string: String(decoding: bytes, as: UTF8.self))
            guard locator.linesWithNul.isEmpty else {
                problems = locator.linesWithNul.prefix(Self.problemLimit).map {
                    ConfigurationProblem(
                        .syntax, at: .file(path, line: $0, column: nil),
                        "a string contains a NUL character, which no setting allows")
                }
                return
            }
            isParsed = true
            visit(table, keys: [])
            // The problems are sorted by line here, because the parser sorts tables by name.
            problems.sort { Self.line(of: $0) < Self.line(of: $1) }
            if problems.count >= Self.problemLimit {
                problems.append(
                    ConfigurationProblem(
                        .unknownKey, at: .file(path, line: nil, column: nil),
                        "has further problems, which are not shown",
                        hint:
                            "Correct the problems shown above first, and check that this is the right file."
                    ))
            }
        } catch let error as TOMLParseError {
            problems = [Self.syntaxProblem(error, path: path)]
        } catch {
            problems = [
                ConfigurationProblem(
                    .syntax, at: .file(path, line: nil, column: nil), "not valid TOML: \(error)")
            ]
        }
    }

    private mutating func visit(_ table: TOMLTable, keys: [String]) {
        for name in table.keys {
            guard problems.count < Self.problemLimit else { return }
            guard let node = table[name]?.tomlValue else { continue }
            let path = keys + [name]
            let key = path.map(Self.quotedIfNeeded).joined(separator: ".")
            let location = locator[path]
            let place = Place.file(self.path, line: location?.line, column: nil)
            let raw = RawValue(node)
            if let setting = Schema.setting(key) {
                let written = location?.value ?? raw.typeName
                do throws(ConfigurationProblem) {
                    let value = try setting.check(raw, written: written, at: place)
                    values.append((setting, value, location?.line))
                } catch {
                    problems.append(error)
                }
            } else if Schema.settings.contains(where: { $0.key.hasPrefix(key + ".") }) {
                if let child = node.table {
                    visit(child, keys: path)
                } else {
                    let meant = KeySuggestion.setting(beside: key, taking: raw)
                    problems.append(
                        ConfigurationProblem(
                            .wrongType, at: place, key: key, value: location?.value,
                            "is \(raw.typeName) where a table is expected",
                            hint: meant.map { "Did you mean \($0)?" }
                                ?? "Write [\(key)] on a separate line, and the keys of this table on the lines below."
                        ))
                }
            } else {
                problems.append(unknown(key, raw, location?.value, at: place))
            }
        }
    }

    private func unknown(
        _ key: String, _ raw: RawValue, _ written: String?, at place: Place
    ) -> ConfigurationProblem {
        var isTable = raw == .table
        if case .array(let items) = raw, items.first == .table { isTable = true }
        guard isTable else { return .unknownKey(key, value: written, at: place) }
        let guess = Suggestion.nearest(to: key, in: Schema.tables.map(\.name))
        return ConfigurationProblem(
            .unknownKey, at: place, "[\(key)] is not a known table",
            hint: guess.map { "Did you mean [\($0)]?" })
    }

    private static func line(of problem: ConfigurationProblem) -> Int {
        if case .file(_, let line, _) = problem.place { return line ?? 0 }
        return 0
    }

    /// Adds quotes to a key if TOML requires them. Without quotes, `"a.b"` would be confused with
    /// `a.b`.
    private static func quotedIfNeeded(_ key: String) -> String {
        let isBare = key.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        return isBare && !key.isEmpty ? key : SettingValue.quoted(key)
    }
}

extension TOMLDocument {
    /// Largest number of lines that `salvaging` leaves out.
    private static let salvageLimit = 20

    /// Reads the valid lines of a file with syntax errors. Each line that prevents the parser from
    /// reading the file is reported and left out. If too many lines are invalid, the document has
    /// no values. The keys below an invalid header of a table are also left out, because the table
    /// before could have a key with the same name.
    ///
    /// - Parameters:
    ///   - bytes: The file's contents.
    ///   - path: Name of the file in messages.
    /// - Returns: The values of the other lines, and all problems.
    static func salvaging(bytes: [UInt8], path: String) -> TOMLDocument {
        let lineEnd = UInt8(ascii: "\n")
        var document = TOMLDocument(bytes: bytes, path: path)
        var lines = bytes.split(separator: lineEnd, omittingEmptySubsequences: false)
        var faults: [ConfigurationProblem] = []
        // If an array or a string has no end, the error is at the end of the file, which can be
        // below the last line of text.
        while !document.isParsed, faults.count < salvageLimit, let fault = document.problems.first,
            let last = lines.prefix(line(of: fault)).lastIndex(where: { !$0.isEmpty })
        {
            faults.append(fault)
            let next =
                isHeader(lines[last])
                ? lines[(last + 1)...].firstIndex(where: isHeader) ?? lines.endIndex : last + 1
            for index in last..<next { lines[index] = [] }
            document = TOMLDocument(bytes: Array(lines.joined(separator: [lineEnd])), path: path)
        }
        document.problems = faults + document.problems
        return document
    }

    /// True if a line begins like the header of a table, `[name`. An element of an array, such as
    /// `[1, 2],`, does not begin with a letter.
    private static func isHeader(_ line: ArraySlice<UInt8>) -> Bool {
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == 0x09 }
        let text = line.drop(while: isBlank)
        guard text.first == UInt8(ascii: "[") else { return false }
        let name = text.drop { $0 == UInt8(ascii: "[") || isBlank($0) }
        return name.first.map { Character(Unicode.Scalar($0)).isLetter } ?? false
    }

    /// Checks the text before it is parsed, because the parser would silently stop at a NUL
    /// character.
    fileprivate static func textProblem(_ bytes: [UInt8], path: String) -> ConfigurationProblem? {
        var line = 1
        var lineStart = 0
        for (position, byte) in bytes.enumerated() {
            if byte == 0 {
                return ConfigurationProblem(
                    .syntax, at: .file(path, line: line, column: position - lineStart + 1),
                    "contains a NUL byte, so it is not a text file")
            }
            if byte == UInt8(ascii: "\n") {
                line += 1
                lineStart = position + 1
            } else if position - lineStart == longestLine {
                return ConfigurationProblem(
                    .syntax, at: .file(path, line: line, column: nil),
                    "the line is longer than \(longestLine) bytes")
            }
        }
        guard String(validating: bytes, as: UTF8.self) == nil else { return nil }
        return ConfigurationProblem(
            .unreadable, at: .file(path, line: invalidLine(bytes), column: nil), "is not UTF-8",
            hint:
                "Save the file as UTF-8. Check characters such as µ, ° and ä, which are often in another encoding."
        )
    }

    /// Number of the first line that is not UTF-8; nil if all lines are UTF-8. Line ends never
    /// occur inside a UTF-8 character, so lines can be checked separately.
    private static func invalidLine(_ bytes: [UInt8]) -> Int? {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }.map { $0 + 1 }
    }

    fileprivate static func syntaxProblem(_ error: TOMLParseError, path: String)
        -> ConfigurationProblem
    {
        var text = ConfigurationProblem.shortened(error.description, limit: 200)
        while text.hasSuffix(".") { text.removeLast() }
        return ConfigurationProblem(
            .syntax,
            at: .file(path, line: error.source.begin.line, column: error.source.begin.column),
            "not valid TOML: \(text)",
            hint: text.contains("cannot redefine existing")
                ? "A file can contain each table header and each key once. Put all keys of a table below its first header, and remove the second one."
                : nil)
    }
}

extension ConfigurationProblem {
    /// Problem for a key that is not a setting.
    static func unknownKey(
        _ key: String, value: String? = nil, at place: Place? = nil
    ) -> ConfigurationProblem {
        if let remedy = Schema.removed[key] {
            return .unknown(
                key, value: value, at: place, guess: nil,
                remedy: place == .saved ? Schema.removedSince : remedy)
        }
        let table = Schema.settings.filter { $0.key.hasPrefix(key + ".") }
        let isTable = !table.isEmpty
        let guess =
            isTable
            ? value.flatMap(LiteralReader.read).flatMap {
                KeySuggestion.setting(beside: key, taking: $0)
            }
            : KeySuggestion.setting(for: key)
        let keys = table.map(\.name).joined(separator: ", ")
        return .unknown(
            key, value: value, at: place, guess: guess,
            remedy: isTable ? "This is a table, not a setting; its keys are \(keys)." : nil)
    }
}

extension TOMLDocument {
    /// Value of the text `value = …`; nil for any other text.
    static func raw(_ text: String) -> RawValue? {
        let locator = TOMLKeyLocator(Array(text.utf8))
        guard locator.fault == nil, locator.linesWithNul.isEmpty,
            let table = try? TOMLTable(string: text), table.count == 1, let node = table["value"]
        else { return nil }
        return RawValue(node.tomlValue)
    }
}

extension RawValue {
    /// Copies a value out of the parser's memory.
    init(_ node: TOMLValue) {
        switch node.type {
        case .bool: self = .bool(node.bool ?? false)
        case .int: self = .integer(node.int ?? 0)
        case .double: self = .number(node.double ?? .nan)
        case .string: self = .text(node.string ?? "")
        case .table: self = .table
        case .array: self = .array((node.array ?? []).map { RawValue($0.tomlValue) })
        case .date, .time, .dateTime: self = .date
        }
    }
}

/// TOML text of a program that does not use the schema of the settings.
public enum TOMLText {
    /// Converts a TOML file to JSON, after the checks of a configuration file.
    ///
    /// - Parameters:
    ///   - bytes: The file's contents.
    ///   - path: Name of the file in messages.
    /// - Returns: The table as a JSON object.
    /// - Throws: `ConfigurationProblem` if the file is not UTF-8 or not TOML.
    public static func json(_ bytes: [UInt8], path: String) throws(ConfigurationProblem) -> String {
        if let problem = TOMLDocument.textProblem(bytes, path: path) { throw problem }
        let locator = TOMLKeyLocator(bytes)
        if let fault = locator.fault {
            throw ConfigurationProblem(
                .syntax, at: .file(path, line: fault.line, column: fault.column),
                "not valid TOML: \(fault.message)")
        }
        do {
            return try TOMLTable(string: String(decoding: bytes, as: UTF8.self)).convert(to: .json)
        } catch let error as TOMLParseError {
            throw TOMLDocument.syntaxProblem(error, path: path)
        } catch {
            throw ConfigurationProblem(
                .syntax, at: .file(path, line: nil, column: nil), "not valid TOML: \(error)")
        }
    }
}
