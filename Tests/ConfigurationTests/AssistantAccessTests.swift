import GimbalCore
import Testing

@testable import Configuration

@Suite("Settings that assistants can change") struct AssistantAccessTests {
    @Test("an assistant cannot change a setting without a declaration")
    func undeclared() {
        let setting = Setting.number(
            "new.setting", \.mcp.maxRateDps, 1...2, .live, "A new setting.")
        #expect(setting.assistantAccess == .none)
        #expect(!setting.assistantAccess.admits(.number(1), lasting: .number(2)))
        #expect(setting.assistantAccess.admits(.number(2), lasting: .number(2)))
    }

    @Test(
        "no setting that limits motion, torque or power can be set to every value",
        arguments: Schema.settings)
    func limits(of setting: Setting) {
        let access = setting.assistantAccess
        if access != .none { #expect(setting.applies == .live) }
        let words = ["max_", "limit", "power", "torque", "timeout", "dead_man", "range", "watch"]
        if words.contains(where: setting.key.contains) { #expect(access != .any) }
        if access == .lower || access == .raise {
            switch setting.kind {
            case .number, .triple: break
            default: Issue.record("\(setting.key) cannot be compared")
            }
        }
        // Settings about protection, access, devices, and direct motion of joints or robots.
        let closed = [
            "airos", "battery", "bluetooth", "commander", "controls", "diagnostics", "drive",
            "hardware", "joints", "log", "loop", "mavlink", "mcp", "mode", "persistence", "rbl",
            "recording", "rider", "robot", "signals", "supervisor", "supply",
        ]
        if closed.contains(String(setting.key.prefix { $0 != "." })) { #expect(access == .none) }
    }

    @Test("lower and raise compare each number with the value that people have chosen")
    func comparison() {
        func triple(_ yaw: Double, _ pitch: Double) -> SettingValue {
            .triple(AxisVector(yaw: yaw, roll: 5, pitch: pitch))
        }
        let lasting = triple(30, 30)
        #expect(AssistantAccess.lower.admits(triple(30, 10), lasting: lasting))
        #expect(!AssistantAccess.lower.admits(triple(31, 10), lasting: lasting))
        #expect(AssistantAccess.raise.admits(triple(31, 30), lasting: lasting))
        #expect(!AssistantAccess.raise.admits(triple(31, 10), lasting: lasting))
        #expect(AssistantAccess.any.admits(triple(300, 0), lasting: lasting))
        #expect(!AssistantAccess.lower.admits(.bool(false), lasting: .bool(true)))
    }

    @Test("a baseline that an assistant restores raises no limit, and every other value changes")
    func baseline() throws {
        var store = ParameterStore(LoadedConfiguration())
        try store.set("tracking.max_rate_dps", to: "20")
        let baseline = [
            "control.feed_forward": "0.5", "control.max_rate_dps": "100",
            "motors.torque_limit_nm": "[0.1, 0.1, 0.1]", "mcp.max_rate_dps": "200",
        ]
        var changed = store
        let (problems, kept) = try changed.restore(tuning: baseline, forAssistant: store)
        #expect(problems.isEmpty)
        // The baseline does not contain tracking.max_rate_dps, so the default of 60 would take effect.
        // On a PCA9685, a lower motors.torque_limit_nm raises the gains.
        #expect(
            kept.sorted() == [
                "mcp.max_rate_dps", "motors.torque_limit_nm", "tracking.max_rate_dps",
            ])
        #expect(changed.settings.tracking.maxRateDps == 20)
        #expect(changed.settings.mcp.maxRateDps == 30)
        #expect(changed.settings.control.feedForward == 0.5)
        #expect(changed.settings.control.maxRateDps == 100)
        #expect(changed.settings.motors.torqueLimitNm.yaw == 0.25)
    }
}
