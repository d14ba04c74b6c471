import ArgumentParser
import Testing
import Wire

@testable import airframectl

@Suite("The command line")
struct CommandLineTests {
    private func parse<C: ParsableCommand>(_ line: String, as type: C.Type = C.self) throws -> C {
        let words = line.split(separator: " ").map(String.init)
        let command = try Airframectl.parseAsRoot(GlobalOptions.movedBehindSubcommand(words))
        return try #require(command as? C)
    }

    @Test(
        "takes the common options before or after the subcommand",
        arguments: [
            "--socket /tmp/x --json status", "status --json --socket /tmp/x",
            "--json status --socket=/tmp/x",
        ])
    func globalOptions(line: String) throws {
        let options = try parse(line, as: StatusCommand.self).options
        #expect(options.json)
        #expect(options.socket == "/tmp/x")
    }

    @Test("takes negative angles")
    func negative() throws {
        let point = try parse("point --pitch -30 --yaw -0.5 --duration 2", as: PointCommand.self)
        #expect(point.pitch == -30)
        #expect(point.yaw == -0.5)
        #expect(point.roll == nil)
        #expect(point.duration == 2)
        #expect(try parse("rate --roll -10", as: RateCommand.self).roll == -10)
    }

    @Test("takes values that look like options, and a rollback")
    func set() throws {
        let set = try parse("set control.offset -1.5 --rollback 5min --json", as: SetCommand.self)
        #expect(set.value == ["-1.5"])
        #expect(set.rollback?.seconds == 300)
        #expect(set.options.json)
    }

    @Test(
        "reads a value as TOML would mean it",
        arguments: [
            ("500", 500), ("-1.5", -1.5), ("true", true), ("locked", "locked"),
            ("\"500\"", "500"), ("[1, 2.5]", [1, 2.5]), ("1e999", "1e999"),
        ] as [(String, JSONValue)])
    func value(text: String, value: JSONValue) {
        #expect(SetCommand.parse(text) == value)
    }

    @Test(
        "reads times with and without a unit", arguments: [("30s", 30), ("30", 30), ("2min", 120)])
    func duration(text: String, seconds: Double) {
        #expect(SetCommand.Duration(argument: text)?.seconds == seconds)
    }

    @Test("refuses times that are none", arguments: ["", "s", "-3", "0", "nan", "3h"])
    func noDuration(text: String) {
        #expect(SetCommand.Duration(argument: text) == nil)
    }

    @Test(
        "refuses what makes no sense, with exit code 64",
        arguments: [
            "point", "rate", "set loop.rate_hz", "set a b c", "baseline store", "log --lines 0",
            "monitor --rate 0", "frobnicate", "status --timeout 0", "point --pitch up",
        ])
    func usage(line: String) {
        let words = line.split(separator: " ").map(String.init)
        do {
            _ = try Airframectl.parseAsRoot(GlobalOptions.movedBehindSubcommand(words))
            Issue.record("\(line) was accepted")
        } catch {
            #expect(Airframectl.exitCode(for: error).rawValue == 64)
        }
    }
}

@Suite("Numbers for people")
struct FormatTests {
    @Test(
        "have fixed decimals and no sign where they round to zero",
        arguments: [
            (1.005, 2, true, "+1.00"), (-0.004, 2, true, " 0.00"), (-0.004, 2, false, "0.00"),
            (-30, 1, true, "-30.0"), (0.05, 1, false, "0.1"), (1234.5, 0, false, "1235"),
            (.nan, 2, true, "–"), (.infinity, 2, false, "–"), (1e300, 2, false, "1e+300"),
        ])
    func fixed(value: Double, decimals: Int, signed: Bool, text: String) {
        #expect(Format.fixed(value, decimals, signed: signed) == text)
    }

    @Test(
        "durations name the two units that matter",
        arguments: [
            (5.9, "5 s"), (65, "1 min 5 s"), (7_500, "2 h 5 min"), (180_000, "2 d 2 h"),
            (.nan, "–"),
        ])
    func duration(seconds: Double, text: String) {
        #expect(Format.duration(seconds) == text)
    }

    @Test(
        "counts are grouped",
        arguments: [(0, "0"), (999, "999"), (-1000, "-1 000"), (8_042_113, "8 042 113")])
    func count(value: Int, text: String) {
        #expect(Format.count(value) == text)
    }

    @Test("long text is wrapped at spaces")
    func wrapped() {
        #expect(Format.wrapped("one two three four", 9) == ["one two", "three", "four"])
        #expect(Format.wrapped("", 9) == [])
    }

    @Test("bars grow to their side and show when they are full")
    func bar() {
        #expect(Gauges.bar(0, width: 11) == "[    │    ]")
        #expect(Gauges.bar(0.5, width: 11) == "[    │██  ]")
        #expect(Gauges.bar(-1, width: 11) == "[◀███│    ]")
        #expect(Gauges.bar(3, width: 11) == "[    │███▶]")
        #expect(Gauges.bar(.nan, width: 11) == "[····│····]")
    }

    @Test("sparklines show the newest at the right, and a gap for what is not known")
    func sparkline() {
        #expect(Gauges.sparkline([9, 0, 0.5, .nan, -1, 7], width: 5, full: 1) == "▁▅ ██")
        #expect(Gauges.sparkline([1], width: 3, full: 1) == "  █")
        #expect(Gauges.sparkline([0, 0], width: 2, full: 0) == "▁▁")
    }

    @Test(
        "scales step by 1, 2, 5",
        arguments: [(0, 0.01), (0.011, 0.02), (0.03, 0.05), (0.3, 0.5), (7, 10)])
    func scale(value: Double, expected: Double) {
        #expect(abs(Gauges.roundedUp(value, least: 0.01) - expected) < 1e-9)
    }
}
