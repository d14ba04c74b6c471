/// Error in a JSON text, with its position.
public struct JSONError: Error, Hashable, Sendable {
    /// Offset of the first invalid byte, from 0.
    public var offset: Int
    /// Reason of the error without the offset: the expected or the unexpected text.
    public var reason: String

    /// The reason with its position, such as "expected a value, found `}` at byte 12".
    public var sentence: String { "\(reason) at byte \(offset)" }
}

extension JSONValue {
    /// Largest nesting depth in `init(parsing:)`. The project's messages have fewer than ten
    /// levels. Without the limit, a text such as `[[[[…` would exhaust the stack.
    public static let maximumDepth = 32

    /// Parses one JSON text (RFC 8259), with optional white space around it.
    ///
    /// The parser is stricter than most parsers, because a misinterpreted request could move a
    /// motor. Duplicate member names, numbers that overflow a double, and invalid UTF-8 are errors.
    /// Do not use the parser on the loop's thread, because it allocates memory.
    ///
    /// - Parameter bytes: The JSON text in UTF-8, without a byte-order mark.
    /// - Throws: The first error in the JSON text, with its byte offset.
    public init(parsing bytes: [UInt8]) throws(JSONError) {
        var parser = JSONParser(bytes: bytes)
        self = try parser.document()
    }
}

/// Recursive descent parser for bytes. One instance parses one text.
struct JSONParser {
    let bytes: [UInt8]
    var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(JSONError) -> JSONValue {
        skipSpace()
        let value = try self.value(depth: 0)
        skipSpace()
        guard position == bytes.count else { throw unexpected("expected the end of the text") }
        return value
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        guard position < bytes.count else { throw unexpected("expected a value") }
        switch bytes[position] {
        case UInt8(ascii: "{"): return .object(try object(depth: depth))
        case UInt8(ascii: "["): return .array(try array(depth: depth))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw unexpected("expected a value")
        }
    }

    private mutating func object(depth: Int) throws(JSONError) -> [String: JSONValue] {
        try enter(depth)
        var members: [String: JSONValue] = [:]
        skipSpace()
        if take("}") { return members }
        while true {
            skipSpace()
            let start = position
            guard peek == UInt8(ascii: "\"") else { throw unexpected("expected a member name") }
            let name = try string()
            skipSpace()
            guard take(":") else { throw unexpected("expected `:`") }
            skipSpace()
            let value = try self.value(depth: depth + 1)
            guard members.updateValue(value, forKey: name) == nil else {
                throw JSONError(offset: start, reason: "second member named \"\(name)\"")
            }
            skipSpace()
            if take("}") { return members }
            guard take(",") else { throw unexpected("expected `,` or `}`") }
        }
    }

    private mutating func array(depth: Int) throws(JSONError) -> [JSONValue] {
        try enter(depth)
        var elements: [JSONValue] = []
        skipSpace()
        if take("]") { return elements }
        while true {
            skipSpace()
            elements.append(try value(depth: depth + 1))
            skipSpace()
            if take("]") { return elements }
            guard take(",") else { throw unexpected("expected `,` or `]`") }
        }
    }

    /// Skips the opening bracket, or throws if the nesting is too deep.
    private mutating func enter(_ depth: Int) throws(JSONError) {
        guard depth < JSONValue.maximumDepth else {
            throw JSONError(
                offset: position, reason: "nested deeper than \(JSONValue.maximumDepth) levels")
        }
        position += 1
    }

    private mutating func word(_ text: StaticString, _ value: JSONValue) throws(JSONError)
        -> JSONValue
    {
        for index in 0..<text.utf8CodeUnitCount {
            guard peek == text.utf8Start[index] else { throw unexpected("expected `\(text)`") }
            position += 1
        }
        return value
    }

    private mutating func number() throws(JSONError) -> JSONValue {
        let start = position
        var isInteger = true
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") {
            isInteger = false
            try digits()
        }
        if take("e") || take("E") {
            isInteger = false
            if !take("+") { _ = take("-") }
            try digits()
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        // The text `-0` is parsed as a double, because an integer would lose the sign.
        if isInteger, text != "-0", let value = Int(text) { return .int(value) }
        guard let value = Double(text), value.isFinite else {
            throw JSONError(offset: start, reason: "number \(text.prefix(32)) is out of range")
        }
        return .double(value)
    }

    private mutating func digits() throws(JSONError) {
        let start = position
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            position += 1
        }
        guard position > start else { throw unexpected("expected a digit") }
    }
}

extension JSONParser {
    var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            position += 1
        }
    }

    /// Creates the error for the text at `position`. The message contains the unexpected element:
    /// the end of the text, a printable character, or a byte in hexadecimal.
    func unexpected(_ expectation: String) -> JSONError {
        let found: String
        switch peek {
        case nil: found = "the end of the text"
        case let byte? where byte > 0x20 && byte < 0x7F: found = "`\(Unicode.Scalar(byte))`"
        case let byte?: found = "byte 0x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return JSONError(offset: position, reason: "\(expectation), found \(found)")
    }
}
