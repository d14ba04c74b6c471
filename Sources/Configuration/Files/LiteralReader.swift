/// Parser of the value in `--set KEY=VALUE` and `airframectl set`. The value is TOML, but words and
/// addresses with ports need no quotes.
///
/// `LiteralReader` parses numbers, words, strings and arrays of these types. All other values are
/// passed to the TOML parser. A phone's slider can set a gain many times per second. The TOML
/// parser would leak memory each time, because TOMLKit 0.6 never frees a parsed document.
enum LiteralReader {
    /// Parses `text`; nil if it is neither TOML nor a word.
    static func read(_ text: String) -> RawValue? {
        let bytes = Array(Array(text.utf8).trimmingBlanks())
        guard !bytes.isEmpty, bytes.count <= 4096 else { return nil }
        // The text must be one line without control characters. Otherwise the TOML parser would
        // read the second line as another setting.
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else { return nil }
        if let simple = simple(bytes[...], depth: 0) { return simple }
        let value = String(decoding: bytes, as: UTF8.self)
        if let raw = TOMLDocument.raw("value = " + value) { return raw }
        return isWord(bytes) || NetworkEndpoint(value) != nil ? .text(value) : nil
    }

    private static func simple(_ text: ArraySlice<UInt8>, depth: Int) -> RawValue? {
        let text = text.trimmingBlanks()
        guard let first = text.first else { return nil }
        if first == UInt8(ascii: "[") {
            guard depth < 2, text.last == UInt8(ascii: "]"), text.count >= 2 else { return nil }
            return array(text.dropFirst().dropLast(), depth: depth + 1)
        }
        // A string without escapes; the TOML parser reads all other strings.
        if first == UInt8(ascii: "\""), text.count >= 2, text.last == first {
            let inner = text.dropFirst().dropLast()
            guard !inner.contains(first), !inner.contains(UInt8(ascii: "\\")) else { return nil }
            return .text(String(decoding: inner, as: UTF8.self))
        }
        switch String(decoding: text, as: UTF8.self) {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "nan", "+nan", "-nan": return .number(.nan)
        case "inf", "+inf": return .number(.infinity)
        case "-inf": return .number(-.infinity)
        default: return number(text)
        }
    }

    private static func array(_ text: ArraySlice<UInt8>, depth: Int) -> RawValue? {
        var items: [RawValue] = []
        var start = text.startIndex
        var level = 0
        for position in text.indices {
            switch text[position] {
            case UInt8(ascii: "["): level += 1
            case UInt8(ascii: "]"): level -= 1
            case UInt8(ascii: ",") where level == 0:
                guard let item = simple(text[start..<position], depth: depth) else { return nil }
                items.append(item)
                start = position + 1
            default: break
            }
        }
        // A comma can follow the last element.
        let rest = text[start...].trimmingBlanks()
        if rest.isEmpty { return .array(items) }
        guard let item = simple(rest, depth: depth) else { return nil }
        return .array(items + [item])
    }

    /// Parses a decimal TOML number without underscores; nil for any other text.
    private static func number(_ text: ArraySlice<UInt8>) -> RawValue? {
        var rest = text
        if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
        let whole = rest.prefix(while: isDigit)
        rest = rest.dropFirst(whole.count)
        guard !whole.isEmpty, whole.count == 1 || whole.first != UInt8(ascii: "0") else {
            return nil
        }
        let string = String(decoding: text, as: UTF8.self)
        // The result is nil for an integer of more than 64 bits; the TOML parser then reports the
        // problem.
        if rest.isEmpty { return Int(string).map(RawValue.integer) }
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            let fraction = rest.prefix(while: isDigit)
            guard !fraction.isEmpty else { return nil }
            rest = rest.dropFirst(fraction.count)
        }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest.removeFirst()
            if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") {
                rest.removeFirst()
            }
            let exponent = rest.prefix(while: isDigit)
            guard !exponent.isEmpty else { return nil }
            rest = rest.dropFirst(exponent.count)
        }
        return rest.isEmpty ? Double(string).map(RawValue.number) : nil
    }

    /// True if the text begins like a word or a path, and has no character with a special meaning
    /// in TOML.
    private static func isWord(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first else { return false }
        let isLetter = UInt8(ascii: "a")...UInt8(ascii: "z") ~= first | 0x20
        guard isLetter || first == UInt8(ascii: "/") || first == UInt8(ascii: "_") else {
            return false
        }
        return !bytes.contains { Array("\"'[]{}=#,".utf8).contains($0) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }
}

extension BidirectionalCollection where Element == UInt8 {
    /// The text without spaces and tabs at both ends.
    func trimmingBlanks() -> SubSequence {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        var result = self[...]
        while let first = result.first, isBlank(first) { result = result.dropFirst() }
        while let last = result.last, isBlank(last) { result = result.dropLast() }
        return result
    }
}
