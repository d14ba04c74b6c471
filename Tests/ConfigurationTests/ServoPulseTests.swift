import GimbalCore
import Testing

@testable import Configuration

/// Defaults that follow from a configured pulse rate.
@Suite("Servo pulses")
struct ServoPulseTests {
    static func servo(_ settings: String...) throws -> Settings.Servo {
        try ConfigurationLoader.load(ConfigurationSource(overrides: settings)).settings.servo
    }

    @Test("a command waits half a frame longer where pulses are slower")
    func delay() throws {
        #expect(try Self.servo().delayMs == 11)
        #expect(try Self.servo("servo.frame_hz=333").delayMs == 11)
        #expect(abs(try Self.servo("servo.frame_hz=73").delayMs - (11 + 500 / 73.0 - 1.5)) < 0.01)
        #expect(abs(try Self.servo("servo.frame_hz=50").delayMs - 19.5) < 0.01)
    }

    @Test("a delay that is told counts, whatever the pulses are")
    func told() throws {
        #expect(try Self.servo("servo.frame_hz=50", "servo.delay_ms=14").delayMs == 14)
        #expect(
            try Self.servo("servo.frame_hz=50", "servo.tracker_bandwidth=62").trackerBandwidth
                == 62)
    }

    @Test("the defaults keep 6 dB and 45° with any pulses", arguments: [40, 50, 73, 150, 250, 400])
    func margins(frameHz: Int) throws {
        let loaded = try ConfigurationLoader.load(
            ConfigurationSource(overrides: ["motors.type=servo", "servo.frame_hz=\(frameHz)"]))
        let servo = loaded.settings.stabilizerParameters.servo
        let margins = LoopMargins(of: servo, axis: .pitch)
        #expect(margins.areHealthy, "\(margins)")
    }
}
