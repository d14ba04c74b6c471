import GimbalCore
import Testing

@testable import Configuration

/// Tests of the defaults that depend on the configured pulse rate.
@Suite("Defaults for slow servo pulses")
struct ServoPulseTests {
    static func servo(_ settings: String...) throws -> Settings.Servo {
        try ConfigurationLoader.load(ConfigurationSource(overrides: settings)).settings.servo
    }

    @Test("with slower pulses, the default delay of a command increases by half a frame")
    func delay() throws {
        #expect(try Self.servo().delayMs == 11)
        #expect(try Self.servo("servo.frame_hz=333").delayMs == 11)
        #expect(abs(try Self.servo("servo.frame_hz=73").delayMs - (11 + 500 / 73.0 - 1.5)) < 0.01)
        #expect(abs(try Self.servo("servo.frame_hz=50").delayMs - 19.5) < 0.01)
    }

    @Test("in a loop below 500 Hz, the default delay of a command increases by half a period")
    func slowLoop() throws {
        #expect(try Self.servo("loop.rate_hz=1000") == Self.servo())
        #expect(try Self.servo("loop.rate_hz=500") == Self.servo())
        #expect(abs(try Self.servo("loop.rate_hz=100").delayMs - 15) < 0.01)
        #expect(try Self.servo("loop.rate_hz=100").trackerBandwidth < 50)
        let both = try Self.servo("loop.rate_hz=100", "servo.frame_hz=50")
        #expect(abs(both.delayMs - 23.5) < 0.01)
        #expect(try Self.servo("loop.rate_hz=100", "servo.delay_ms=14").delayMs == 14)
    }

    @Test(
        "in a slow loop, the defaults keep 6 dB of gain margin and 45° of phase margin",
        arguments: zip([50, 100, 100, 200, 200, 333], [333, 50, 333, 50, 333, 50]))
    func loopMargins(rateHz: Int, frameHz: Int) throws {
        let loaded = try ConfigurationLoader.load(
            ConfigurationSource(
                overrides: [
                    "motors.type=servo", "loop.rate_hz=\(rateHz)", "servo.frame_hz=\(frameHz)",
                    "imu.timeout_ms=50",
                ]))
        let servo = loaded.settings.stabilizerParameters.servo
        let margins = LoopMargins(
            of: servo, axis: .pitch, lead: AttitudeEstimator.Parameters().sensorDelay)
        #expect(margins.areHealthy, "\(margins)")
    }

    @Test(
        "a servo receives the commands of the longer of the pulse's and the loop's period at once",
        arguments: [(1000, 333, 1 / 333.0), (100, 333, 0.01), (100, 50, 0.02)])
    func interval(rate: Int, frame: Int, seconds: Double) throws {
        let loaded = try ConfigurationLoader.load(
            ConfigurationSource(
                overrides: ["loop.rate_hz=\(rate)", "servo.frame_hz=\(frame)"]))
        #expect(abs(loaded.settings.stabilizerParameters.servo.frame - seconds) < 1e-9)
    }

    @Test("a configured delay has priority over the default for the pulse rate")
    func told() throws {
        #expect(try Self.servo("servo.frame_hz=50", "servo.delay_ms=14").delayMs == 14)
        #expect(
            try Self.servo("servo.frame_hz=50", "servo.tracker_bandwidth=62").trackerBandwidth
                == 62)
    }

    @Test(
        "at any pulse rate, the defaults keep 6 dB of gain margin and 45° of phase margin",
        arguments: [40, 50, 73, 150, 250, 400])
    func margins(frameHz: Int) throws {
        let loaded = try ConfigurationLoader.load(
            ConfigurationSource(overrides: ["motors.type=servo", "servo.frame_hz=\(frameHz)"]))
        let servo = loaded.settings.stabilizerParameters.servo
        let margins = LoopMargins(
            of: servo, axis: .pitch, lead: AttitudeEstimator.Parameters().sensorDelay)
        #expect(margins.areHealthy, "\(margins)")
    }

    @Test(
        "a pulse longer than 90 % of the pulse period is refused", arguments: ["pca9685", "pwm"])
    func longPulses(motors: String) {
        func found(frameHz: Int, longest: Int) -> [String] {
            problems(
                """
                hardware.backend = 'linux'\nmotors.type = 'servo'\nloop.rate_hz = 200
                hardware.linux.motors = '\(motors)'\nservo.frame_hz = \(frameHz)
                servo.pulse_us = [[1000, 2000], [1000, 2000], [500, \(longest)]]
                """
            ).map(\.description)
        }
        #expect(found(frameHz: 360, longest: 2500) == [])
        #expect(found(frameHz: 361, longest: 2500).contains { $0.contains("to at most 360") })
        #expect(found(frameHz: 300, longest: 3000) == [])
        #expect(found(frameHz: 400, longest: 2000) == [])
    }

    @Test(
        "a range of a joint that the servo's pulses do not reach is refused",
        arguments: ["pca9685", "pwm"])
    func unreachableRange(motors: String) {
        func found(pitch range: String, _ more: String = "") -> [String] {
            problems(
                """
                hardware.backend = 'linux'\nmotors.type = 'servo'\nloop.rate_hz = 200
                hardware.linux.motors = '\(motors)'
                joints.range_deg = [[-170, 170], [-45, 45], \(range)]
                \(more)
                """
            ).map(\.description)
        }
        #expect(found(pitch: "[-100, -44]") == [])
        #expect(found(pitch: "[44, 100]") == [])
        for range in ["[45, 100]", "[50, 100]", "[-100, -50]"] {
            let messages = found(pitch: range)
            #expect(messages.count == 1)
            let end = "the servo for pitch reach; they reach -45° to 45°. Change"
            #expect(messages.contains { $0.contains(end) }, "\(messages)")
        }
        // A pulse changes the angle by 0.09° per µs, so a trim of 500 µs moves both ends by 45°.
        #expect(found(pitch: "[50, 100]", "servo.trim_us = [0, 0, -500]") == [])
        #expect(found(pitch: "[1, 100]", "servo.trim_us = [0, 0, 500]").count == 1)
    }
}
