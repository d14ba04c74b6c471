import Configuration
import Glibc
import SystemPackage
import TestSupport
import Testing

@Suite("Configuration problems")
struct ProblemTests {
    @Test(
        "name the place, the value, what is allowed and what usually works",
        arguments: [
            (
                "[loop]\nrate_hz = 5000",
                "\(mainPath):2: loop.rate_hz = 5000 is outside 50...4000. With the IMU on I2C at 400 kHz, "
                    + "500 is a good start."
            ),
            (
                "loop.cpu = 1.5",
                "loop.cpu = 1.5 has a fraction where a whole number is expected (-1...1023)."
            ),
            (
                "loop.lock_memory = 1",
                "loop.lock_memory = 1 is a whole number where true or false is expected"
            ),
            (
                "loop.rate_hz = \"fast\"",
                "loop.rate_hz = \"fast\" is a string where a whole number is expected (50...4000)."
            ),
            (
                "control.feed_forward = true",
                "= true is true or false where a number is expected (0...1)."
            ),
            (
                "control.feed_forward = nan",
                "= nan is not a finite number where a number is expected (0...1)."
            ),
            ("control.feed_forward = -inf", "= -inf is not a finite number where a number"),
            ("loop.rate_hz = inf", "= inf is not a finite number where a whole number"),
            ("loop.rate_hz = 1e300", "loop.rate_hz = 1e300 is outside 50...4000."),
            ("loop.rate_hz = 9223372036854775807", "= 9223372036854775807 is outside 50...4000."),
            (
                "motors.torque_limit_nm = 1",
                "= 1 is a whole number where [yaw, roll, pitch] is expected"
            ),
            ("motors.torque_limit_nm = [1, 2]", "has 2 elements where [yaw, roll, pitch] has 3."),
            ("motors.torque_limit_nm = [1, 21, 1]", "= [1, 21, 1] is outside 0...20 for roll."),
            (
                "motors.torque_limit_nm = [1, 1, nan]",
                "has not a finite number for pitch where a number"
            ),
            (
                "motors.torque_limit_nm = [1, 1, 'x']",
                "has a string for pitch where a number is expected."
            ),
            ("airos.sign = [1, 0, 1]", "= [1, 0, 1] is not [pitch, roll, yaw], each 1 or -1."),
            ("airos.sign = [1, 1, 2]", "= [1, 1, 2] is outside -1...1 for yaw."),
            ("rbl.baud = 1200", "is a whole number where one of these words is expected"),
            (
                "joints.range_deg = [[1, 2], [1, 2]]",
                "has 2 elements where [[min, max], [min, max],"
            ),
            (
                "joints.range_deg = [[1, 2], [1], [1, 2]]",
                "has no [min, max] of two finite numbers for roll."
            ),
            ("joints.range_deg = [[-1, 2], [1, 2], [2, 2]]", "has min not below max for pitch."),
            ("joints.range_deg = [[-999, 2], [1, 2], [2, 3]]", "is outside -360...360 for yaw."),
            ("hardware.backend = 'hal'", "= 'hal' is not one of simulated | lockstep | linux."),
            ("hardware.backend = 'linux'", "motors.type = \"torque\" needs encoders on the joints"),
            (
                "hardware.backend = 'linux'\nhardware.linux.motors = 'pwm'\nmotors.type = 'field'",
                "motors.type = \"field\" is not driven by a PWM chip"
            ),
            (
                """
                hardware.backend = 'linux'\nloop.rate_hz = 400\nmotors.type = 'field'
                hardware.linux.motor_channels = [0, 3, 6]\nservo.frame_hz = 50
                """,
                "servo.frame_hz = 50 is for servos, and motors.type has brushless motors on the PCA9685: it has one prescaler"
            ),
            (
                "hardware.backend = 'linux'\nloop.rate_hz = 400\nmotors.type = 'field'",
                "leaves no three neighbouring outputs of 0...15 to each brushless motor"
            ),
            (
                """
                hardware.backend = 'linux'\nloop.rate_hz = 400\nmotors.type = 'field'
                hardware.linux.motor_channels = [0, 3, 14]
                """,
                "leaves no three neighbouring outputs"
            ),
            (
                """
                hardware.backend = 'linux'\nloop.rate_hz = 1000\nmotors.type = 'field'
                hardware.linux.motor_channels = [0, 3, 6]
                """,
                "% of the wire of /dev/i2c-1 at 400 kHz; 80 % may be planned."
            ),
            ("hardware.linux.motor_bus = 'i2c-3'", "must be \"same\" or the path of a device file"),
            ("motors.direction = [1, 0, 1]", "must be 1 or -1 for each joint"),
            (
                "robot.x.minimum = 5\nrobot.x.maximum = 5",
                "robot.x.minimum = 5 leaves no way: the minimum, 5, is not below the maximum, 5"
            ),
            (
                "robot.first_line = 8\nrobot.home_line = 13",
                "robot.home_line = 13 shares lines with the six from robot.first_line = 8 on"
            ),
            (
                "hardware.backend = 'linux'\nmotors.type = 'servo'\nloop.rate_hz = 1000",
                "would need 81 % of the wire of /dev/i2c-1 at 400 kHz; 80 % may be planned. 950 Hz fits."
            ),
            (
                """
                hardware.backend = 'linux'\nloop.rate_hz = 400\nmotors.type = 'servo'
                hardware.linux.motor_channels = [0, 0, 1]
                """,
                "must be three different whole numbers"
            ),
            ("servo.direction = [1, 0, 1]", "must be 1 or -1 for each joint"),
            (
                "hardware.lockstep.timeout = 0",
                "hardware.lockstep.timeout = 0 is outside 0.01...3600."
            ),
            (
                "hardware.simulation.motion = 'waking'",
                "is not one of still | handheld | walking | running. Did you mean walking?"
            ),
            (
                "mode.boot = 'tracking'",
                "= 'tracking' is not available: at the start nobody sends the rates"
            ),
            ("mode.boot = 'pan-follow'", "Did you mean pan_follow?"),
            ("retract.joints_deg = [0, 0, 130]", "is not within joints.range_deg"),
            (
                "follow.preset = 'sports'",
                "is not one of slow | normal | sport. Did you mean sport?"
            ),
            (
                "log.level = 2",
                "is a whole number where one of these words is expected (trace | debug"
            ),
            (
                "diagnostics.socket = 'run/x'",
                "is not an absolute path of at most 107 bytes. Linux allows"
            ),
            ("diagnostics.group = ''", "diagnostics.group = '' is not text of 1...32 bytes."),
            ("diagnostics.group = \"a\\nb\"", "is not text of 1...32 bytes."),
            ("loop.rate_hz = 2026-11-21", "= 2026-11-21 is a date or time where a whole number"),
            ("loop.rate_hz = {}", "= {} is a table where a whole number is expected"),
            (
                "[loop.rate_hz]",
                "loop.rate_hz = a table is a table where a whole number is expected"
            ),
            (
                "loop = 5",
                "loop = 5 is a whole number where a table is expected. Write [loop] on a line"
            ),
            ("[[loop]]\nrate_hz = 500", "is an array of tables where a table is expected."),
            (
                "robot.slider = 'rate'",
                "robot.slider = 'rate' is a string where a table is expected. Did you mean robot.slider_motion?"
            ),
        ])
    func sentences(text: String, expected: String) throws {
        let found = problems(text)
        #expect(found.count == 1)
        let sentence = try #require(found.first).description
        #expect(sentence.contains(expected), "\(sentence)")
        #expect(sentence.hasPrefix(mainPath + ":"))
        #expect(!sentence.contains("\n"))
    }

