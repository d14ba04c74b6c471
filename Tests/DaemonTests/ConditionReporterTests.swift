import Logging
import GimbalCore
import Realtime
import Testing

@testable import Daemon

@Suite("The log lines about conditions") struct ConditionReporterTests {
    /// The sentences of a record every millisecond from `start` on.
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

    @Test("name a condition once it has held for 20 ms, and only once")
    func namesOnce() {
        var reporter = ConditionReporter()
        let early = lines(&reporter, from: 1, milliseconds: 19) { _ in .imuMissing }
        #expect(early.isEmpty)
        let later = lines(&reporter, from: 1.019, milliseconds: 5000) { _ in .imuMissing }
        #expect(later.count == 1)
        #expect(later.first?.hasPrefix("imu_missing: ") == true)
    }

    @Test("do not name what flashes up for less, such as the first tick's missing sample")
    func ignoresFlashes() {
        var reporter = ConditionReporter()
        let said = lines(&reporter, from: 1, milliseconds: 1000) {
            $0 % 20 < 15 ? .imuStale : .none
        }
        #expect(said.isEmpty)
    }

    @Test("name one that comes and goes once, and again when it had been gone for a second")
    func limitsFlicker() {
        var reporter = ConditionReporter()
        let flicker = lines(&reporter, from: 1, milliseconds: 3000) {
            $0 % 100 < 50 ? .busError : .none
        }
        #expect(flicker.count == 1)
        _ = lines(&reporter, from: 4, milliseconds: 1500) { _ in .none }
        let back = lines(&reporter, from: 5.5, milliseconds: 50) { _ in .busError }
        #expect(back.count == 1)
    }

    @Test("say when the outputs come on and go off")
    func outputs() {
        var reporter = ConditionReporter()
        #expect(reporter.events(in: .at(1)).isEmpty)
        let on = reporter.events(in: .at(2, enabled: true))
        #expect(on == [.init(level: .notice, sentence: "The outputs come on.")])
        #expect(reporter.events(in: .at(3, enabled: true)).isEmpty)
        let off = reporter.events(in: .at(4))
        #expect(off == [.init(level: .notice, sentence: "The outputs are off.")])
    }

    @Test("are errors for what turns the motors off, and information for what was asked for")
    func levels() {
        var reporter = ConditionReporter()
        let both = Conditions.imuStale | .inactiveMode
        _ = reporter.events(in: .at(1, both))
        let events = reporter.events(in: .at(1.5, both))
        #expect(events.first { $0.sentence.hasPrefix("imu_stale") }?.level == .error)
        #expect(events.first { $0.sentence.hasPrefix("inactive_mode") }?.level == .info)
    }
}
