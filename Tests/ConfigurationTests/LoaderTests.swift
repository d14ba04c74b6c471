import Configuration
import GimbalCore
import SystemPackage
import TestSupport
import Testing

@Suite("Configuration loader")
struct LoaderTests {
    @Test("values of every kind are read into Settings")
    func values() throws {
        let settings = try load(
            """
            loop = { rate_hz = 500, lock_memory = false }
            motors.torque_limit_nm = [0.1, 1, 2.5]
            [joints]
            range_deg = [[-90, 90], [-30.5, 30.5], [-10, 20]]
            [hardware]
            simulation.motion = "still"
            [control]
            feed_forward = 0
            [diagnostics]
            socket = '/tmp/a b.sock'
            [mode]
            boot = "inactive"
            [airos]
            sign = [-1, 1, 1]
            [rbl]
            baud = 115200
            """
        ).settings
        #expect(settings.loop.rateHz == 500)
        #expect(settings.loop.lockMemory == false)
        #expect(settings.motors.torqueLimitNm == AxisVector(yaw: 0.1, roll: 1, pitch: 2.5))
        #expect(settings.joints.rangeDeg.lower == AxisVector(yaw: -90, roll: -30.5, pitch: -10))
        #expect(settings.joints.rangeDeg.upper == AxisVector(yaw: 90, roll: 30.5, pitch: 20))
        #expect(settings.hardware.simulation.motion == .still)
        #expect(settings.control.feedForward == 0)
        #expect(settings.diagnostics.socket == "/tmp/a b.sock")
        #expect(settings.mode.boot == .inactive)
        #expect(settings.airos.sign == AxisSigns(pitch: -1))
        #expect(settings.airos.sign.factors == AxisVector(yaw: 1, roll: 1, pitch: -1))
        #expect(settings.rbl.baud == .baud115200)
    }

    @Test("chips that are configured without a backend are reported")
    func unusedChips() throws {
        func sentence(_ text: String) throws -> String? { try load(text).unusedChips }
        #expect(try sentence("loop.rate_hz = 500") == nil)
        let chips = "[hardware.linux]\nimu = \"bmi088\"\nbus = \"/dev/i2c-1\"\n"
        let found = try #require(try sentence(chips))
        #expect(found.contains("(hardware.linux.bus and 1 more below [hardware])"))
        for backend in ["linux", "simulated"] {
            let selected = "hardware.backend = \"\(backend)\"\nmotors.type = \"servo\"\n"
            #expect(try sentence(selected + chips) == nil)
        }
    }

    @Test("both ends of a range are accepted, and values outside are refused")
    func rangeEnds() throws {
        #expect(try load("loop.rate_hz = 4000").settings.loop.rateHz == 4000)
        #expect(try load("commander.dead_man_s = 0.05").settings.commander.deadManS == 0.05)
        #expect(problems("loop.rate_hz = 4001").map(\.kind) == [.outOfRange])
        #expect(problems("commander.dead_man_s = 0.0499999").map(\.kind) == [.outOfRange])
    }

