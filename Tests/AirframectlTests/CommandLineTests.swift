import ArgumentParser
import Client
import Testing
import Wire

@testable import airframectl

@Suite("The command line of airframectl")
struct CommandLineTests {
    private func parse<C: ParsableCommand>(_ line: String, as type: C.Type = C.self) throws -> C {
        let words = line.split(separator: " ").map(String.init)
        let command = try Airframectl.parseAsRoot(GlobalOptions.movedBehindSubcommand(words))
        return try #require(command as? C)
    }

    @Test(
        "common options are accepted before and after the subcommand",
        arguments: [
            "--socket /tmp/x --json status", "status --json --socket /tmp/x",
            "--json status --socket=/tmp/x",
        ])
    func globalOptions(line: String) throws {
        let options = try parse(line, as: StatusCommand.self).options
        #expect(options.json)
        #expect(options.socket == "/tmp/x")
    }

    @Test(
        "rate, step --home and take repeat their request at least three times within a time limit",
        arguments: [0.05, 0.1, 0.3, 1, 10, 3600])
    func repeatedRequests(limit: Double) {
        let period = KeptControl.period(within: limit, atMost: 0.2)
        #expect(period <= 0.2 && period >= min(0.2, limit / 4) && 3 * period <= limit + 1e-9)
    }

    @Test("negative angles are accepted")
    func negative() throws {
        let point = try parse("point --pitch -30 --yaw -0.5 --duration 2", as: PointCommand.self)
        #expect(point.pitch == -30)
        #expect(point.yaw == -0.5)
        #expect(point.roll == nil)
        #expect(point.duration == 2)
        #expect(try parse("rate --roll -10", as: RateCommand.self).roll == -10)
    }

    @Test("values that look like options are accepted, and --rollback after them")
    func set() throws {
        let set = try parse("set control.offset -1.5 --rollback 5min --json", as: SetCommand.self)
        #expect(set.value == ["-1.5"])
        #expect(set.rollback?.seconds == 300)
        #expect(set.options.json)
    }

    @Test(
        "a value is parsed as TOML",
        arguments: [
            ("500", 500), ("-1.5", -1.5), ("true", true), ("locked", "locked"),
            ("\"500\"", "500"), ("[1, 2.5]", [1, 2.5]), ("1e999", "1e999"), ("1.50", "1.50"),
        ] as [(String, JSONValue)])
    func value(text: String, value: JSONValue) {
        #expect(SetCommand.parse(text) == value)
    }

    @Test(
        "times are accepted with and without a unit",
        arguments: [("30s", 30), ("30", 30), ("2min", 120)])
    func duration(text: String, seconds: Double) {
        #expect(SetCommand.Duration(argument: text)?.seconds == seconds)
    }

    @Test("invalid times are refused", arguments: ["", "s", "-3", "0", "nan", "3h"])
    func noDuration(text: String) {
        #expect(SetCommand.Duration(argument: text) == nil)
    }

    @Test(
        "`controls learn` accepts axes and numbers with a minus sign",
        arguments: ["-pitch", "-yaw", "step pitch -5"])
    func learn(action: String) throws {
        let words = ["controls", "--json", "learn"] + action.split(separator: " ").map(String.init)
        let command = try Airframectl.parseAsRoot(GlobalOptions.movedBehindSubcommand(words))
        let controls = try #require(command as? ControlsCommand)
        #expect(controls.words.joined(separator: " ") == "learn \(action)")
        #expect(controls.options.json)
    }

    @Test(
        "the message about a wrong option of point or rate names this option",
        arguments: [
            ("point --tilt 3", "Unknown option '--tilt'."),
            ("rate --pich=3", "Unknown option '--pich=3'. Did you mean --pitch?"),
            ("point pitch -30", "Unexpected argument 'pitch'. Did you mean --pitch?"),
            ("point --yaw 2 --pich 3", "Unknown option '--pich'. Did you mean --pitch?"),
            ("point --pitch nan", "--pitch must be a finite number."),
            ("rate --yaw inf", "--yaw must be a finite number."),
            ("point", "Give at least one of --yaw, --roll and --pitch"),
        ])
    func wrongOption(line: String, message: String) {
        let words = line.split(separator: " ").map(String.init)
        let error = #expect(throws: (any Error).self) { _ = try Airframectl.parseAsRoot(words) }
        let text = error.map { Airframectl.fullMessage(for: $0) } ?? ""
        #expect(text.contains(message), "\(text)")
        #expect(!text.contains("<words>"), "the usage does not show the internal argument")
    }

