import Configuration
import Glibc
import SystemPackage
import TestSupport
import Testing

@Suite("Problems of whole configuration files")
struct ProblemFileTests {
    @Test(
        "the first syntax error is reported with its line and column",
        arguments: [
            ("a = ", ":1:"), ("[loop]\nrate_hz 5\n", ":2:"), ("[loop\n", ":1:"),
            ("[loop]\nrate_hz = 1\nrate_hz = 2\n", ":3:"), ("[loop]\n[loop]\n", ":2:"),
            ("x = 99999999999999999999\n", ":1:"), ("x = \"abc\n", ":1:"), ("x = [1, 2\n", ":1:"),
            ("x = 'a' 'b'\n", ":1:"), ("x = 01\n", ":1:"), ("x = \"\\q\"\n", ":1:"),
            ("\u{1}", ":1:"),
        ])
    func syntax(text: String, position: String) throws {
        let found = problems(text)
        #expect(found.map(\.kind) == [.syntax])
        let sentence = try #require(found.first).description
        #expect(sentence.hasPrefix(mainPath + position), "\(sentence)")
        #expect(sentence.contains("not valid TOML: "))
    }

    @Test(
        "a second header of a table, or a second value of a key, is reported with a remedy",
        arguments: ["[loop]\ncpu = 1\n[loop]\n", "[loop]\ncpu = 1\ncpu = 2\n"])
    func repetition(text: String) throws {
        let found = try #require(problems(text).first).description
        #expect(found.contains("below its first header"), "\(found)")
        let other = try #require(problems("x = 01\n").first).description
        #expect(!other.contains("below its first header"), "\(other)")
    }

