extension JSONParser {
    /// Reads a string from its opening quote at `position`.
    mutating func string() throws(JSONError) -> String {
        let start = position
        position += 1
        var text: [UInt8] = []
        var run = position
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                text += bytes[run..<position]
                position += 1
                return try checked(text, from: start + 1)
            case UInt8(ascii: "\\"):
                text += bytes[run..<position]
                position += 1
                text += try escape()
                run = position
            case 0..<0x20:
                throw unexpected("control characters in a string must be escaped")
            default:
                position += 1
            }
        }
        throw JSONError(offset: position, reason: "the text ends inside a string")
    }

    /// Converts bytes of the source to a `String`. For invalid UTF-8, the error contains the
    /// position of the invalid byte in the source.
    private func checked(_ text: [UInt8], from start: Int) throws(JSONError) -> String {
        if let string = String(validating: text, as: UTF8.self) { return string }
        let source = bytes[start..<position]
        throw JSONError(
            offset: start + Self.validPrefixLength(source), reason: "invalid UTF-8 in a string")
    }

    /// Length of the longest valid UTF-8 prefix, bytes.
    static func validPrefixLength(_ bytes: some Sequence<UInt8>) -> Int {
        var iterator = bytes.makeIterator()
        var parser = Unicode.UTF8.ForwardParser()
        var length = 0
        while case .valid(let scalar) = parser.parseScalar(from: &iterator) {
            length += scalar.count
        }
        return length
    }

    /// Reads one escape sequence after its backslash, and returns the character in UTF-8.
    private mutating func escape() throws(JSONError) -> [UInt8] {
        guard let byte = peek else {
            throw JSONError(offset: position, reason: "the text ends inside a string")
        }
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
            position += 1
            return [byte]
        case UInt8(ascii: "b"): return simple(0x08)
        case UInt8(ascii: "f"): return simple(0x0C)
        case UInt8(ascii: "n"): return simple(0x0A)
        case UInt8(ascii: "r"): return simple(0x0D)
        case UInt8(ascii: "t"): return simple(0x09)
        case UInt8(ascii: "u"): return Array(try unicodeEscape().utf8)
        default: throw unexpected("expected an escape character after `\\`")
        }
    }

    private mutating func simple(_ byte: UInt8) -> [UInt8] {
        position += 1
        return [byte]
    }

    /// Parses `u` and four hexadecimal digits, twice for a surrogate pair.
    private mutating func unicodeEscape() throws(JSONError) -> String {
        let start = position - 1
        let first = try codeUnit()
        var units = [first]
        if (0xD800...0xDBFF).contains(first), take("\\") {
            guard peek == UInt8(ascii: "u") else { throw unexpected("expected `\\u`") }
            units.append(try codeUnit())
        }
        guard let text = String(validating: units, as: UTF16.self) else {
            throw JSONError(offset: start, reason: "half of a surrogate pair")
        }
        return text
    }

    private mutating func codeUnit() throws(JSONError) -> UInt16 {
        position += 1
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Unicode.Scalar(byte).hexadecimalValue else {
                throw unexpected("expected a hexadecimal digit")
            }
            unit = unit << 4 | digit
            position += 1
        }
        return unit
    }
}

extension Unicode.Scalar {
    /// Value of a hexadecimal digit, 0...15, for `0`–`9`, `a`–`f`, `A`–`F`.
    fileprivate var hexadecimalValue: UInt16? {
        switch self {
        case "0"..."9": UInt16(value - 0x30)
        case "a"..."f": UInt16(value - 0x61 + 10)
        case "A"..."F": UInt16(value - 0x41 + 10)
        default: nil
        }
    }
}
