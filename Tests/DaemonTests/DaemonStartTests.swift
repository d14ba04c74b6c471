import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@Suite("airframed as a process") struct DaemonStartTests {
    @Test("airframed answers requests from a shell with nc and jq")
    func shell() throws {
        try withDaemon { daemon throws in
            for tool in ["nc", "jq"] {
                let found = try Program.run(
                    ["sh", "-c", "command -v \(tool)"], in: daemon.directory)
                try #require(found.status == 0, "\(tool) is not installed: run `make deps`")
            }
            let command = """
                echo '{"id":7,"method":"status"}' | nc -N -U \(daemon.socket) \
                | jq -r '"\\(.id) \\(.result.backend) \\(.result.loop.rate_hz)"'
                """
            let answer = try Program.run(["sh", "-c", command], in: daemon.directory)
            #expect(answer.output == "7 simulated 1000\n", "\(answer.errors)")
        }
    }

    @Test(
        "airframed turns the outputs on automatically, and holds the camera still in a still hand"
    )
    func holdsStill() throws {
        try withDaemon { daemon throws in
            let status = try daemon.status("the motors are on, and the error is small") { status in
                status["state"]?.string == "running"
                    && ["yaw", "roll", "pitch"].allSatisfy {
                        abs(status.number("error_deg", $0)) < 0.1
                    }
            }
            #expect(status["enabled"]?.bool == true)
            #expect(status["mode"]?.string == "locked")
            #expect(status.inhibitions.isEmpty)
            #expect(status.number("imu", "accel_m_s2", "z") < -9)
            #expect(status["joints"]?["source"]?.string == "encoders")
            #expect(daemon.log.contains("The motors are on."))
        }
    }

    @Test(
        "SIGTERM and SIGINT end airframed within a second, with the outputs off",
        arguments: [SIGTERM, SIGINT])
    func endsInTime(signal: Int32) throws {
        let duration = try repeatingAfterPause(until: { $0 < 1 }) {
            var duration = Double.infinity
            try withDaemon { daemon throws in
                try daemon.status("enabled") { $0["enabled"]?.bool == true }
                let end = try daemon.stop(signal)
                duration = end.seconds
                #expect(end.status == 0)
                #expect(daemon.log.contains("The motors are off."))
                #expect(daemon.log.hasSuffix("airframed has stopped.\n"))
                #expect(
                    access(daemon.socket, F_OK) != 0,
                    "airframed has not removed the socket's file")
            }
            return duration
        }
        #expect(duration < 1, "\(duration) s")
    }

    /// The stacks are locked into memory in full size.
    @Test(
        "no thread has the C library's default stack of 8 MiB",
        .disabled(if: Sanitizer.isActive, "a sanitizer makes mappings of this size"))
    func smallStacks() throws {
        try withDaemon { daemon throws in
            try daemon.status("enabled") { $0["enabled"]?.bool == true }
            let maps = try Program.run(
                ["cat", "/proc/\(daemon.program.processID)/maps"], in: daemon.directory
            ).output
            let stacks = maps.split(separator: "\n").filter { line in
                let words = line.split(separator: " ", omittingEmptySubsequences: true)
                let ends = words[0].split(separator: "-").compactMap { Int($0, radix: 16) }
                return words.count == 5 && words[1] == "rw-p" && ends.count == 2
                    && ends[1] - ends[0] == 8 << 20
            }
            #expect(maps.contains("airframed"))
            #expect(stacks.isEmpty, "\(stacks.joined(separator: "\n"))")
        }
    }

    @Test("airframed continues without a reader of its log, and without standard streams")
    func withoutStreams() throws {
        let shells = [
            // The reader of standard error closes the pipe at the first line or earlier.
            #"exec "$0" "$@" 2> >(exit)"#,
            #"exec "$0" "$@" <&- >&- 2>&-"#,
        ]
        for shell in shells {
            try withDaemon(through: ["bash", "-c", shell]) { daemon throws in
                try daemon.status("enabled") { $0["enabled"]?.bool == true }
                #expect(try daemon.control("mode", "inactive").status == 0)
                try daemon.status("off") { $0["enabled"]?.bool == false }
                #expect(try daemon.control("log").output.contains("The motors are off."))
            }
        }
    }

    @Test("a terminal cannot suspend airframed, whose motors would keep their last output")
    func isNotSuspended() throws {
        try withDaemon { daemon throws in
            let file = "/proc/\(daemon.program.processID)/status"
            let lines = try Program.run(["cat", file], in: daemon.directory).output
                .split(separator: "\n")
            let mask = lines.first { $0.hasPrefix("SigIgn:") }?.split(separator: "\t").last
            let ignored = try #require(mask.flatMap { UInt64($0, radix: 16) })
            for signal in [SIGTSTP, SIGTTOU] {
                #expect(ignored >> UInt64(signal - 1) & 1 == 1, "signal \(signal)")
            }
        }
    }

    @Test("SIGTERM immediately after the start also ends airframed with the outputs off")
    func endsAtOnce() throws {
        try withDaemon { daemon throws in
            let end = try daemon.stop()
            #expect(end.status == 0)
            #expect(daemon.log.contains("The motors are off."))
        }
    }

    @Test("SIGTERM as soon as the socket's file exists is a regular stop")
    func endsWhileStarting() throws {
        for _ in 0..<5 {
            try withTemporaryDirectory { directory throws in
                let program = try Program(
                    [try Program.built("airframed")] + RunningDaemon.arguments(in: directory),
                    in: directory)
                let deadline = Deadline(seconds: 20)
                while access("\(directory)/s.sock", F_OK) != 0 {
                    try #require(!deadline.hasPassed, "\(program.errors)")
                }
                kill(program.processID, SIGTERM)
                #expect(try program.wait(seconds: 10) == 0, "\(program.errors)")
                #expect(program.errors.hasSuffix("airframed has stopped.\n"))
            }
        }
    }

    @Test(
        "without real-time permission, airframed runs and logs a warning with the remedy",
        .disabled(if: Sanitizer.isActive, "a sanitizer does not lock memory, but reports success"))
    func withoutRealtime() throws {
        // Root has all capabilities unless they are dropped; in a container, they can already be
        // missing.
        let taken = "-sys_nice,-ipc_lock"
        let drop = ["setpriv", "--bounding-set=\(taken)", "--inh-caps=\(taken)"]
        var prefix: [String] = []
        try withTemporaryDirectory { directory throws in
            if try Program.run(drop + ["true"], in: directory).status == 0 { prefix = drop }
        }
        let limits = ["prlimit", "--rtprio=0:0", "--memlock=65536:65536"]
        try withDaemon(["--set", "loop.lock_memory=true"], through: prefix + limits) {
            daemon throws in
            let status = try daemon.status("the threads have reported") {
                $0["realtime"]?["policy"]?.string?.isEmpty == false
            }
            let realtime = try #require(status["realtime"])
            #expect(realtime["policy"]?.string == "SCHED_OTHER")
            #expect(realtime["memory_locked"]?.bool == false)
            let sentences = realtime["sentences"]?.array?.compactMap(\.string) ?? []
            #expect(sentences.contains { $0.contains("airframed-loop has no real-time priority") })
            #expect(sentences.contains { $0.contains("LimitMEMLOCK") })
            try daemon.status("the log contains the warning") { _ in
                daemon.log.contains("airframed: warning: Real-time set-up is incomplete")
            }
            try daemon.status("the motors are on without real-time permission") {
                $0["enabled"]?.bool == true
            }
        }
    }
}