    @Test("input that would crash or deceive the parser is reported")
    func hostileText() throws {
        func only(_ bytes: [UInt8]) throws -> String {
            let files = ConfigurationFiles.memory(bytes: [mainPath: bytes])
            let failure = #expect(throws: ConfigurationFailure.self) {
                try ConfigurationLoader.load(ConfigurationSource(), files: files)
            }
            #expect(failure?.problems.count == 1)
            return failure?.description ?? ""
        }
        #expect(try only([0x61, 0x0A, 0x00]).contains(":2:1: contains a NUL byte"))
        #expect(try only(Array("a = 1\nb = \"".utf8) + [0xFF, 0x22]).contains(":2: is not UTF-8"))
        #expect(try only([0xFF, 0xFE]).contains(":1: is not UTF-8"))
        #expect(try only(Array("diagnostics.group = \"a\\u0000b\"".utf8)).contains("NUL character"))
        #expect(try only(Array("\"a\\u0000b\" = 1".utf8)).contains("NUL character"))
        let deep = Array(String(repeating: "a.", count: 100_000).utf8) + Array("a = 1".utf8)
        #expect(try only(deep).contains(":1: the line is longer than 4096 bytes"))
        let nested = String(repeating: "[", count: 2000) + String(repeating: "]", count: 2000)
        #expect(try only(Array("a = \(nested)".utf8)).contains("not valid TOML"))
        let large = [UInt8](repeating: 0x0A, count: ConfigurationFiles.sizeLimit + 1)
        #expect(try only(large).contains("is larger than 1048576 bytes"))
    }

    @Test(
        "a file that cannot be read is reported with a remedy",
        arguments: [
            (
                Errno.noSuchFileOrDirectory,
                "/a/x.toml: there is no such file (ENOENT). Check the path"
            ),
            (
                .permissionDenied,
                "/a/x.toml: permission denied (EACCES). Let the user that runs airframed read the file"
            ),
            (.isDirectory, "/a/x.toml: is a directory, not a file (EISDIR)."),
            (.notDirectory, "/a/x.toml: part of the path is not a directory (ENOTDIR)."),
            (.ioError, "/a/x.toml: cannot be read: Input/output error."),
        ])
    func unreadable(error: Errno, expected: String) {
        let files = ConfigurationFiles.memory(["/a/conf.d/a.txt": ""], errors: ["/a/x.toml": error])
        let failure = #expect(throws: ConfigurationFailure.self) {
            try ConfigurationLoader.load(ConfigurationSource(config: "/a/x.toml"), files: files)
        }
        #expect(failure?.description.hasPrefix(expected) == true, "\(failure as Any)")
        #expect(failure?.problems.map(\.kind) == [.unreadable])
    }

    @Test(
        "an unreadable drop-in directory and an unreadable default file are reported")
    func unreadableDefaults() {
        let files = ConfigurationFiles.memory(
            [:],
            errors: [mainPath: .permissionDenied, "/etc/airframe/conf.d": .permissionDenied])
        let failure = #expect(throws: ConfigurationFailure.self) {
            try ConfigurationLoader.load(ConfigurationSource(), files: files)
        }
        #expect(failure?.problems.map(\.kind) == [.unreadable, .unreadable])
    }

    @Test("unreadable files on disk are reported with the same messages")
    func realErrors() throws {
        try withTemporaryDirectory { directory in
            for (path, expected) in [
                (directory, "is a directory"), (directory.appending("none"), "no such file"),
            ] {
                let failure = #expect(throws: ConfigurationFailure.self) {
                    try ConfigurationLoader.load(ConfigurationSource(config: path.string))
                }
                #expect(failure?.description.contains(expected) == true)
            }
        }
    }

    @Test(
        "random tokens do not crash the parser, and every problem is one line with its source",
        arguments: 0..<40)
    func soup(seed: Int) {
        var generator = Generator(seed: UInt64(seed))
        for _ in 0..<20 {
            let text = TokenSoup.text(&generator)
            for problem in problems(text) {
                #expect(problem.description.hasPrefix(mainPath), "\(text)")
                #expect(!problem.description.contains("\n"), "\(text)")
            }
            for problem in problems("", set: ["loop.rate_hz=" + text]) {
                #expect(problem.description.hasPrefix("--set: "), "\(text)")
            }
        }
    }

    @Test("the list of problems ends after 50 problems and the number of the others")
    func wrongFile() {
        let text = (0..<50_000).map { "k\($0) = 1\n" }.joined()
        let found = problems(text)
        #expect(found.count == 51)
        #expect(
            found.last?.description.contains(
                "further problems, which are not shown. Correct the problems shown above first"
            )
                == true)
    }

    /// CPU time to read this text, s.
    private func cost(_ text: String) -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
        }
        let began = now()
        _ = problems(text)
        return now() - began
    }

    /// Text of at least this size: copies of the line, each with another number instead of `#`.
    private func text(of line: String, bytes: Int) -> String {
        var text = ""
        var count = 0
        while text.utf8.count < bytes {
            text += line.replacing("#", with: "\(count)")
            count += 1
        }
        return text
    }

    @Test(
        "a file of eight times the size takes less than sixteen times as long to read",
        arguments: [
            "k# = 1\n", "[t#]\n", "t#.a.b.c = 1\n", "[[t]]\n", "a# = [1, [2], 3]\n",
            "a# = { b = { c = 1 } }\n", "# a comment\n", "a# = \"\"\"\nx\n\"\"\"\n",
            "a#" + String(repeating: ".a", count: 31) + " = 1\n",
            "[a#" + String(repeating: ".a", count: 31) + "]\n",
            "a# = " + String(repeating: "[", count: 31) + String(repeating: "]", count: 31) + "\n",
            "a" + String(repeating: ".a", count: 2000) + " = 1\n",
            "a = " + String(repeating: "[", count: 2000) + "\n",
        ])
    func growth(line: String) {
        let (short, long) = (text(of: line, bytes: 40_000), text(of: line, bytes: 320_000))
        var (small, large) = (min(cost(short), cost(short)), cost(long))
        // A pause of a virtual machine counts as CPU time of the thread that it interrupts.
        for _ in 0..<4 where large >= 16 * small + 0.01 {
            (small, large) = (min(small, cost(short)), min(large, cost(long)))
        }
        #expect(large < 16 * small + 0.01, "\(small) s and \(large) s")
    }

    @Test(
        "759 KB of deeply nested names are read within 10 s",
        arguments: [
            "a#" + String(repeating: ".a", count: 31) + " = 1\n",
            "a" + String(repeating: ".a", count: 1200) + " = 1\n",
            "[a" + String(repeating: ".a", count: 1200) + "#]\n",
        ])
    func manyLevels(line: String) {
        let seconds = cost(text(of: line, bytes: 759_000))
        #expect(seconds < 10, "\(seconds) s")
    }

    @Test("a broken link in conf.d is reported as such, not as a mistake on the command line")
    func brokenLink() {
        let files = ConfigurationFiles.memory(
            ["/etc/airframe/conf.d/a.toml": ""],
            errors: ["/etc/airframe/conf.d/a.toml": .noSuchFileOrDirectory])
        let failure = #expect(throws: ConfigurationFailure.self) {
            try ConfigurationLoader.load(ConfigurationSource(), files: files)
        }
        #expect(failure?.description.contains("remove or repair the link") == true)
    }
}
