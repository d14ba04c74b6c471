import Configuration
import Glibc
import Port
import SystemPackage
import TestSupport
import Testing

@Suite("Settings in invalid files") struct SettingsFileTests {
    private func problem(_ bytes: [UInt8]) -> String? {
        do throws(ConfigurationFailure) {
            _ = try SettingsFile.pairs(of: bytes, path: "a.toml")
            return nil
        } catch {
            return error.problems.first?.description
        }
    }

    @Test("the key of a setting contains the name of its table")
    func tables() throws {
        let text = """
            # good
            control.max_rate_dps = 100 # as it was
            [loop]
            rate_hz = 500

            [airos.pid]
            pitch = [1.2,
              0.1, 0.05]
            [nowhere]
            "odd key" = 'x'
            inner = { a = 1 }
            """
        let pairs = try SettingsFile.pairs(of: Array(text.utf8), path: "a.toml")
        #expect(
            pairs.map { "\($0.line) \($0.key)" } == [
                "2 control.max_rate_dps", "4 loop.rate_hz", "7 airos.pid.pitch",
                "10 nowhere.odd key", "11 nowhere.inner.a",
            ])
        #expect(pairs[0].value == "100" && pairs[2].value == "[1.2, 0.1, 0.05]")
    }

    @Test("the value of an array with comments and strings on several lines is one line")
    func severalLines() throws {
        let text = """
            controls.bindings = [
              "BTN_SOUTH tap: recentre", # the A button
              'BTN_EAST tap: "x" # y',
            ]
            filter.notch_yaw = [
              [85, 3, 20],
            ]
            """
        let pairs = try SettingsFile.pairs(of: Array(text.utf8), path: "a.toml")
        #expect(
            pairs.map(\.value) == [
                #"["BTN_SOUTH tap: recentre", "BTN_EAST tap: \"x\" # y"]"#, "[[85, 3, 20]]",
            ])
        #expect(pairs[1].problem(in: "a.toml") == nil)
    }

    @Test("a setting of a file is checked independently of the other settings")
    func alone() throws {
        func problem(_ text: String) throws -> String? {
            let pairs = try SettingsFile.pairs(of: Array(text.utf8), path: "a.toml")
            return pairs.first?.problem(in: "a.toml")?.description
        }
        // Alone, this value contradicts the default of commander.dead_man_s.
        #expect(try problem("commander.release_after_s = 0.5") == nil)
        #expect(
            try problem("\nloop.rate_hz = 5")?.contains("a.toml:2: loop.rate_hz = 5 is outside")
                == true)
        #expect(try problem("loop.rte_hz = 500")?.contains("Did you mean loop.rate_hz?") == true)
    }

    @Test("an invalid file is refused with one reason, and an empty file has no settings")
    func noise() throws {
        #expect(problem([0x61, 0, 0])?.contains("NUL") == true)
        #expect(problem([0xFF, 0xFE])?.contains("not UTF-8") == true)
        #expect(problem(Array("what is this".utf8))?.contains("not valid TOML") == true)
        let much = [UInt8](repeating: UInt8(ascii: "a"), count: 10_000_000)
        #expect(problem(much)?.contains("is larger than 1048576 bytes") == true)
        #expect(try SettingsFile.pairs(of: Array("# nothing\n".utf8), path: "a.toml").isEmpty)
    }

    @Test(
        "a directory, a named pipe and a missing file are refused without waiting"
    )
    func notFiles() throws {
        try withTemporaryDirectory { directory throws in
            let pipe = directory.appending("pipe")
            try #require(mkfifo(pipe.string, 0o600) == 0)
            for (path, words) in [
                (directory, "is a directory, not a file"),
                (pipe, "is a pipe or a device, not a file"),
                (directory.appending("none"), "there is no such file"),
            ] {
                let error = #expect(throws: ConfigurationFailure.self) {
                    try SettingsFile.pairs(in: path)
                }
                #expect(error?.description.contains(words) == true, "\(path)")
            }
        }
    }

    @Test(
        "nested keys, tables and arrays are refused at the first level beyond the limit of 32",
        arguments: [
            String(repeating: "a.", count: 2000) + "b = 1\n",
            "[" + String(repeating: "a.", count: 2000) + "b]\n",
            "a = " + String(repeating: "[", count: 300) + "1" + String(repeating: "]", count: 300),
            "a = " + String(repeating: "{b=", count: 300) + "1"
                + String(repeating: "}", count: 300),
        ])
    func levels(text: String) {
        // Without a limit, reading this many lines took half a minute.
        let many = String(repeating: text + "\n", count: 150)
        let fault = TOMLKeyLocator(Array(many.utf8)).fault
        #expect(fault?.line == 1)
        #expect(
            problem(Array(text.utf8))?.contains("32") == true, "\(problem(Array(text.utf8)) ?? "")")
    }
}
