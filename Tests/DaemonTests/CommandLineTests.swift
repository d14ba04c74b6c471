import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@Suite("Command lines of airframed and airframectl") struct ProgramCommandLineTests {
    @Test("--check-config prints one line per problem, with file and line")
    func checkConfig() throws {
        try withTemporaryDirectory { directory throws in
            let file = directory.appending("bad.toml")
            try write(
                """
                [loop]
                rate_hz = 5000
                [control]
                max_rate_dps = "fast"
                feed_foward = 1
                """, to: file)
            let result = try Program.run(
                [try Program.built("airframed"), "--config", file.string, "--check-config"],
                in: directory)
            #expect(result.status == 78)
            let lines = result.errors.split(separator: "\n")
            #expect(lines.count == 3)
            #expect(result.errors.contains("\(file):2: loop.rate_hz = 5000 is outside 50...4000"))
            #expect(result.errors.contains("\(file):4: control.max_rate_dps"))
            #expect(result.errors.contains("\(file):5: control.feed_foward"))
            #expect(result.errors.contains("feed_forward"), "the error suggests a similar name")
        }
    }

    @Test("--check-config requires the key file of a link with require_signature")
    func missingKey() throws {
        try withTemporaryDirectory { directory throws in
            func check(_ link: String, _ value: String) throws -> Program.Result {
                try Program.run(
                    [
                        try Program.built("airframed"), "--check-config",
                        "--set=persistence.directory=\(directory)", "--set=\(link).listen=\(value)",
                        "--set=\(link).require_signature=true",
                    ], in: directory)
            }
            let missing = try check("rider", "127.0.0.1:4210")
            #expect(missing.status == 78)
            #expect(missing.errors.contains("rider.require_signature is true, but"))
            #expect(missing.errors.contains("\(directory)/rider.key"))
            try write("a passphrase\n", to: directory.appending("rider.key"))
            #expect(chmod(directory.appending("rider.key").string, 0o640) == 0)
            #expect(try check("rider", "127.0.0.1:4210").status == 0)
        }
    }

    @Test("a failed write to standard output is reported; a closed pipe is not")
    func failedOutput() throws {
        try withTemporaryDirectory { directory throws in
            func run(_ command: String) throws -> Program.Result {
                try Program.run(
                    ["sh", "-c", command, try Program.built("airframectl")], in: directory)
            }
            let full = try run(#""$0" --help >/dev/full"#)
            #expect(full.status == 1)
            #expect(full.errors.contains("Standard output cannot be written: No space left"))
            #expect(try run(#""$0" --help | true"#).errors.isEmpty)
        }
    }

    @Test("control characters in the arguments are escaped in error messages")
    func hostileCommandLine() throws {
        try withTemporaryDirectory { directory throws in
            let hostile = "--\u{9B}2J\u{1B}]0;title\u{7}"
            for name in ["airframed", "airframectl"] {
                let result = try Program.run([try Program.built(name), hostile], in: directory)
                #expect(result.status == 64)
                #expect(result.errors.contains(#"--\u009b2J\u001b]0;title\u0007"#))
                let steering = result.errors.unicodeScalars.filter {
                    $0.value < 0x20 && $0 != "\n" || (0x7F...0x9F).contains($0.value)
                }
                #expect(steering.isEmpty)
                let help = try Program.run([try Program.built(name), "--help"], in: directory)
                #expect(help.status == 0 && help.output.contains("USAGE: \(name)"))
            }
        }
    }

    @Test("the output of --print-config, used as a file, gives the same configuration")
    func printConfig() throws {
        try withTemporaryDirectory { directory throws in
            let program = try Program.built("airframed")
            let first = try Program.run(
                [
                    program, "--print-config", "--set", "control.rate_gain=[1, 2.5, 3]", "--set",
                    "motors.type=servo",
                ], in: directory)
            #expect(first.status == 0)
            let file = directory.appending("printed.toml")
            try write(first.output, to: file)
            let second = try Program.run(
                [program, "--print-config", "--config", file.string], in: directory)
            #expect(second.status == 0, "\(second.errors)")
            #expect(Self.values(second.output) == Self.values(first.output))
            #expect(first.output.contains("[1, 2.5, 3]"))
        }
    }

    /// Lines of the configuration without comments, because the comments contain the sources of the
    /// values.
    private static func values(_ text: String) -> [String] {
        text.split(separator: "\n").map { line in
            let value = line.split(separator: "#", omittingEmptySubsequences: false)[0]
            return String(value).trimmingSuffix { $0 == " " }
        }.filter { !$0.isEmpty }
    }

    @Test("a missing configuration file is reported, and airframed does not start")
    func missingFile() throws {
        try withTemporaryDirectory { directory throws in
            let result = try Program.run(
                [try Program.built("airframed"), "--config", "\(directory)/none.toml"],
                in: directory)
            #expect(result.status == 78)
            #expect(result.errors.contains("\(directory)/none.toml"))
            #expect(result.errors.split(separator: "\n").count == 1)
        }
    }

    @Test("without airframed, airframectl exits with status 69 and a remedy")
    func noDaemon() throws {
        try withTemporaryDirectory { directory throws in
            let program = try Program.built("airframectl")
            let socket = "\(directory)/none.sock"
            let plain = try Program.run([program, "--socket", socket, "status"], in: directory)
            #expect(plain.status == 69)
            #expect(plain.errors.contains("Is airframed running?"))
            let json = try Program.run(
                [program, "--socket", socket, "--json", "status"], in: directory)
            #expect(json.status == 69)
            let document = try JSONValue(parsing: Array(json.output.utf8))
            #expect(document["error"]?["code"] == "unreachable")
            #expect(try Program.run([program, "fly"], in: directory).status == 64)
        }
    }

    @Test(
        "a serial port that cannot be opened is a file that cannot be used, exit code 66",
        arguments: ["scan", "id 2", "baud 1000000"])
    func noServoPort(request: String) throws {
        try withTemporaryDirectory { directory throws in
            let words = request.split(separator: " ").map(String.init)
            let result = try Program.run(
                [try Program.built("airframectl"), "motor"] + words
                    + ["--port", "\(directory)/none", "--json"], in: directory)
            #expect(result.status == 66)
            let document = try JSONValue(parsing: Array(result.output.utf8))
            #expect(document["error"]?["field"] == "port")
        }
    }

    @Test("--json prints exactly one JSON document for every command")
    func json() throws {
        try withDaemon { daemon throws in
            try daemon.status("running") { $0["state"]?.string == "running" }
            for arguments in [
                ["status"], ["get"], ["diff"], ["log"], ["version"], ["doctor"], ["baseline"],
                ["mode", "locked"], ["set", "control.feed_forward", "0.5"], ["save"], ["hardware"],
            ] {
                let result = try Program.run(
                    [try Program.built("airframectl"), "--json", "--socket", daemon.socket]
                        + arguments, in: daemon.directory)
                // Doctor can find that the machine is not real-time; this is not a failure of the
                // command.
                #expect(result.status == 0 || arguments == ["doctor"], "\(arguments)")
                #expect(throws: Never.self, "\(arguments): \(result.output)") {
                    try JSONValue(parsing: Array(result.output.utf8))
                }
            }
        }
    }
}

