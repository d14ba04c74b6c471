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
        #expect(pairs[0].value == "100" && pairs[2].value == "[1.2,\n  0.1, 0.05]")
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
