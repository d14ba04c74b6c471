import TestSupport
import Testing
import Wire

@Suite("airframectl setup at a terminal", .timeLimit(.minutes(2)))
struct SetupPromptTests {
    private static let prompt = "[q] leave: "

    private static func withPrompt(_ body: (RunningDaemon, () throws -> Terminal) throws -> Void)
        throws
    {
        try withDaemon(["--set", "motors.type=servo", "--set", "mode.boot=inactive"]) {
            daemon throws in
            try daemon.status("samples") { $0.number("imu", "samples") > 0 }
            let program = try Program.built("airframectl")
            try body(daemon) { try Terminal([program, "--socket", daemon.socket, "setup"]) }
        }
    }

    private static func state(_ daemon: RunningDaemon, _ name: String) throws -> String? {
        let report = try daemon.ask("setup", #"{"action":"status"}"#)
        return report["steps"]?.array?.first { $0["name"]?.string == name }?["state"]?.string
    }

    @Test(
        "the prompt handles answers, wrong answers, skipped steps, a step ended by Ctrl-C, and a resumed set-up"
    )
    func guides() throws {
        try Self.withPrompt { daemon, open in
            let first = try open()
            #expect(first.says("1 of 9: Chips"), "\(first.text)")
            #expect(first.says("hardware.backend is simulated: nothing needs to be wired."))
            #expect(first.says(Self.prompt) && !first.text.contains("I2C"), "\(first.text)")
            first.type("what?\n")
            #expect(first.says("Press Enter, or type c, s, u or q.") && first.says(Self.prompt))
            #expect(try Self.state(daemon, "chips") == "open")
            // Lines that are typed during a step do not answer the next questions.
            first.type("\n\n\n\n")
            #expect(first.says("The sensor delivers samples."), "\(first.text)")
            #expect(first.says("2 of 9: Calibrate the gyroscope") && first.says(Self.prompt))
            // An overlong line counts as one wrong answer.
            first.type(String(repeating: "y", count: 200) + "\n")
            #expect(first.says("Press Enter, or type") && first.says(Self.prompt), "\(first.text)")
            for number in 3...5 {
                first.type("S\n")
                #expect(first.says("\(number) of 9:") && first.says(Self.prompt), "\(first.text)")
            }
            #expect(try Self.state(daemon, "mounting") == "skipped")

            first.type("\n")
            #expect(first.says("The motor of pitch moves."), "\(first.text)")
            try daemon.status("a motor moves") { $0["enabled"]?.bool == true }
            first.resize(rows: 5, columns: 20)
            #expect(first.says("0 %"), "\(first.text)")
            first.type("\u{3}")
            // The interrupted step is open again, and its motor is off.
            #expect(first.says("5 of 9: Motors") && first.says(Self.prompt), "\(first.text)")
            try daemon.status("the motors are off") { $0["enabled"]?.bool == false }
            #expect(try Self.state(daemon, "motors") != "running")
            first.type("q\n")
            #expect(first.end() == 0, "\(first.text)")

            let second = try open()
            #expect(second.says("5 of 9: Motors") && second.says(Self.prompt), "\(second.text)")
            // Ctrl-C at the prompt ends the program immediately.
            second.type("\u{3}")
            #expect(second.end() == 130, "\(second.text)")

            let third = try open()
            #expect(third.says(Self.prompt))
            third.type("c\n")
            #expect(third.says("6 of 9: Range of the joints") && third.says(Self.prompt))
            third.type("\u{4}")
            #expect(third.end() == 0, "\(third.text)")
            #expect(try Self.state(daemon, "motors") == "done")
            #expect(try daemon.control("setup", "undo", "motors").status == 0)
            #expect(try Self.state(daemon, "motors") == "open")
        }
    }

    @Test("without a terminal, setup lists the steps; a lost daemon causes an error with a remedy")
    func withoutTerminal() throws {
        try Self.withPrompt { daemon, open in
            let list = try daemon.control("setup")
            #expect(
                list.status == 0 && list.output.contains("motors         open"), "\(list.output)")
            #expect(!list.output.contains(Self.prompt))
            let terminal = try open()
            #expect(terminal.says(Self.prompt))
            #expect(try daemon.stop().status == 0)
            terminal.type("\n")
            let status = terminal.end()
            #expect(
                status != nil && status != 0 && terminal.text.contains("airframed"),
                "\(terminal.text)")
        }
    }
}
