import Logging
import GimbalCore
import Realtime
import Testing

@testable import Daemon
@testable import Hardware

@Suite("Log messages about conditions") struct ConditionReporterTests {
    /// Log messages about these conditions, with one record per millisecond from `start` on.
    private func lines(
        _ reporter: inout ConditionReporter, from start: Double, milliseconds: Int,
        _ conditions: (Int) -> Conditions, enabled: Bool = false
    ) -> [String] {
        (0..<milliseconds).flatMap { ms in
            reporter.events(
                in: .at(start + Double(ms) / 1000, conditions(ms), enabled: enabled)
            ).map(\.sentence)
        }
    }

    @Test("a condition is logged once, after it has lasted for 20 ms")
    func namesOnce() {
        var reporter = ConditionReporter()
        let early = lines(&reporter, from: 1, milliseconds: 19) { _ in .imuMissing }
        #expect(early.isEmpty)
        let later = lines(&reporter, from: 1.019, milliseconds: 5000) { _ in .imuMissing }
        #expect(later.count == 1)
        #expect(later.first?.hasPrefix("imu_missing: ") == true)
    }

    @Test("a condition that lasts less than 20 ms is not logged")
    func ignoresFlashes() {
        var reporter = ConditionReporter()
        let said = lines(&reporter, from: 1, milliseconds: 1000) {
            $0 % 20 < 15 ? .imuStale : .none
        }
        #expect(said.isEmpty)
    }

    @Test("a condition that lasts less than 20 ms is logged if it switches the motors off")
    func briefCause() {
        var reporter = ConditionReporter()
        // The motors brake the camera after the condition has ended.
        let said = (0..<200).flatMap { ms in
            reporter.events(
                in: .at(
                    1 + Double(ms) / 1000, 100..<110 ~= ms ? .driveFault | .supplyLow : .none,
                    enabled: ms < 130)
            ).map(\.sentence)
        }
        #expect(said.count == 3, "\(said)")
        #expect(said.first == "The motors are on.")
        #expect(said.dropFirst().first?.hasPrefix("drive_fault: ") == true)
        #expect(said.last == "The motors are off.")
    }

    @Test(
        "an intermittent condition is logged at growing intervals, with the number of occurrences"
    )
    func limitsFlicker() throws {
        var reporter = ConditionReporter()
        let flicker = lines(&reporter, from: 1, milliseconds: 16_000) {
            $0 % 100 < 50 ? .busError : .none
        }
        // Ten times per second, with an error of one at the ends.
        let endings = flicker.dropFirst().compactMap {
            $0.wholeMatch(of: /.* (\d+) more times in (\d+) s\./)
        }
        #expect(endings.map(\.2) == ["1", "2", "4", "8"])
        for ending in endings {
            let count = try #require(Int(ending.1))
            let seconds = try #require(Int(ending.2))
            #expect(abs(count - 10 * seconds) <= 1)
        }
        #expect(flicker.first?.contains("more times") == false)
    }

    @Test("the joint with the missing encoder is in the message and in the journal field")
    func namesEncoder() throws {
        let encoders = EncoderReports()
        encoders[.roll].note(.noMagnet)
        var reporter = ConditionReporter(encoders: encoders)
        let events = (0..<30).flatMap { ms in
            reporter.events(in: .at(1 + Double(ms) / 1000, .encoderMissing, enabled: false))
        }
        let event = try #require(events.first)
        #expect(event.sentence.hasPrefix("encoder_missing (roll): "))
        #expect(event.metadata["AIRFRAME_AXIS"] == .array(["roll"]))
    }

    @Test("a condition that returns after a minute is logged as a new one")
    func forgets() {
        var reporter = ConditionReporter()
        _ = lines(&reporter, from: 1, milliseconds: 16_000) { $0 % 100 < 50 ? .busError : .none }
        let rest = lines(&reporter, from: 17, milliseconds: 60_000) { _ in .none }
        #expect(
            rest.count == 1, "the number of suppressed messages is reported before it is discarded")
        let back = lines(&reporter, from: 77, milliseconds: 2000) {
            $0 % 1000 < 50 ? .busError : .none
        }
        #expect(back.count == 2)
        #expect(back.first?.contains("more times") == false)
    }

    @Test("a requested condition, such as the mode inactive, is logged each time")
    func requests() {
        var reporter = ConditionReporter()
        let said = lines(&reporter, from: 1, milliseconds: 20_000) {
            $0 % 2000 < 1000 ? .inactiveMode : .none
        }
        #expect(said.count == 10)
    }

    @Test("an autotune is logged once, although it excites the camera many times")
    func autotune() {
        var reporter = ConditionReporter()
        let run = lines(&reporter, from: 1, milliseconds: 30_000) {
            $0 % 1000 < 500 || (10_000..<14_000).contains($0) ? .autotuning : .none
        }
        #expect(run.count == 1, "\(run)")
        let pause = lines(&reporter, from: 31, milliseconds: 10_000) { _ in .none }
        #expect(pause.isEmpty)
        let next = lines(&reporter, from: 41, milliseconds: 1000) { _ in .autotuning }
        #expect(next.count == 1)
    }

    @Test("outputs that toggle rapidly are logged every ten seconds, and finally with their state")
    func outputsFlicker() {
        var reporter = ConditionReporter()
        var said: [String] = []
        for ms in 0..<120_000 {
            let isOn = ms < 60_000 ? ms % 200 < 100 : true
            said += reporter.events(in: .at(1 + Double(ms) / 1000, enabled: isOn)).map(\.sentence)
        }
        #expect(said.count < 12)
        #expect(said.first == "The motors are on.")
        #expect(said.last?.hasPrefix("The motors are on; they were switched ") == true)
    }

    @Test("the axes of a condition are in the message and in the journal field")
    func axes() {
        var reporter = ConditionReporter()
        let events = (0..<50).flatMap { ms in
            reporter.events(
                in: .at(1 + Double(ms) / 1000, .responseReversed) {
                    $0.conditionAxes.reversed = AxisSet(yaw: false, roll: true, pitch: true)
                })
        }
        #expect(events.count == 1)
        #expect(events.first?.sentence.hasPrefix("response_reversed (roll, pitch): ") == true)
        #expect(events.first?.metadata["AIRFRAME_AXIS"] == ["roll", "pitch"])
        #expect(events.first?.metadata["AIRFRAME_REASON"] == "response_reversed")
    }

    @Test("messages report that the outputs turn on and off")
    func outputs() {
        var reporter = ConditionReporter()
        #expect(reporter.events(in: .at(1)).isEmpty)
        let on = reporter.events(in: .at(2, enabled: true))
        #expect(on == [.init(level: .notice, sentence: "The motors are on.")])
        #expect(reporter.events(in: .at(2.1, enabled: true)).isEmpty)
        let off = reporter.events(in: .at(2.2))
        #expect(off == [.init(level: .notice, sentence: "The motors are off.")])
    }

    @Test("a condition that turns the motors off is an error, a requested condition is information")
    func levels() {
        var reporter = ConditionReporter()
        let requests = Conditions.inactiveMode | .retracted | .calibrating | .autotuning
        let both = Conditions.imuStale | requests
        _ = reporter.events(in: .at(1, both))
        let events = reporter.events(in: .at(1.5, both))
        #expect(events.first { $0.sentence.hasPrefix("imu_stale") }?.level == .error)
        for name in ["inactive_mode", "retracted", "calibrating", "autotuning"] {
            #expect(events.first { $0.sentence.hasPrefix(name) }?.level == .info, "\(name)")
        }
    }
}
