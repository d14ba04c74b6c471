import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@Suite("Changes of settings at run time") struct DaemonSettingsTests {
    private static let key = "control.max_rate_dps"

    @Test("settings can be read, changed, compared and saved, and survive a restart")
    func saveAndRestart() throws {
        try withTemporaryDirectory { directory throws in
            let daemon = try RunningDaemon(in: directory)
            #expect(try daemon.control("get", Self.key).output == "360\n")
            let set = try daemon.control("set", Self.key, "300")
            #expect(set.status == 0)
            #expect(set.output.contains("control.max_rate_dps = 300"))
            let same = try daemon.control("set", "hardware.backend", "simulated")
            #expect(same.output == "hardware.backend = simulated, as before.\n")
            let diff = try daemon.control("diff").output
            #expect(diff.contains("control.max_rate_dps") && diff.contains("not saved"))
            #expect(
                try daemon.status("unsaved")["configuration"]?["unsaved"] == [.string(Self.key)])
            #expect(try daemon.control("save").status == 0)
            #expect(try daemon.control("set", Self.key, "200").status == 0)
            #expect(try daemon.stop().status == 0)

            let again = try RunningDaemon(in: directory)
            #expect(try again.control("get", Self.key).output == "300\n")
            // A change to the default is listed as a difference from the saved value, but not
            // exported.
            #expect(try again.control("set", Self.key, "360").status == 0)
            let changes = try #require(try again.ask("diff").array)
            let change = try #require(changes.first { $0["key"]?.string == Self.key })
            #expect(change["saved"] == 300 && change["default"] == 360 && change["value"] == 360)
            #expect(change["unsaved"] == true)
            #expect(try again.control("diff").output.contains("not saved, saved value 300"))
            #expect(try !again.control("export").output.contains(Self.key))
            #expect(try again.control("set", Self.key, "300").status == 0)
            let setting = try JSONValue(
                parsing: Array(try again.control("--json", "get", Self.key).output.utf8))
            #expect(setting.text.contains("\"type\":\"number\""), "\(setting.text)")
            #expect(try again.stop().status == 0)
        }
    }

    @Test("an invalid value or key is refused with the allowed range or a suggestion")
    func badValues() throws {
        try withDaemon { daemon throws in
            let range = try daemon.control("set", Self.key, "99999")
            #expect(range.status == 1)
            #expect(range.errors.contains("control.max_rate_dps = 99999 is outside 1...2000"))
            let negative = try daemon.control("set", Self.key, "-5")
            #expect(negative.status == 1)
            #expect(negative.errors.contains("1...2000"))
            let type = try daemon.control("set", Self.key, "fast")
            #expect(type.status == 1)
            let key = try daemon.control("set", "control.max_rate_dp", "300")
            #expect(key.status == 1)
            #expect(
                key.errors.contains(Self.key), "the error suggests a similar name: \(key.errors)")
            let table = try daemon.control("set", "robot.slider", "rate")
            #expect(table.status == 1)
            #expect(table.errors.contains("Did you mean robot.slider_motion?"), "\(table.errors)")
            let restart = try daemon.control("set", "loop.rate_hz", "500")
            #expect(restart.status == 1)
            #expect(try daemon.control("get", Self.key).output == "360\n")
        }
    }

    @Test("reload and SIGHUP apply changes of the file, but refuse a file with an error")
    func reload() throws {
        try withTemporaryDirectory { directory throws in
            let file = directory.appending("airframed.toml")
            try write("[control]\nmax_rate_dps = 100\n", to: file)
            let daemon = try RunningDaemon(in: directory, ["--config", file.string])
            #expect(try daemon.control("get", Self.key).output == "100\n")

            try write("[control]\nmax_rate_dps = 110\n[loop]\nrate_hz = 500\n", to: file)
            let report = try daemon.control("reload")
            #expect(report.status == 0)
            #expect(report.output.contains(Self.key))
            #expect(report.output.contains("after a restart: loop.rate_hz"))
            #expect(try daemon.control("get", Self.key).output == "110\n")
            let waiting = try daemon.status("named")["configuration"]?["needs_restart"]
            #expect(waiting == ["loop.rate_hz"])

            try write("[control]\nmax_rate_dps = 120\nfeed_forward = 7\n", to: file)
            let bad = try daemon.control("reload")
            #expect(bad.status == 1)
            #expect(bad.errors.contains("\(file):3: control.feed_forward = 7"))
            #expect(try daemon.control("get", Self.key).output == "110\n")

            try write("[control]\nmax_rate_dps = 130\n", to: file)
            kill(daemon.program.processID, SIGHUP)
            try daemon.status("the log reports the reload") { _ in
                daemon.log.contains("effective now: control.max_rate_dps")
            }
            #expect(try daemon.control("get", Self.key).output == "130\n")
            #expect(try daemon.stop().status == 0)
        }
    }

    @Test("a baseline can be restored by its name")
    func baseline() throws {
        try withDaemon { daemon throws in
            #expect(try daemon.control("set", Self.key, "250").status == 0)
            #expect(try daemon.control("baseline", "store", "good").status == 0)
            #expect(try daemon.control("set", Self.key, "50").status == 0)
            #expect(try daemon.control("baseline").output == "good\n")
            #expect(try daemon.control("baseline", "restore", "good").status == 0)
            #expect(try daemon.control("get", Self.key).output == "250\n")
            #expect(try daemon.control("baseline", "restore", "bad").status == 1)
        }
    }

    @Test(
        "at most 32 baselines can be stored, and the deletion of a baseline makes room for another"
    )
    func baselineDelete() throws {
        try withDaemon { daemon throws in
            for number in 1...32 {
                _ = try daemon.ask("baseline", #"{"action":"store","name":"b\#(number)"}"#)
            }
            let full = try daemon.control("baseline", "store", "one-more")
            #expect(full.status == 1 && full.errors.contains("baseline delete"), "\(full.errors)")
            #expect(try daemon.control("baseline", "delete", "b7").status == 0)
            #expect(try daemon.control("baseline", "store", "one-more").status == 0)
            let names = try daemon.control("baseline").output.split(separator: "\n")
            #expect(names.count == 32 && !names.contains("b7") && names.contains("one-more"))
            #expect(try daemon.control("baseline", "delete", "b7").status == 1)
        }
    }

    @Test("a change with --rollback reverts if it is not saved in time")
    func rollback() throws {
        try withDaemon { daemon throws in
            #expect(try daemon.control("set", Self.key, "50", "--rollback", "1s").status == 0)
            #expect(try daemon.control("get", Self.key).output == "50\n")
            try daemon.status("the log reports that the change was reverted") { _ in
                daemon.log.contains("The last change was not saved")
            }
            #expect(try daemon.control("get", Self.key).output == "360\n")
        }
    }
}
