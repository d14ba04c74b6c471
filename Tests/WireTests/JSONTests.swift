import Testing
import Wire

@Suite("JSON text")
struct JSONTests {
    private func parse(_ text: String) throws -> JSONValue {
        try JSONValue(parsing: Array(text.utf8))
    }

    @Test(
        "valid JSON text is parsed to its value",
        arguments: [
            ("null", .null), (" true ", true), ("false", false), ("0", 0), ("-12", -12),
            ("1.0", .double(1)), ("-0", .double(-0.0)), ("2.5e-3", 0.0025), ("1E+2", .double(100)),
            ("9223372036854775807", .int(.max)), ("9223372036854775808", .double(0x1p63)),
            (#""a\"\\\/\b\f\n\r\tü""#, "a\"\\/\u{8}\u{C}\n\r\tü"),
            (#""\u00e4\ud83d\ude00""#, "ä😀"), ("[]", []), ("{ }", [:]),
            ("[1, [2] ,\t{\"a\":null}\r\n]", [1, [2], ["a": .null]]),
        ] as [(String, JSONValue)])
    func reads(text: String, value: JSONValue) throws {
        #expect(try parse(text) == value)
    }

    @Test(
        "a syntax error is reported with the offset of its byte",
        arguments: [
            ("", 0, "expected a value, found the end of the text"), ("  ", 2, "expected a value"),
            ("tru", 3, "expected `true`"), ("nul!", 3, "found `!`"),
            ("01", 1, "the end of the text"),
            ("-", 1, "expected a digit"), ("1.", 2, "expected a digit"),
            ("1e+", 3, "expected a digit"),
            ("+1", 0, "expected a value"), (".5", 0, "expected a value"), ("NaN", 0, "found `N`"),
            ("1e999", 0, "number 1e999 is out of range"), ("[1,]", 3, "expected a value"),
            ("[1 2]", 3, "expected `,` or `]`"), ("[1", 2, "the end of the text"),
            ("{\"a\" 1}", 5, "expected `:`"), ("{\"a\":1,}", 7, "expected a member name"),
            ("{a:1}", 1, "expected a member name"), ("{\"a\":1,\"a\":2}", 7, "second member"),
            ("\"abc", 4, "the text ends inside a string"), ("\"a\nb\"", 2, "must be escaped"),
            (#""\x""#, 2, "after `\\`"), (#""\u12g4""#, 5, "hexadecimal"),
            (#""\ud800x""#, 1, "surrogate"), (#""\udc00""#, 1, "surrogate"),
        ] as [(String, Int, String)])
    func refuses(text: String, offset: Int, words: String) {
        let error = #expect(throws: JSONError.self) { try parse(text) }
        #expect(error?.offset == offset)
        #expect(error?.sentence.contains(words) == true, "\(error?.sentence ?? "-")")
    }

    @Test("invalid UTF-8 is reported with the offset of its byte")
    func invalidUTF8() {
        for (bytes, offset) in [
            ([0x22, 0x61, 0xC3, 0x28, 0x22], 2), ([0x22, 0xED, 0xA0, 0x80, 0x22], 1),
        ]
            as [([UInt8], Int)]
        {
            let error = #expect(throws: JSONError.self) { try JSONValue(parsing: bytes) }
            #expect(error?.offset == offset)
        }
    }

    @Test("text that is nested deeper than the limit is refused")
    func depth() throws {
        let limit = JSONValue.maximumDepth
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        _ = try parse(nested(limit))
        let error = #expect(throws: JSONError.self) { try parse(nested(limit + 1)) }
        #expect(error?.offset == limit)
        #expect(throws: JSONError.self) { try parse(String(repeating: "{\"a\":", count: 100_000)) }
    }

    @Test(
        "a value is exactly the same after writing and parsing",
        arguments: [
            .null, true, 7, .double(7), .double(0.1), .double(-1.0e-300),
            .double(.leastNonzeroMagnitude),
            .double(.greatestFiniteMagnitude), "", "a\"\\\u{1}\u{1F}\n\u{7F}\u{2028}😀",
            ["b": [1, 2.5, .null], "a": ["": "x"]],
        ] as [JSONValue])
    func roundTrip(value: JSONValue) throws {
        #expect(try parse(value.text) == value)
        #expect(!value.text.contains("\n"))
    }

    @Test("members are written in alphabetical order, and numbers that are not finite as null")
    func writes() {
        let value: JSONValue = ["b": .double(.nan), "a": .double(-.infinity), "c": "\u{1}"]
        #expect(value.text == #"{"a":null,"b":null,"c":"\u0001"}"#)
    }

    @Test("every incomplete prefix of a request is refused")
    func prefixes() throws {
        let bytes = Array(#"{"id":-1.5e3,"s":"\u00e4ü","l":[true,null]}"#.utf8)
        for length in 0..<bytes.count {
            #expect(throws: JSONError.self) { try JSONValue(parsing: Array(bytes[..<length])) }
        }
    }
}
