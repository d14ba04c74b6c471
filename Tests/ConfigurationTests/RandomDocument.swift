/// Reproducible random number generator (SplitMix64, Steele et al. 2014).
struct Generator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func element<T>(of choices: [T]) -> T {
        choices[Int.random(in: 0..<choices.count, using: &self)]
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}

/// Random valid TOML with all constructs that can hide a key. Each key is unique, so that any
/// nesting is valid.
enum RandomDocument {
    static func text(_ generator: inout Generator) -> String {
        var writer = Writer(generator: generator)
        writer.pairs()
        for _ in 0..<Int.random(in: 0...5, using: &writer.generator) { writer.table() }
        generator = writer.generator
        return writer.text
    }

    private struct Writer {
        var generator: Generator
        var text = ""
        private var names = 0

        init(generator: Generator) {
            self.generator = generator
            if self.generator.chance(10) { text = "\u{FEFF}" }
        }

        private mutating func name() -> String {
            names += 1
            let plain = "k\(names)"
            return switch Int.random(in: 0..<5, using: &generator) {
            case 0: "\"\(plain) = #\""
            case 1: "'\(plain).]['"
            default: plain
            }
        }

        private mutating func dotted() -> String {
            var key = name()
            while generator.chance(30) {
                key += generator.element(of: [".", " . ", "\t."]) + name()
            }
            return key
        }

        private mutating func endLine() {
            text += generator.element(of: ["", " ", " # k0 = [ \"", "\t#'''"])
            text += generator.element(of: ["\n", "\n", "\r\n", "\n\n", "\n# [k0]\n"])
        }

        mutating func pairs() {
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                text += generator.element(of: ["", "  ", "\t"]) + dotted()
                text += generator.element(of: ["=", " = ", "\t=  "])
                value(depth: 0, isInline: false)
                endLine()
            }
        }

        mutating func table() {
            let key = dotted()
            if generator.chance(30) {
                for _ in 0..<Int.random(in: 1...3, using: &generator) {
                    text += "[[\(key)]]"
                    endLine()
                    pairs()
                    if generator.chance(40) {
                        text += "[\(key).\(name())]"
                        endLine()
                        pairs()
                    }
                }
            } else {
                text += "[ \(key) ]"
                endLine()
                pairs()
            }
        }

        /// Inline tables cannot span lines, except in strings. For simplicity, values inside inline
        /// tables do not span lines either.
        private mutating func value(depth: Int, isInline: Bool) {
            let simple = [
                "1", "-0.5e3", "true", "nan", "1979-05-27T07:32:00Z", "1979-05-27 07:32:00", "0xFF",
                "\"\"", "''", "\"k0 = 1 # \\\" \"", "'[k0] \\'", "\"\\u00e9 é 🎥\"",
            ]
            let multiline = [
                "\"\"\"\nk0 = 1\n[k0]\n\"\"\"", "'''\n\"\"\"\nk0 = '' \n'''",
                "\"\"\"a\\\n  \"\" b\"\"\"\"\"",
                "\"\"\"\r\nx\\\"\"\"\"",
            ]
            let kind = depth > 3 ? 0 : Int.random(in: 0..<10, using: &generator)
            switch kind {
            case 0...4: text += generator.element(of: simple)
            case 5: text += isInline ? "7" : generator.element(of: multiline)
            case 6, 7:
                text += "["
                for _ in 0..<Int.random(in: 0...3, using: &generator) {
                    if !isInline { text += generator.element(of: ["", "\n", " # k0 = ]\n"]) }
                    value(depth: depth + 1, isInline: isInline)
                    text += ", "
                }
                text += "]"
            default:
                text += "{ "
                for position in 0..<Int.random(in: 0...3, using: &generator) {
                    text += (position > 0 ? ", " : "") + dotted() + " = "
                    value(depth: depth + 1, isInline: true)
                }
                text += " }"
            }
        }
    }
}

/// Random sequence of TOML tokens, which is rarely valid TOML.
enum TokenSoup {
    private static let tokens = [
        "[", "]", "[[", "]]", "{", "}", "=", ".", ",", "\"", "'", "\"\"\"", "'''", "#", "\n",
        "\r\n", "\r",
        " ", "\t", "k", "a", "b", "0", "1", "7", "-", "+", "_", "e", "inf", "nan", "true", "tr",
        "1979-05-27", "T07:32:00", "Z", "-08:00", ":", "0x", "0b", "\\", "\\u0041", "\\uD800", "é",
        "🎥",
        "\u{1}", "\u{7F}", "[a]", "a=1", "a.b=", "x={", "y=[", "1.5", "99999999999999999999",
        "1e400",
        "\u{FEFF}", "~", "!", "$", "\u{85}", "\u{2028}", "loop", "rate_hz", "1979-05-27tr", "y=[}",
        "1979-05-27 ", "y = ",
    ]

    static func text(_ generator: inout Generator) -> String {
        (0..<Int.random(in: 1...14, using: &generator))
            .map { _ in generator.element(of: tokens) }.joined()
    }
}
