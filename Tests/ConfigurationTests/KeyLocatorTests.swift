import Configuration
import TOMLKit
import Testing

@Suite("Location of keys in a TOML file")
struct KeyLocatorTests {
    typealias Step = TOMLKeyLocator.Step

    private func line(_ text: String, _ steps: Step...) -> Int? {
        TOMLKeyLocator(Array(text.utf8)).locations[steps]?.line
    }

    private func value(_ text: String, _ steps: Step...) -> String? {
        TOMLKeyLocator(Array(text.utf8)).locations[steps]?.value
    }

    @Test("keys in tables are found, below comments and blank lines")
    func tables() {
        let text =
            "top = 1\n\n# a comment = 2\n[loop] # [other]\n  rate_hz = 500 # Hz\n[a.b]\nc = 3"
        #expect(line(text, .key("top")) == 1)
        #expect(line(text, .key("loop")) == 4)
        #expect(line(text, .key("loop"), .key("rate_hz")) == 5)
        #expect(value(text, .key("loop"), .key("rate_hz")) == "500")
        #expect(line(text, .key("a")) == 6)
        #expect(line(text, .key("a"), .key("b"), .key("c")) == 7)
    }

    @Test("dotted keys are found, with spaces around the dots, and their tables, too")
    func dottedKeys() {
        let text = "[x]\na . b.c = true\n"
        #expect(line(text, .key("x"), .key("a"), .key("b"), .key("c")) == 2)
        #expect(line(text, .key("x"), .key("a"), .key("b")) == 2)
        #expect(value(text, .key("x"), .key("a"), .key("b"), .key("c")) == "true")
    }

    @Test("quoted keys and their escapes are resolved")
    func quotedKeys() {
        let text = "\"a.b\" = 1\n'c d'.\"e\\u0066\" = 2\n\"\" = 3\n[\"#[]=\"]\nx = 4"
        #expect(line(text, .key("a.b")) == 1)
        #expect(line(text, .key("c d"), .key("ef")) == 2)
        #expect(line(text, .key("")) == 3)
        #expect(line(text, .key("#[]="), .key("x")) == 5)
    }

