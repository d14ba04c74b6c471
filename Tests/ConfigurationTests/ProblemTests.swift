import Configuration
import GimbalCore
import TestSupport
import Testing

@Suite("Messages about configuration problems")
struct ProblemTests {
    @Test(
        "a message contains the place, the value, the allowed range and a remedy",
        arguments: [
            (
                "[loop]\nrate_hz = 5000",
                "\(mainPath):2: loop.rate_hz = 5000 is outside 50...4000. "
                    + "500 Hz is a suitable rate with the IMU on an I2C bus at 400 kHz."
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
            ("motors.torque_limit_nm = [1, 2]", "has 2 elements; expected 3: [yaw, roll, pitch]."),
            ("motors.torque_limit_nm = [1, 21, 1]", "= [1, 21, 1] is outside 0.001...20 for roll."),
            (
                "motors.torque_limit_nm = [1, 1, nan]",
                "is wrong for pitch: not a finite number where a number"
            ),
            (
                "motors.torque_limit_nm = [1, 1, 'x']",
                "is wrong for pitch: a string where a number is expected."
            ),
            ("airos.sign = [1, 0, 1]", "= [1, 0, 1] is not [pitch, roll, yaw], each 1 or -1."),
            ("airos.sign = [1, 1, 2]", "= [1, 1, 2] is outside -1...1 for yaw."),
            ("rbl.baud = 1200", "is a whole number where one of these words is expected"),
            (
                "joints.range_deg = [[1, 2], [1, 2]]",
                "has 2 elements; expected 3: [[min, max], [min, max],"
            ),
            (
                "joints.range_deg = [[1, 2], [1], [1, 2]]",
                "needs two finite numbers, [min, max], for roll."
            ),
            (
                "joints.range_deg = [[-1, 2], [1, 2], [2, 2]]",
                "has a minimum that is not below the maximum for pitch."
            ),
            ("joints.range_deg = [[-999, 2], [1, 2], [2, 3]]", "is outside -360...360 for yaw."),
            ("hardware.backend = 'hal'", "= 'hal' is not one of simulated | lockstep | linux."),
            ("hardware.backend = 'linux'", "motors.type = \"torque\" needs encoders on the joints"),
            (
                "hardware.backend = 'linux'\nhardware.linux.motors = 'pwm'\nmotors.type = 'field'",
                "motors.type = \"field\" cannot be driven by hardware.linux.motors = \"pwm\", which drives only servos"
            ),
            (
                """
                hardware.backend = 'linux'\nloop.rate_hz = 400\nmotors.type = 'field'
                hardware.linux.motor_channels = [0, 3, 6]\nservo.frame_hz = 50
                """,
                "servo.frame_hz = 50 applies to servos, but motors.type selects brushless motors on the same PCA9685, which has one pulse frequency"
            ),
            (
                "hardware.backend = 'linux'\nloop.rate_hz = 400\nmotors.type = 'field'",
                "must give each brushless motor three neighbouring outputs from 0 to 15 that no other motor uses"
            ),
            (
                """
                hardware.backend = 'linux'\nloop.rate_hz = 400\nmotors.type = 'field'
                hardware.linux.motor_channels = [0, 3, 14]
                """,
                "must give each brushless motor three neighbouring outputs"
            ),
            (
                """
                hardware.backend = 'linux'\nloop.rate_hz = 1000\nmotors.type = 'field'
                hardware.linux.motor_channels = [0, 3, 6]
                """,
                "% of the time of the bus /dev/i2c-1 at 400 kHz; at most 80 % is allowed."
            ),
            ("hardware.linux.motor_bus = 'i2c-3'", "must be \"same\" or the path of a device file"),
            ("motors.direction = [1, 0, 1]", "must be 1 or -1 for each joint"),
            (
                "robot.x.minimum = 5\nrobot.x.maximum = 5",
                "robot.x.minimum = 5 leaves no range of motion: the minimum is 5, the maximum 5"
            ),
            (
                "robot.first_line = 8\nrobot.home_line = 13",
                "robot.home_line = 13 overlaps the six GPIO lines that begin at robot.first_line = 8"
            ),
            (
                "hardware.backend = 'linux'\nmotors.type = 'servo'\nloop.rate_hz = 1000",
                "would occupy 81 % of the time of the bus /dev/i2c-1 at 400 kHz; at most 80 % is allowed. The highest possible loop.rate_hz with this bus is 950 Hz."
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
                "= 'tracking' is not available: the mode \"tracking\" would end within a second"
            ),
            ("mode.boot = 'pan-follow'", "Did you mean pan_follow?"),
            ("retract.joints_deg = [0, 0, 130]", "is not within joints.range_deg"),
            (
                "follow.preset = 'sports'",
                "is not one of cinema | slow | normal | sport | lock. Did you mean sport?"
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
                "loop = 5 is a whole number where a table is expected. Write [loop] on a separate line"
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
        "a message about an unknown key suggests the most similar key",
        arguments: [
            ("[loop]\n\nrate = 1", ":3: loop.rate = 1 is not a known key."),
            ("loop.rate_hs = 1", "Did you mean loop.rate_hz?"),
            ("loop.Rate_Hz = 1", "Did you mean loop.rate_hz?"),
            ("rate_hz = 1", "Did you mean hardware.iio.rate_hz or loop.rate_hz?"),
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
        "a message about a setting of an earlier version states the remedy, and suggests no other key",
        arguments: [
            (
                "[estimator]\ncross_sigma = 0.0035",
                ":2: estimator.cross_sigma = 0.0035 is not a known key. An earlier version had this setting"
            ),
            ("estimator.stride_aiding = true", "Remove it from the configuration."),
            ("servo.learn_strides = true", "Remove it from the configuration."),
            ("imu.frozen_samples = 20", "imu.frozen_ms has replaced this setting"),
        ])
    func removed(text: String, expected: String) throws {
        let found = problems(text)
        #expect(found.map(\.kind) == [.unknownKey])
        let sentence = try #require(found.first).description
        #expect(sentence.contains(expected), "\(sentence)")
        #expect(!sentence.contains("Did you mean"), "\(sentence)")
    }

    @Test(
        "a message about a value from --set begins with --set",
        arguments: [
            ("loop.rate_hz", "--set: loop.rate_hz has no value. Write --set KEY=VALUE"),
            ("loop.rate_hz=", "--set: loop.rate_hz =  is not a TOML value. Expected: 50...4000."),
            ("loop.rate_hz=5", "--set: loop.rate_hz = 5 is outside 50...4000."),
            (
                "loop.rte_hz=5",
                "--set: loop.rte_hz = 5 is not a known key. Did you mean loop.rate_hz?"
            ),
            (
                "loop=5",
                "--set: loop = 5 is not a known key. This is a table, not a setting; its keys are rate_hz,"
            ),
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

    @Test(
        "a message about two conflicting settings points to the setting that the user has changed"
    )
    func conflicts() {
        #expect(
            problems("loop.rate_hz = 100\ncontrol.derivative_cutoff_hz = 110").map(\.description)
                == [
                    "\(mainPath):2: control.derivative_cutoff_hz = 110 is not below half of loop.rate_hz = 100. "
                        + "16 is a suitable value at this loop rate."
                ])
        #expect(
            problems("", set: ["commander.release_after_s=0.5"]).map(\.description) == [
                "--set: commander.release_after_s = 0.5 is below commander.dead_man_s = 1. "
                    + "Raise commander.release_after_s to at least commander.dead_man_s, so that no other client takes control before the last command has expired."
            ])
    }

    @Test("a loop rate that is too low for the sensor's timeout is refused")
    func slowLoop() {
        #expect(
            problems("loop.rate_hz = 50\nimu.timeout_ms = 20").map(\.description) == [
                "\(mainPath):2: imu.timeout_ms = 20 is less than one and a half periods of the loop with loop.rate_hz = 50. "
                    + "The loop would treat every sample as late. Set imu.timeout_ms to 40."
            ])
        #expect(problems("loop.rate_hz = 50\nimu.timeout_ms = 40").isEmpty)
        #expect(problems("loop.rate_hz = 100").isEmpty)
        #expect(
            problems("imu.timeout_ms = 1").map(\.description) == [
                "\(mainPath):1: imu.timeout_ms = 1 is less than one and a half periods of the loop with loop.rate_hz = 1000. "
                    + "The loop would treat every sample as late. Set imu.timeout_ms to 2."
            ])
    }

    @Test(
        "a notch above the limit of the loop is refused on each axis, and the message names the axis",
        arguments: ["yaw", "roll", "pitch"])
    func notches(axis: String) {
        let text =
            "loop.rate_hz = 500\nfilter.notch_yaw = [[40, 3, 20]]\n"
            + "filter.notch_\(axis) = [[230, 3, 20]]"
        let expected =
            "\(mainPath):\(axis == "yaw" ? 2 : 3): filter.notch_\(axis) = [[230, 3, 20]] has a centre of 230 Hz, which is not below 0.45 times loop.rate_hz. "
            + "Lower the centre or raise loop.rate_hz: the loop cannot measure frequencies above half its rate."
        let lines = text.split(separator: "\n").map(String.init)
        let own = axis == "yaw" ? [lines[0], lines[2]] : lines
        #expect(problems(own.joined(separator: "\n")).map(\.description) == [expected])
    }

    @Test(
        "text of the user's choice needs no quotes, even if it begins with a digit",
        arguments: ["8BitDo Pro 2", "123", "Pad #1, left", "true"])
    func texts(name: String) throws {
        #expect(try load("", set: ["controls.device=\(name)"]).settings.controls.device == name)
        #expect(
            try load("", set: ["controls.device=\"\(name)\""]).settings.controls.device == name)
        #expect(problems("", set: ["loop.rate_hz=\(name) x"]).count == 1)
        #expect(problems("", set: ["controls.device=[1, 2]"]).count == 1)
    }

    @Test("the default resting pose is moved to the nearest end of a smaller range of the joints")
    func restingPose() throws {
        let settings = try load("joints.range_deg = [[-170, 170], [-45, 45], [-60, 60]]").settings
        let pose = settings.modeParameters.retractJoints
        #expect(abs(pose.pitch + .pi / 3) < 1e-9 && pose.yaw == 0 && pose.roll == 0)
    }

    @Test("the messages in first-start.md are the messages of airframed")
    func firstStart() throws {
        let page = try CommittedFile("etc/manual/first-start.md").text()
        let shown = page.split(separator: "\n").compactMap { line in
            line.firstRange(of: "\(mainPath):").map { String(line[$0.lowerBound...]) }
        }
        #expect(shown.count == 2)
        let found = problems("[loop]\nrate_hz = 9000\n[mototrs]\ntype = 'servo'")
        #expect(found.map(\.description).sorted() == shown)
    }

    @Test("a recording that needs more memory than the service has is refused")
    func longRecording() {
        #expect(
            problems("recording.ring_s = 600").map(\.description) == [
                "\(mainPath):1: recording.ring_s = 600 needs 132 MB of memory at loop.rate_hz = 1000, more than the permitted 53 MB. "
                    + "Set recording.ring_s to at most 240; a continuous recording (recording.continuous) has no such limit."
            ])
        #expect(problems("recording.ring_s = 150\nloop.rate_hz = 4000").count == 1)
        #expect(problems("recording.ring_s = 60\nloop.rate_hz = 4000").isEmpty)
        #expect(problems("recording.ring_s = 600\nloop.rate_hz = 400").isEmpty)
        #expect(problems("recording.ring_s = 600\nrecording.enabled = false").isEmpty)
    }

    @Test("long values are shortened")
    func longValues() {
        let sentence = problems("loop.rate_hz = \"\(String(repeating: "x", count: 500))\"")
            .first?.description
        #expect(sentence.map { $0.utf8.count < 250 } == true)
    }
}
