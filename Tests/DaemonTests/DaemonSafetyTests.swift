import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@Suite("Robustness of the daemon against wrong input") struct DaemonSafetyTests {
    private static let key = "control.max_rate_dps"

    @Test(
        "an exported file can be imported without loss; invalid lines are reported, and the other lines take effect"
    )
    func exportAndImport() throws {
        try withDaemon { daemon throws in
            #expect(try daemon.control("set", Self.key, "300").status == 0)
            #expect(try daemon.control("set", "follow.preset", "slow").status == 0)
            let exported = try daemon.control("export").output
            #expect(exported.contains("\(Self.key) = 300\n"))
            #expect(exported.contains("follow.preset = \"slow\"\n"))
            let file = daemon.directory.appending("good.toml")
            try TestSupport.write(exported, to: file)

            #expect(try daemon.control("set", Self.key, "100").status == 0)
            #expect(try daemon.control("set", "follow.preset", "sport").status == 0)
            #expect(try daemon.control("import", file.string).status == 0)
            #expect(try daemon.control("get", Self.key).output == "300\n")
            #expect(try daemon.control("export").output == exported)

            try TestSupport.write(
                "# a comment\n\nno.such_key = 1\n\(Self.key) = 99999\nfollow.preset = \"normal\"\n",
                to: file)
            let bad = try daemon.control("import", file.string)
            #expect(bad.status == 1)
            #expect(bad.errors.contains("no.such_key") && bad.errors.contains("99999 is outside"))
            let report = try daemon.control("import", file.string, "--json")
            #expect(report.status == 1 && report.errors.isEmpty)
            let json = try JSONValue(parsing: Array(report.output.utf8))
            #expect(json["settings"]?.array?.map { $0["key"]?.string } == ["follow.preset"])
            #expect(json["refused"]?.array?.map { $0["line"]?.int } == [3, 4])
            #expect(try daemon.control("get", "follow.preset").output.contains("normal"))
            #expect(try daemon.control("get", Self.key).output == "300\n")
            let history = try daemon.control("history").output
            #expect(history.contains("set \(Self.key) = 100"))
        }
    }

    @Test("import accepts values that are valid only together, in any order of the file")
    func importsTogether() throws {
        try withDaemon { daemon throws in
            let file = daemon.directory.appending("times.toml")
            let lines = ["commander.dead_man_s = 3\n", "commander.release_after_s = 8\n"]
            for text in [lines[0] + lines[1], lines[1] + lines[0]] {
                for (key, value) in [("dead_man_s", "1"), ("release_after_s", "2")] {
                    #expect(try daemon.control("set", "commander." + key, value).status == 0)
                }
                try TestSupport.write(text, to: file)
                let done = try daemon.control("import", file.string)
                #expect(done.status == 0 && done.errors.isEmpty, "\(done.errors)")
                #expect(try daemon.control("get", "commander.dead_man_s").output == "3\n")
                #expect(try daemon.control("get", "commander.release_after_s").output == "8\n")
            }
            // A value that is not valid with the other values of the file is refused.
            try TestSupport.write("commander.release_after_s = 2\n" + lines[0], to: file)
            #expect(try daemon.control("import", file.string).status == 1)
        }
    }

    @Test("import applies the whole file also if its output cannot be written")
    func importsWithoutReader() throws {
        try withDaemon { daemon throws in
            let file = daemon.directory.appending("two.toml")
            try TestSupport.write(
                "\(Self.key) = 90\nfollow.preset = \"slow\"\n", to: file)
            let full = try Program.run(
                [
                    "sh", "-c", #""$0" --socket "$1" import "$2" >/dev/full"#,
                    try Program.built("airframectl"), daemon.socket, file.string,
                ], in: daemon.directory)
            #expect(full.status == 1 && full.errors.contains("No space left"), "\(full.errors)")
            #expect(try daemon.control("get", Self.key).output == "90\n")
            #expect(try daemon.control("get", "follow.preset").output.contains("slow"))
        }
    }

    @Test("import converts the rider's config.yaml to a configuration file that airframed accepts")
    func importsRider() throws {
        try withTemporaryDirectory { directory in
            let file = directory.appending("config.yaml")
            try TestSupport.write(
                "network:\n  motor_udp_port: 5005\nmotors:\n  i2c_address: 0x16\n  speed_limit: 80\nlogging:\n  level: INFO\n",
                to: file)
            let program = try Program.built("airframectl")
            let read = try Program([program, "import", "--toml", file.string], in: directory)
            #expect(read.hasEnded(within: 20) && read.exitStatus == 0)
            #expect(
                read.output
                    == "rider.listen = \"0.0.0.0:5005\"\ndrive.board = \"rider\"\ndrive.limit = 0.8\n"
            )
            #expect(read.errors.contains("config.yaml:7: logging.level is ignored"))
            let settings = directory.appending("rider.toml")
            try TestSupport.write(read.output, to: settings)
            let check = try Program(
                [
                    try Program.built("airframed"), "--check-config", "--config",
                    settings.string,
                ], in: directory)
            #expect(check.hasEnded(within: 20) && check.exitStatus == 0, "\(check.errors)")
            try TestSupport.write("motors: {speed_limit: 300}\n", to: file)
            let bad = try Program([program, "import", "--toml", file.string], in: directory)
            #expect(bad.hasEnded(within: 20) && bad.exitStatus == 1)
            #expect(bad.errors.contains("drive.limit") && bad.output.isEmpty)
        }
    }

    @Test(
        "import accepts tables, and reports a directory, a damaged file and an empty file")
    func importsFiles() throws {
        try withDaemon { daemon throws in
            let file = daemon.directory.appending("tables.toml")
            try TestSupport.write("[control]\nmax_rate_dps = 90\n", to: file)
            #expect(try daemon.control("import", file.string).status == 0)
            #expect(try daemon.control("get", Self.key).output == "90\n")
            let directory = try daemon.control("import", daemon.directory.string)
            #expect(directory.status == 66 && directory.errors.contains("is a directory"))
            try TestSupport.write("control\u{0}", to: file)
            let noise = try daemon.control("import", file.string)
            #expect(noise.status == 66 && noise.errors.contains("NUL"))
            try TestSupport.write("# nothing\n", to: file)
            let empty = try daemon.control("import", file.string)
            #expect(empty.status == 0 && empty.output.contains("contains no settings"))
            let none = try daemon.control("import", file.string, "--json")
            #expect(try JSONValue(parsing: Array(none.output.utf8))["settings"]?.array == [])
        }
    }

    @Test("import ends at the first setting that a daemon does not answer, exit code 75")
    func importWithoutAnswer() throws {
        try withDaemon { daemon throws in
            let file = daemon.directory.appending("two.toml")
            try TestSupport.write(
                "\(Self.key) = 90\nfollow.preset = \"normal\"\n", to: file)
            kill(daemon.program.processID, SIGSTOP)
            defer { kill(daemon.program.processID, SIGCONT) }
            let lost = try daemon.control("import", file.string, "--timeout", "1")
            #expect(lost.status == 75)
            #expect(lost.errors.split(separator: "\n").count == 1, "\(lost.errors)")
            #expect(lost.errors.contains("did not answer within 1 s"))
        }
    }

    @Test("a named pipe as the configuration file blocks neither start nor reload")
    func pipes() throws {
        try withTemporaryDirectory { directory throws in
            let pipe = directory.appending("airframed.toml")
            try #require(mkfifo(pipe.string, 0o600) == 0)
            let start = try Program.run(
                [try Program.built("airframed"), "--config", pipe.string], in: directory)
            #expect(start.status == 78 && start.errors.contains("is a pipe or a device"))
            unlink(pipe.string)
            try TestSupport.write("[control]\nmax_rate_dps = 90\n", to: pipe)
            let daemon = try RunningDaemon(in: directory, ["--config", pipe.string])
            unlink(pipe.string)
            try #require(mkfifo(pipe.string, 0o600) == 0)
            let reload = try daemon.control("reload")
            #expect(reload.status == 1 && reload.errors.contains("is a pipe or a device"))
            #expect(try daemon.control("get", Self.key).output == "90\n")
        }
    }

    @Test(
        "a process with too few file descriptors reports the limit instead of crashing",
        arguments: [8, 13, 40])
    func fewDescriptors(limit: Int) throws {
        try withTemporaryDirectory { directory throws in
            let result = try Program.run(
                [
                    "sh", "-c", "ulimit -n \(limit); exec \"$@\"", "sh",
                    try Program.built("airframed"),
                ]
                    + RunningDaemon.arguments(in: directory), in: directory)
            #expect(result.status == 70)
            #expect(result.errors.contains("can open only \(limit) files, and needs 64"))
            #expect(result.errors.contains("LimitNOFILE="))
        }
    }

    @Test(
        "a refused request gets the reason, and status shows the last refusal with client, reason and time"
    )
    func lastRefusal() throws {
        try withDaemon { daemon throws in
            _ = try daemon.ask("mode", #"{"mode":"inactive"}"#)
            let refused = try daemon.control("point", "--pitch", "-10")
            #expect(refused.status == 1 && refused.errors.contains("the mode is inactive"))
            let status = try daemon.status("a refusal")
            #expect(status["refusals"]?.int == 1)
            let sentence = try #require(status["last_refusal"]?.string)
            #expect(sentence.hasPrefix("diagnostics client ") && sentence.contains(" s ago: "))
            #expect(sentence.contains("the mode is inactive"))
            #expect(try daemon.control("status").output.contains("1 request refused, last"))
        }
    }

    @Test(
        "when rate commands stop, the motors turn off after commander.off_s, and a mode turns them on again"
    )
    func controlLost() throws {
        let arguments = ["commander.dead_man_s=0.2", "commander.off_s=0.5"]
        try withDaemon(arguments.flatMap { ["--set", $0] }) { daemon throws in
            try daemon.status("outputs on") { $0["enabled"]?.bool == true }
            _ = try daemon.ask("rate", #"{"yaw":5}"#)
            let status = try daemon.status("outputs off") {
                $0["enabled"]?.bool == false && $0["control_lost"] != nil
            }
            #expect(status["mode"] == "inactive")
            #expect(status["control_lost"]?.string?.contains("the motors are off until") == true)
            #expect(try daemon.control("point", "--pitch", "-5").status == 1)
            #expect(try daemon.control("mode", "locked").status == 0)
            try daemon.status("the outputs are on again") {
                $0["enabled"]?.bool == true && $0["control_lost"] == nil
            }
        }
    }

    @Test(
        "a state file that is damaged or has a newer format is reported and renamed, and the defaults apply",
        arguments: [
            ("airframe-state 1 length=500 crc32=00000000\n{", "cut short"),
            ("airframe-state 9 whatever\n", "has format 9"),
        ])
    func badState(text: String, expected: String) throws {
        try withTemporaryDirectory { directory throws in
            let state = directory.appending("state")
            try makeDirectory(state)
            try TestSupport.write(text, to: state.appending("airframed.state"))
            let daemon = try RunningDaemon(in: directory)
            let texts = [
                "warning: Saved tuning: \(state)/airframed.state: ", expected,
                "kept as \(state)/airframed.state.bad-1",
            ]
            try daemon.status("the log contains \(texts)") { _ in
                texts.allSatisfy { daemon.log.contains($0) }
            }
            #expect(access("\(state)/airframed.state.bad-1", F_OK) == 0)
            #expect(try daemon.control("get", Self.key).output == "360\n")
            #expect(try daemon.control("set", Self.key, "300").status == 0)
            #expect(try daemon.control("save").status == 0)
            #expect(access("\(state)/airframed.state", F_OK) == 0)
        }
    }
}
