import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

/// Tests of the generated completion scripts in real shells, with a running daemon.
@Suite("Shell completions") struct ShellCompletionTests {
    private static let root = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent()

    private static func isInstalled(_ shell: String) -> Bool {
        ["/bin/", "/usr/bin/"].contains { access($0 + shell, X_OK) == 0 }
    }

    /// Command lines, each with a completion that the shell must offer.
    private static let lines: [(words: String, completion: String)] = [
        ("get loop.ra", "loop.rate_hz"), ("get trackin", "tracking"),
        ("set tracking.max", "tracking.max_rate_dps"), ("mode pan", "pan_follow"),
        ("set push.enabled fa", "false"),
        ("baseline restore go", "good-one"), ("profile use go", "good-one"),
        ("subscribe attitude.pi", "attitude.pitch"),
        ("metri", "metrics"), ("--socket SOCKET baseline restore go", "good-one"),
        ("--json --timeout 3 get loop.ra", "loop.rate_hz"),
        ("--socket SPACED baseline restore go", "good-one"),
    ]

    @Test(
        "bash completes commands, keys, modes, baselines, variables and files",
        .enabled(if: isInstalled("bash"), "bash is missing"))
    func bash() throws {
        let files: [(words: String, completion: String)] = [
            ("import BEGINNING", "FILE"), ("spectrum --svg BEGINNING", "FILE"),
        ]
        try check("bash", lines: Self.lines + files) { script, words in
            ["bash", "--norc", "\(Self.root)/Tests/Shells/complete.bash", "\(script)"] + words
        }
    }

    @Test(
        "zsh completes commands, keys, modes, baselines and variables",
        .enabled(if: isInstalled("zsh"), "zsh is missing: apt-get install zsh"))
    func zsh() throws {
        try check("zsh", as: "_airframectl") { script, words in
            [
                "zsh", "-f", "\(Self.root)/Tests/Shells/complete.zsh",
                "\(script.removingLastComponent())",
            ] + words
        }
    }

    @Test(
        "fish completes commands, keys, modes, baselines and variables",
        .enabled(if: isInstalled("fish"), "fish is missing: apt-get install fish"))
    func fish() throws {
        try check("fish") { script, words in
            ["python3", "\(Self.root)/Tests/Shells/complete_fish.py", "\(script)"] + words
        }
    }

    /// Completes each command line in a shell. A word in capitals is a path.
    private func check(
        _ shell: String, as name: String = "script",
        lines: [(words: String, completion: String)] = Self.lines,
        _ command: (FilePath, [String]) -> [String]
    ) throws {
        try withDaemon { daemon in
            let program = try Program.built("airframectl")
            let folder = FilePath(program).removingLastComponent().string
            let script = daemon.directory.appending(name)
            let made = try daemon.control("--generate-completion-script", shell)
            try write(made.output, to: script)
            #expect(try daemon.control("baseline", "store", "good-one").status == 0)
            let spaced = daemon.directory.appending("a b").string
            #expect(symlink(daemon.socket, spaced) == 0)
            // A path with a space is quoted on the command line.
            let file = daemon.directory.appending("good.toml")
            try write("", to: file)
            let paths = [
                "SOCKET": daemon.socket, "SPACED": "'\(spaced)'", "FILE": file.string,
                "BEGINNING": "\(daemon.directory)/good.t",
            ]
            for (line, completion) in lines {
                let words =
                    ["airframectl"]
                    + line.split(separator: " ").map { paths[String($0)] ?? String($0) }
                let run = try Program.run(
                    [
                        "/usr/bin/env", "AIRFRAME_SOCKET=\(daemon.socket)",
                        "PATH=\(folder):/usr/bin:/bin", "HOME=\(daemon.directory)",
                    ] + command(script, words), in: daemon.directory)
                // A shell can add a space after a completion.
                let offered = run.output.split(separator: "\n").map { $0.prefix { $0 != " " } }
                #expect(
                    offered.contains { $0 == paths[completion] ?? completion },
                    "\(shell), \(line): \(run.output)\(run.errors)")
            }
        }
    }
}