    @Test(
        "`pair` permits the times that its help states",
        arguments: ["pair allow --seconds ", "pair web --seconds "])
    func pairingTime(line: String) throws {
        for seconds in ["10", "600"] { _ = try parse(line + seconds, as: PairCommand.self) }
        for seconds in ["0", "9", "601", "nan"] {
            let error = #expect(throws: (any Error).self) {
                _ = try parse(line + seconds, as: PairCommand.self)
            }
            let text = error.map { Airframectl.fullMessage(for: $0) } ?? ""
            #expect(text.contains("--seconds must be 10...600 s."), "\(text)")
        }
    }

    @Test(
        "the lists of a help text keep their columns in a narrow terminal",
        arguments: ["pair", "profile", "setup", "mode"], [60, 80])
    func help(command: String, columns: Int) throws {
        let error = try #require(throws: (any Error).self) {
            var help = try Airframectl.parseAsRoot([command, "--help"])
            try help.run()
        }
        let lines = Airframectl.message(for: error, columns: columns).split(separator: "\n")
        let usage = lines.firstIndex { $0.hasPrefix("USAGE") } ?? 0
        #expect(lines[..<usage].allSatisfy { $0.count <= columns })
        let list = lines[..<usage].drop { !$0.contains("   ") }
        #expect(list.contains { $0.hasPrefix("      ") }, "a continued item is indented")
    }

    @Test(
        "a misspelled command is named, with a suggestion",
        arguments: [
            ("statsu", "Unknown command 'statsu'. Did you mean \"status\"?"),
            ("recenter", "Unknown command 'recenter'. Did you mean \"recentre\"?"),
            ("help foo", "Unknown command 'foo'."),
        ])
    func misspelled(line: String, message: String) {
        let words = line.split(separator: " ").map(String.init)
        let error = #expect(throws: ValidationError.self) { try Airframectl.checkName(in: words) }
        #expect(error?.message == message)
    }

    @Test(
        "a correct command, an option and a completion are not taken for misspelled commands",
        arguments: ["status", "help", "help status", "--version", "---completion get", ""])
    func correct(line: String) throws {
        try Airframectl.checkName(in: line.split(separator: " ").map(String.init))
    }

    @Test("a file of a shot that does not exist can be a misspelled subcommand")
    func misspelledShot() {
        let error = #expect(throws: ClientError.self) { _ = try ShotFile.read("timelaps") }
        #expect(
            error?.requestError.message.hasSuffix("Did you mean \"timelapse\"?") == true)
    }

    @Test(
        "an invalid command is refused with exit code 64",
        arguments: [
            "point", "rate", "set loop.rate_hz", "set a b c", "baseline store", "log --lines 0",
            "monitor --rate 0", "frobnicate", "status --timeout 0", "point --pitch up",
            "export --json", "--json metrics", "import --toml --json a.toml",
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

@Suite("Commands to servos") struct ServoCommandTests {
    private func parse<C: ParsableCommand>(_ words: String..., as type: C.Type) throws -> C {
        try #require(try Airframectl.parseAsRoot(words) as? C)
    }

    @Test("a search for servos without a result names the options that extend the search")
    func silence() throws {
        let scan = try parse("motor", "scan", as: MotorScanCommand.self).silence
        #expect(scan.hasSuffix("the wires, and try --all-speeds and --last 253."), "\(scan)")
        let kind = try parse(
            "motor", "scan", "--protocol", "dynamixel2", "--all-speeds",
            as: MotorScanCommand.self)
        #expect(kind.silence.hasSuffix("the wires, and try --last 252."), "\(kind.silence)")
        let whole = try parse(
            "motor", "scan", "--all-speeds", "--last", "253", as: MotorScanCommand.self)
        #expect(whole.silence.hasSuffix("the wires."), "\(whole.silence)")
    }

    @Test("the results of `motor id` and `motor baud` are a sentence, or JSON with --json")
    func results() throws {
        let id = try parse("motor", "id", "2", as: MotorIDCommand.self)
        #expect(id.result == "Servo 1 now has the identifier 2.")
        let document = try parse("motor", "id", "2", "--json", as: MotorIDCommand.self).result
        #expect(
            try JSONValue(parsing: Array(document.utf8)) == [
                "id": 2, "sentence": "Servo 1 now has the identifier 2.",
            ])
        let baud = try parse("motor", "baud", "1000000", "--json", as: MotorBaudCommand.self).result
        #expect(try JSONValue(parsing: Array(baud.utf8))["baud"] == 1_000_000)
    }
}

@Suite("Commands to airframe-eyes") struct CameraCommandTests {
    @Test(
        "a message about a missing result states whether airframe-eyes has begun the command",
        arguments: [(nil, "no longer connected"), (3, "not begun"), (4, "begun the command, but")]
            as [(Int?, String)])
    func delay(executed: Int?, words: String) {
        let state = executed.map { order in
            var state = CaptureState()
            state.order = order
            return state
        }
        #expect(CameraCommand.delay(of: 4, in: state).contains(words))
    }
}

@Suite("Bars and sparklines of characters")
struct GaugesTests {
    @Test("a bar grows to the side of its sign, and an arrow shows an overflow")
    func bar() {
        #expect(Gauges.bar(0, width: 11) == "[    │    ]")
        #expect(Gauges.bar(0.5, width: 11) == "[    │██  ]")
        #expect(Gauges.bar(-1, width: 11) == "[◀███│    ]")
        #expect(Gauges.bar(3, width: 11) == "[    │███▶]")
        #expect(Gauges.bar(.nan, width: 11) == "[····│····]")
    }

    @Test("a sparkline shows the newest value at the right, and a gap for an unknown value")
    func sparkline() {
        #expect(Gauges.sparkline([9, 0, 0.5, .nan, -1, 7], width: 5, full: 1) == "▁▅ ██")
        #expect(Gauges.sparkline([1], width: 3, full: 1) == "  █")
        #expect(Gauges.sparkline([0, 0], width: 2, full: 0) == "▁▁")
    }

    @Test(
        "chart scales increase in steps of 1, 2, 5",
        arguments: [(0, 0.01), (0.011, 0.02), (0.03, 0.05), (0.3, 0.5), (7, 10)])
    func scale(value: Double, expected: Double) {
        #expect(abs(Gauges.roundedUp(value, least: 0.01) - expected) < 1e-9)
    }
}