    @Test(
        "guess what an unknown key was meant to be",
        arguments: [
            ("[loop]\n\nrate = 1", ":3: loop.rate = 1 is not a known key."),
            ("loop.rate_hs = 1", "Did you mean loop.rate_hz?"),
            ("loop.Rate_Hz = 1", "Did you mean loop.rate_hz?"),
            ("rate_hz = 1", "Did you mean loop.rate_hz?"),
            ("control.torque_limit_nm = [1, 1, 1]", "Did you mean motors.torque_limit_nm?"),
            ("[motor]\ntype = 'servo'", ":1: [motor] is not a known table. Did you mean [motors]?"),
            ("[hardware.simulaton]\nseed = 1", "Did you mean [hardware.simulation]?"),
            ("[[pump]]\npin = 1", ":1: [pump] is not a known table."),
            ("\"loop.rate_hz\" = 1", "\"loop.rate_hz\" = 1 is not a known key."),
            ("[loop]\n\"rate.hz\" = 1", "loop.\"rate.hz\" = 1 is not a known key."),
            ("completely_different = 1", "completely_different = 1 is not a known key."),
        ])
    func unknown(text: String, expected: String) throws {
        let found = problems(text)
        #expect(found.map(\.kind) == [.unknownKey])
        #expect(try #require(found.first).description.contains(expected), "\(found)")
    }

