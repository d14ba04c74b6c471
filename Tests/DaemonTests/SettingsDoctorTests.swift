import Configuration
import GimbalCore
import Testing
import Wire

@testable import Daemon

@Suite("Check of doctor for settings without their intended effect") struct SettingsDoctorTests {
    private func check(_ change: (inout Settings) -> Void) -> DoctorCheck? {
        var settings = Settings()
        change(&settings)
        return SettingsDoctor(settings: settings).check
    }

    @Test("the defaults, and settings that have an effect, cause no finding")
    func effective() {
        #expect(check { _ in } == nil)
        #expect(check { $0.push.enabled = true } == nil)
        #expect(check { $0.filter.lowPassHz = AxisVector(yaw: 450, roll: 0, pitch: 60) } == nil)
        #expect(
            check {
                $0.commander.fallbackS = 3
                $0.commander.offS = 10
            } == nil)
        #expect(check { $0.recording.continuous = true } == nil)
    }

    @Test("each setting without its intended effect is a warning with a remedy")
    func ineffective() throws {
        let push = try #require(
            check {
                $0.push.enabled = true
                $0.motors.type = .servo
            })
        #expect(push.level == .warn)
        #expect(push.finding == #"push.enabled has no effect with motors.type = "servo""#)
        #expect(push.remedy.contains("push.enabled"))
        let corner = check { $0.filter.lowPassHz = AxisVector(yaw: 0, roll: 500, pitch: 0) }
        #expect(corner?.finding == "filter.low_pass_hz is limited to 450 Hz at this loop.rate_hz")
        let fallback = check {
            $0.commander.fallbackS = 10
            $0.commander.offS = 10
        }
        #expect(fallback?.finding.hasPrefix("commander.fallback_s has no effect") == true)
        let both = try #require(
            check {
                $0.recording.enabled = false
                $0.recording.continuous = true
                $0.filter.lowPassHz = AxisVector(yaw: 0, roll: 500, pitch: 0)
            })
        #expect(both.finding.contains("filter.low_pass_hz"))
        #expect(both.finding.contains("recording.continuous has no effect"))
        #expect(both.remedy.contains("recording.enabled to true"))
    }
}