@Suite("airframectl hardware with and without airframed") struct HardwareCommandTests {
    @Test("the proposal is the same with a running airframed and without one")
    func proposal() throws {
        try withDaemon { daemon throws in
            func hardware(_ usual: String, _ options: String...) throws -> (Int32, String) {
                let result = try Program.run(
                    [
                        "/usr/bin/env", "AIRFRAME_SOCKET=\(usual)",
                        try Program.built("airframectl"), "hardware",
                    ] + options, in: daemon.directory)
                return (result.status, result.output)
            }
            let (status, asked) = try hardware(daemon.socket)
            #expect(status == 0)
            #expect(asked.contains("[hardware.linux]\n"))
            #expect(asked.contains("\nmotors = \"none\"\n"))
            let absent = "/nonexistent/airframed.sock"
            let direct = try hardware(absent)
            #expect(direct.0 == 0 && direct.1 == asked)
            // With another socket path, airframed can be running elsewhere, so the command does not
            // read the hardware directly.
            let other = try hardware(daemon.socket, "--socket", absent)
            #expect(other.0 != 0 && other.1.isEmpty)
        }
    }
}

@Suite("airframectl replay of recorded logs") struct ReplayProgramTests {
    private static let log = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .appending("Fixtures/broad/broad_07_cut.imu")

    @Test("two replays of a log give identical files with one row per record")
    func deterministic() throws {
        try withTemporaryDirectory { directory throws in
            let program = try Program.built("airframectl")
            var outputs: [String] = []
            for name in ["a.csv", "b.csv"] {
                let path = "\(directory)/\(name)"
                let result = try Program.run(
                    [program, "replay", Self.log.string, "--output", path], in: directory)
                #expect(result.status == 0, "\(result.errors)")
                outputs.append(contents(of: path))
            }
            #expect(outputs[0] == outputs[1])
            let rows = outputs[0].split(separator: "\n")
            #expect(rows.count > 1000)
            #expect(rows.dropFirst().allSatisfy { $0.split(separator: ",").count == 8 })
        }
    }

    @Test("a truncated log is reported with its path")
    func truncated() throws {
        try withTemporaryDirectory { directory throws in
            let path = directory.appending("cut.imu")
            // Cuts the log in the middle of a record.
            let whole = try bytes(of: Self.log)
            try write(Array(whole.prefix(whole.count / 2 + 1)), to: path)
            let result = try Program.run(
                [
                    try Program.built("airframectl"), "replay", path.string, "--output",
                    "\(directory)/out.csv",
                ], in: directory)
            #expect(result.status == 66)
            #expect(result.errors.contains(path.string))
            #expect(result.output.isEmpty)
        }
    }
}
