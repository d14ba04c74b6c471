import GimbalCore
import Testing

@testable import Configuration

@Suite("Literals on the command line and on the socket")
struct LiteralTests {
    @Test(
        "a literal is a TOML value or a bare word",
        arguments: [
            ("true", .bool(true)), ("false", .bool(false)), ("5", .integer(5)),
            (" -5 ", .integer(-5)),
            ("+7", .integer(7)), ("0", .integer(0)), ("-0.5", .number(-0.5)),
            ("1e3", .number(1000)),
            ("2.5E-3", .number(0.0025)), ("1_000", .integer(1000)), ("0x10", .integer(16)),
            ("inf", .number(.infinity)), ("-inf", .number(-.infinity)),
            ("9223372036854775807", .integer(.max)),
            ("[1, 2.5,3,]", .array([.integer(1), .number(2.5), .integer(3)])), ("[]", .array([])),
            (
                "[[-1,1],[2,3]]",
                .array([.array([.integer(-1), .integer(1)]), .array([.integer(2), .integer(3)])])
            ),
            ("[1, 'a']", .array([.integer(1), .text("a")])),
            ("[[[1]]]", .array([.array([.array([.integer(1)])])])),
            ("\"a b\"", .text("a b")), ("'a\\b'", .text("a\\b")), ("\"\\u00e9\"", .text("é")),
            ("walking", .text("walking")), ("/run/x.sock", .text("/run/x.sock")),
            ("_a-b", .text("_a-b")), ("{ a = 1 }", .table), ("2026-11-21", .date),
            ("5 # five", .integer(5)), ("truely", .text("truely")),
        ] as [(String, RawValue)])
    func values(text: String, expected: RawValue) {
        #expect(LiteralReader.read(text) == expected)
    }

    @Test(
        "NaN is read as a number, so that the range check can refuse it",
        arguments: ["nan", "+nan", "-nan"])
    func nan(text: String) {
        guard case .number(let value) = LiteralReader.read(text) else {
            Issue.record("\(text) is a number in TOML")
            return
        }
        #expect(value.isNaN)
    }

    @Test(
        "a text that is neither a TOML value nor a bare word is refused",
        arguments: [
            "", "  ", "01", "1.", ".5", "1e", "--1", "[1", "1]", "[1,,2]", "[,]", "[1][2]", "]1[",
            "a\nb = 1", "1\nb = 2", "\"open", "a = 1", "a, b", "\"a\\u0000b\"",
            "99999999999999999999", "\u{7F}", "#", "5x",
        ])
    func refused(text: String) {
        #expect(LiteralReader.read(text) == nil)
    }

    @Test("the literal reader agrees with the TOML parser", arguments: 0..<300)
    func agreesWithTheParser(seed: Int) throws {
        var generator = Generator(seed: UInt64(seed))
        let alphabet = [
            "0", "1", "7", ".", "-", "+", "e", "E", "[", "]", ",", " ", "_", "nan", "inf",
        ]
        for _ in 0..<20 {
            let text = (0..<Int.random(in: 1...8, using: &generator))
                .map { _ in generator.element(of: alphabet) }.joined()
            // The result must be the same as in a TOML document, in which the parser reads the
            // value.
            let document = TOMLDocument.raw("value = " + text)
            let literal = LiteralReader.read(text)
            if case .text? = literal { continue }
            #expect(literal.debugText == document.debugText, "\(text)")
        }
    }

    @Test("a written value can be read back without a change", arguments: 0..<200)
    func roundTrip(seed: Int) throws {
        var generator = Generator(seed: UInt64(seed))
        let bits = Double(bitPattern: generator.next())
        for number in [
            bits, bits.rounded(), Double(seed) / 10, Double.random(in: -1...1, using: &generator),
        ]
        where number.isFinite {
            let text = SettingValue.number(number).tomlText
            #expect(LiteralReader.read(text)?.asNumber == number, "\(text)")
        }
        let scalars = (0..<8).map { _ in generator.element(of: Array("a\"\\\n\t\r'#\u{1}\u{7F}é🎥 "))
        }
        let string = String(scalars)
        #expect(LiteralReader.read(SettingValue.text(string).tomlText) == .text(string))
    }
}

extension RawValue? {
    /// Text of a value, for comparisons: a NaN is not equal to another NaN.
    fileprivate var debugText: String { map { "\($0)" } ?? "refused" }
}