    @Test(
        "give line and column of the first syntax error",
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

    @Test("find what the parser would swallow or choke on")
    func hostileText() throws {
        func only(_ bytes: [UInt8]) throws -> String {
            let files = ConfigurationFiles.memory(bytes: [mainPath: bytes])
            let failure = #expect(throws: ConfigurationFailure.self) {
                try ConfigurationLoader.load(ConfigurationSource(), files: files)
            }
            #expect(failure?.problems.count == 1)
            return failure?.description ?? ""
        }
        #expect(try only([0x61, 0x0A, 0x00]).contains(":2:1: holds a NUL byte"))
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
        "say what to do about files that cannot be read",
        arguments: [
            (
                Errno.noSuchFileOrDirectory,
                "/a/x.toml: there is no such file (ENOENT). Check the path"
            ),
            (
                .permissionDenied,
                "/a/x.toml: permission denied (EACCES). Make it readable for the user"
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
        "report a drop-in directory that cannot be listed, and a default file that cannot be read")
    func unreadableDefaults() {
        let files = ConfigurationFiles.memory(
            [:],
            errors: [mainPath: .permissionDenied, "/etc/airframe/conf.d": .permissionDenied])
        let failure = #expect(throws: ConfigurationFailure.self) {
            try ConfigurationLoader.load(ConfigurationSource(), files: files)
        }
        #expect(failure?.problems.map(\.kind) == [.unreadable, .unreadable])
    }

    @Test("of the machine's own files are the same sentences")
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
        "of --set say so",
        arguments: [
            ("loop.rate_hz", "--set: loop.rate_hz has no value. Write --set KEY=VALUE"),
            ("loop.rate_hz=", "--set: loop.rate_hz =  is not a TOML value. Expected: 50...4000."),
            ("loop.rate_hz=5", "--set: loop.rate_hz = 5 is outside 50...4000."),
            (
                "loop.rte_hz=5",
                "--set: loop.rte_hz = 5 is not a known key. Did you mean loop.rate_hz?"
            ),
            ("loop=5", "--set: loop = 5 is not a known key. It is a table; its keys are rate_hz,"),
            (
                "robot.slider=rate",
                "--set: robot.slider = rate is not a known key. Did you mean robot.slider_motion?"
            ),
            ("=5", "--set:  = 5 is not a known key."),
            ("log.level=loud", "--set: log.level = loud is not one of trace |"),
            ("motors.torque_limit_nm=[1,2", "= [1,2 is not a TOML value."),
            ("loop.rate_hz=500\nloop.cpu = 1", "is not a TOML value."),
        ])
    func overrides(text: String, expected: String) {
        let found = problems("", set: [text])
        #expect(found.count == 1)
        #expect(found.first?.description.contains(expected) == true, "\(found)")
    }

    @Test("of settings that contradict each other point at the one that somebody wrote")
    func conflicts() {
        #expect(
            problems("loop.rate_hz = 100\ncontrol.derivative_cutoff_hz = 110").map(\.description)
                == [
                    "\(mainPath):2: control.derivative_cutoff_hz = 110 is not below half of loop.rate_hz = 100. "
                        + "16 is a good start at this loop rate."
                ])
        #expect(
            problems("", set: ["commander.release_after_s=0.5"]).map(\.description) == [
                "--set: commander.release_after_s = 0.5 is below commander.dead_man_s = 1. "
                    + "Control cannot be free for others before the last command has died."
            ])
    }

    @Test("refuse a loop that is too slow for the sensor's timeout")
    func slowLoop() {
        #expect(
            problems("loop.rate_hz = 50\nimu.timeout_ms = 20").map(\.description) == [
                "\(mainPath):1: loop.rate_hz = 50 leaves less than one and a half periods in imu.timeout_ms = 20. "
                    + "Samples would count as late: set imu.timeout_ms to 40."
            ])
        #expect(problems("loop.rate_hz = 50\nimu.timeout_ms = 40").isEmpty)
        #expect(problems("loop.rate_hz = 100").isEmpty)
    }

    @Test("are at least one, and no crash, for texts that are hardly ever TOML", arguments: 0..<40)
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

    @Test("stop where a list helps nobody")
    func wrongFile() {
        let text = (0..<50_000).map { "k\($0) = 1\n" }.joined()
        let found = problems(text)
        #expect(found.count == 51)
        #expect(
            found.last?.description.contains("more problems than are shown. Is it the right")
                == true)
    }

    /// Seconds of the processor that the reading of a text takes.
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

    /// This line again and again, each with another number in the place of `#`.
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
        "take eight times as long for a text that is eight times as long, whatever it is made of",
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
        let short = text(of: line, bytes: 40_000)
        let (small, large) = (min(cost(short), cost(short)), cost(text(of: line, bytes: 320_000)))
        #expect(large < 16 * small + 0.01, "\(small) s and \(large) s")
    }

    @Test(
        "take seconds, not a minute, for 759 KB of names within names",
        arguments: [
            "a#" + String(repeating: ".a", count: 31) + " = 1\n",
            "a" + String(repeating: ".a", count: 1200) + " = 1\n",
            "[a" + String(repeating: ".a", count: 1200) + "#]\n",
        ])
    func manyLevels(line: String) {
        let seconds = cost(text(of: line, bytes: 759_000))
        #expect(seconds < 10, "\(seconds) s")
    }

    @Test("blame a broken link in conf.d, not the command line")
    func brokenLink() {
        let files = ConfigurationFiles.memory(
            ["/etc/airframe/conf.d/a.toml": ""],
            errors: ["/etc/airframe/conf.d/a.toml": .noSuchFileOrDirectory])
        let failure = #expect(throws: ConfigurationFailure.self) {
            try ConfigurationLoader.load(ConfigurationSource(), files: files)
        }
        #expect(failure?.description.contains("is it a broken link?") == true)
    }

    @Test("shorten long values and hide control characters")
    func longValues() {
        let sentence = problems("loop.rate_hz = \"\(String(repeating: "x", count: 500))\"")
            .first?.description
        #expect(sentence.map { $0.utf8.count < 250 } == true)
    }
}