    @Test("elements of arrays of tables are counted")
    func arraysOfTables() {
        let text = """
            [[motor]]
            name = "a"
            [motor.limits]
            low = 1
            [[motor]]
            name = "b"
            [[motor.stage]]
            gain = 1
            [[motor.stage]]
            gain = 2
            """
        #expect(line(text, .key("motor"), .index(0), .key("name")) == 2)
        #expect(line(text, .key("motor"), .index(0), .key("limits"), .key("low")) == 4)
        #expect(line(text, .key("motor"), .index(1), .key("name")) == 6)
        #expect(
            line(text, .key("motor"), .index(1), .key("stage"), .index(1), .key("gain")) == 10)
    }

    @Test("inline tables and arrays over several lines are searched")
    func nestedValues() {
        let text = "a = { b = 1, c.d = [1, {e = 2}] }\nf = [\n  1, # one ]\n  [2,\n   3],\n]\ng = 1"
        #expect(line(text, .key("a"), .key("b")) == 1)
        #expect(line(text, .key("a"), .key("c"), .key("d"), .index(1), .key("e")) == 1)
        #expect(line(text, .key("f"), .index(0)) == 3)
        #expect(line(text, .key("f"), .index(1), .index(1)) == 5)
        #expect(line(text, .key("g")) == 7)
    }

    @Test(
        "the contents of strings are not mistaken for keys",
        arguments: [
            "a = \"\"\"\nb = 1\n\"\"\"\nkey = 1",
            "a = '''\n[b]\n'''\nkey = 1",
            "a = \"\"\"x\\\"\"\"\"\n\n\nkey = 1",
            "a = \"\"\"\"\"two\"\"\"\"\"\n\n\nkey = 1",
            "a = \"# no comment\"\n\n\nkey = 1",
            "a = \"\\\\\"\n\n\nkey = 1",
            "a = 'C:\\'\n\n\nkey = 1",
            "a = [\"]\", ']', \"\"\"\n]\"\"\"]\n\nkey = 1",
        ])
    func strings(text: String) throws {
        #expect(try TOMLTable(string: text).keys.sorted() == ["a", "key"])
        #expect(line(text, .key("key")) == 4)
    }

    @Test("lines with CRLF are counted, and a byte order mark is skipped")
    func lineEnds() {
        let text = "\u{FEFF}[a]\r\nb = 1\r\n\r\nc = \"\"\"x\r\ny\"\"\"\r\nd = 2\r\n"
        #expect(line(text, .key("a")) == 1)
        #expect(value(text, .key("a"), .key("b")) == "1")
        #expect(line(text, .key("a"), .key("d")) == 6)
        #expect(value(text, .key("a"), .key("d")) == "2")
    }

    @Test("columns are in bytes")
    func columns() {
        let locator = TOMLKeyLocator(Array("a = 1\n  b = [7,  8]\n".utf8))
        #expect(locator[["b"]].map { [$0.line, $0.column] } == [2, 3])
        #expect(locator.locations[[.key("b"), .index(1)]]?.column == 12)
    }

    @Test("reading invalid TOML ends without a trap", arguments: 0..<200)
    func nonsense(seed: Int) {
        var generator = Generator(seed: UInt64(seed))
        let alphabet = Array("[]{}=.,\"'#\\\n\r \tau0🎥".utf8)
        let text = (0..<400).map { _ in generator.element(of: alphabet) }
        // The test passes if the call returns without a trap.
        #expect(TOMLKeyLocator(text).locations.count <= text.count)
    }

    @Test(
        "the locator finds every key that the parser finds, on a line that contains the key",
        arguments: 0..<300)
    func agreesWithTheParser(seed: Int) throws {
        var generator = Generator(seed: UInt64(seed))
        let text = RandomDocument.text(&generator)
        let paths = try Self.paths(in: try TOMLTable(string: text).tomlValue, [])
        let locator = TOMLKeyLocator(Array(text.utf8))
        // Splits the bytes, because a Swift character can contain both CR and LF.
        let lines = text.utf8.split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
        ).map { String(decoding: Array($0), as: UTF8.self) }
        #expect(!paths.isEmpty)
        for path in paths {
            guard case .key(let name)? = path.last else { continue }
            let location = try #require(locator.locations[path], "\(path) in:\n\(text)")
            #expect(lines[location.line - 1].contains(name), "\(path) in:\n\(text)")
        }
        #expect(Set(locator.locations.keys) == Set(paths), "in:\n\(text)")
        #expect(locator.fault == nil, "in:\n\(text)")
    }

    @Test(
        "the locator agrees with the parser on every damaged text that is still valid TOML",
        arguments: 0..<100)
    func agreesOnDamage(seed: Int) throws {
        var generator = Generator(seed: UInt64(seed) &+ 1_000_000)
        let original = Array(RandomDocument.text(&generator).utf8)
        let alphabet = Array("[]{}=.,\"'#\\\n\r \tk0".utf8)
        for _ in 0..<20 {
            var bytes = original
            let position = Int.random(in: 0..<bytes.count, using: &generator)
            if generator.chance(50) {
                bytes[position] = generator.element(of: alphabet)
            } else {
                bytes.remove(at: position)
            }
            let locator = TOMLKeyLocator(bytes)
            guard locator.fault == nil, let text = String(validating: bytes, as: UTF8.self),
                let table = try? TOMLTable(string: text)
            else { continue }
            let paths = try Self.paths(in: table.tomlValue, [])
            #expect(Set(locator.locations.keys) == Set(paths), "in:\n\(text)")
        }
    }

    @Test(
        "the locator stops at text that would crash the parser",
        arguments: [
            ("a = 1\n[=]", 2, 2), ("[[ #", 1, 4), ("[$]", 1, 2), ("a = [}", 1, 6),
            ("a = [1, }", 1, 9),
            ("a = [\u{2028}1]", 1, 6), ("a = {b = }", 1, 10), ("a = \u{85}", 1, 5),
            ("a = [\n1979-05-27true]", 2, 1), ("a = 1979-05-27T", 1, 5),
            ("a = 1979-05-27 1,", 1, 5), ("[", 1, 2),
        ])
    func faults(text: String, line: Int, column: Int) {
        let fault = TOMLKeyLocator(Array(text.utf8)).fault
        #expect(fault.map { [$0.line, $0.column] } == [line, column])
    }

    /// Paths of all keys and array elements that the parser finds.
    private static func paths(in node: TOMLValue, _ path: [Step]) throws -> [[Step]] {
        var result = path.isEmpty ? [] : [path]
        if let table = node.table {
            for key in table.keys {
                result += try paths(in: try #require(table[key]).tomlValue, path + [.key(key)])
            }
        } else if let array = node.array {
            for (index, element) in array.enumerated() {
                result += try paths(in: element.tomlValue, path + [.index(index)])
            }
        }
        return result
    }
}