    @Test(
        "drop-ins override the main file in the order of their names, and --set overrides both")
    func layers() throws {
        let files = ConfigurationFiles.memory([
            "/a/main.toml":
                "loop.rate_hz = 100\nloop.priority = 10\nloop.cpu = 1\nimu.timeout_ms = 5",
            "/a/conf.d/20-b.toml": "[loop]\nrate_hz = 300\n",
            "/a/conf.d/10-a.toml": "[loop]\nrate_hz = 200\n\npriority = 20\n",
            "/a/conf.d/.hidden.toml": "nonsense",
            "/a/conf.d/readme.txt": "nonsense",
        ])
        let source = ConfigurationSource(
            config: "/a/main.toml",
            overrides: ["loop.cpu=2", "loop.cpu = 3", "log.level=debug", "control.feed_forward=.5"])
        #expect(throws: ConfigurationFailure.self) {
            try ConfigurationLoader.load(source, files: files)
        }
        let loaded = try ConfigurationLoader.load(
            ConfigurationSource(
                config: "/a/main.toml", overrides: Array(source.overrides.dropLast())),
            files: files)
        #expect(loaded.settings.loop.rateHz == 300)
        #expect(loaded.settings.loop.priority == 20)
        #expect(loaded.settings.loop.cpu == 3)
        #expect(loaded.settings.log.level == .debug)
        #expect(loaded.files == ["/a/main.toml", "/a/conf.d/10-a.toml", "/a/conf.d/20-b.toml"])
        #expect("\(loaded.origin(of: "loop.rate_hz"))" == "/a/conf.d/20-b.toml:2")
        #expect("\(loaded.origin(of: "loop.priority"))" == "/a/conf.d/10-a.toml:4")
        #expect("\(loaded.origin(of: "imu.timeout_ms"))" == "/a/main.toml:4")
        #expect("\(loaded.origin(of: "loop.cpu"))" == "--set")
        #expect("\(loaded.origin(of: "motors.type"))" == "default")
    }

    @Test("the printed configuration is TOML that loads to the same settings")
    func listing() throws {
        let loaded = try load("[control]\ninertia_kg_m2 = [1e-5, 0.1, 0.30000000000000004]\n")
        let text = loaded.description
        #expect(text.contains("rate_hz = 1000"))
        #expect(text.contains("inertia_kg_m2 = [1e-05, 0.1, 0.30000000000000004] # \(mainPath):2"))
        #expect(try load(text).settings == loaded.settings)
    }

    @Test("the file at the default path can be missing")
    func nothing() throws {
        let loaded = try ConfigurationLoader.load(ConfigurationSource(), files: .memory([:]))
        #expect(loaded.settings == Settings())
        #expect(loaded.files.isEmpty)
    }

    @Test("drop-ins are read although the default file is missing")
    func dropInsOnly() throws {
        let files = ConfigurationFiles.memory(["/etc/airframe/conf.d/a.toml": "loop.cpu = 1"])
        let loaded = try ConfigurationLoader.load(ConfigurationSource(), files: files)
        #expect(loaded.settings.loop.cpu == 1)
    }

    @Test("all problems of all files are reported at once, in order")
    func allProblems() {
        let files = ConfigurationFiles.memory([
            "/a/main.toml": "[loop]\nrate_hz = 1\npriority = 'x'\n[lop]\ncpu = 1\n",
            "/a/conf.d/a.toml": "x = 1\n",
            "/a/conf.d/b.toml": "[loop\n",
        ])
        let source = ConfigurationSource(config: "/a/main.toml", overrides: ["loop.cpu=many", "y"])
        do throws(ConfigurationFailure) {
            _ = try ConfigurationLoader.load(source, files: files)
            Issue.record("a wrong configuration was accepted")
        } catch {
            #expect(
                error.problems.map(\.kind) == [
                    .outOfRange, .wrongType, .unknownKey, .unknownKey, .syntax, .wrongType, .syntax,
                ])
            #expect(error.description.split(separator: "\n").count == 7)
        }
    }

    @Test(
        "the other lines of a file with lines that are not TOML are read, and these lines are reported",
        arguments: [
            ("loop.rate_hz = ", [2]), ("x = 'a\ny 1\n\u{1}", [2, 3, 4]),
            ("loop.cpu = 1\r\nloop.cpu = 2\r", [3]),
        ] as [(String, [Int])])
    func salvaged(broken: String, lines: [Int]) {
        let text = "drive.board = 'xgo'\n\(broken)\ndrive.port = '/dev/ttyAMA0'\n"
        let (loaded, found) = ConfigurationLoader.readable(
            ConfigurationSource(), files: .memory([mainPath: text]))
        #expect(loaded.settings.drive.board == .xgo)
        #expect(loaded.settings.drive.port == "/dev/ttyAMA0")
        #expect(found.count == lines.count)
        for (problem, line) in zip(found, lines) {
            #expect(problem.kind == .syntax && "\(problem)".hasPrefix("\(mainPath):\(line):"))
        }
        #expect(problems(text).count == 1, "a start refuses the file with its first problem")
    }

    @Test(
        "the keys below an invalid or repeated header are left out, up to the next header",
        arguments: ["[imu", "  [imu}", "[loop]"])
    func invalidHeader(header: String) {
        let text = "[loop]\ncpu = 1\n\(header)\nrate_hz = 300\n\n[drive]\nboard = 'xgo'\n"
        let (loaded, found) = ConfigurationLoader.readable(
            ConfigurationSource(), files: .memory([mainPath: text]))
        #expect(loaded.settings.loop.cpu == 1)
        #expect(loaded.settings.loop.rateHz == Settings().loop.rateHz)
        #expect(loaded.settings.drive.board == .xgo)
        #expect(found.count == 1)
    }

    @Test("the keys below an invalid element of an array are read")
    func invalidElement() {
        let text = "[loop]\nx = [\n[1 2],\n[3, 4],\n]\ncpu = 1\n"
        let (loaded, found) = ConfigurationLoader.readable(
            ConfigurationSource(), files: .memory([mainPath: text]))
        #expect(loaded.settings.loop.cpu == 1)
        #expect(found.first?.kind == .syntax)
    }

    @Test(
        "the lines above a value without an end are read",
        arguments: ["x = [1, 2", "x = \"\"\"", "x = [1,\n[loop]\nrate_hz = 300"])
    func openEnd(broken: String) {
        let (loaded, found) = ConfigurationLoader.readable(
            ConfigurationSource(), files: .memory([mainPath: "loop.cpu = 1\n\(broken)\n\n"]))
        #expect(loaded.settings.loop.cpu == 1)
        #expect(!found.isEmpty)
    }

    @Test("a file with more than 20 lines that are not TOML has no values")
    func unsalvageable() {
        let text = "drive.board = 'xgo'\n" + String(repeating: "rate_hz 5\n", count: 21)
        let (loaded, found) = ConfigurationLoader.readable(
            ConfigurationSource(), files: .memory([mainPath: text]))
        #expect(loaded.settings == Settings())
        #expect(found.count == 21)
    }

    @Test("files and directories on disk are read")
    func machine() throws {
        try withTemporaryDirectory { directory in
            let main = directory.appending("airframed.toml")
            try write("loop.rate_hz = 250\n", to: main)
            try makeDirectory(directory.appending("conf.d"))
            try write("loop.cpu = 1\n", to: directory.appending("conf.d/b.toml"))
            try write("loop.cpu = 0\n", to: directory.appending("conf.d/a.toml"))
            let loaded = try ConfigurationLoader.load(ConfigurationSource(config: main.string))
            #expect(loaded.settings.loop.rateHz == 250)
            #expect(loaded.settings.loop.cpu == 1)
            #expect(loaded.files.count == 3)
        }
    }

    @Test("in lockstep, the default delay of the sensor's filter is 0")
    func lockstepDefaults() throws {
        let lockstep = "hardware.backend=lockstep"
        func load(_ overrides: [String]) throws -> LoadedConfiguration {
            try ConfigurationLoader.load(
                ConfigurationSource(overrides: overrides), files: .memory([:]))
        }
        #expect(try load([]).settings.imu.filterDelayMs == 3)
        #expect(try load([lockstep]).settings.imu.filterDelayMs == 0)
        #expect(try load([lockstep, "imu.filter_delay_ms=2"]).settings.imu.filterDelayMs == 2)
        let store = ParameterStore(try load([lockstep]))
        #expect(store.changes.map(\.key) == ["hardware.backend"])
    }
}
