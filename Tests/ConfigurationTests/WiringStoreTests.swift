import Configuration
import GimbalCore
import Testing

@Suite("Wiring settings, which the set-up saves for the next start")
struct WiringStoreTests {
    private let channels = "hardware.linux.motor_channels"
    private let swapped = SettingUpdate(
        \.hardware.linux.motorChannels, AxisVector(yaw: 1, roll: 0, pitch: 2))

    private func store(_ set: [String] = []) throws -> ParameterStore {
        ParameterStore(try ConfigurationLoader.load(ConfigurationSource(overrides: set)))
    }

    @Test("wiring settings are saved at once, and take effect at the next start")
    func nextStart() throws {
        var store = try store()
        let change = try store.wiringChange([swapped])
        #expect(change == [channels: "[1, 0, 2]"])
        store.adopt(saved: change)
        #expect(
            store.settings.hardware.linux.motorChannels == AxisVector(yaw: 0, roll: 1, pitch: 2))
        #expect(store.hasWaitingWiring)
        // A later save of live settings keeps the wiring settings.
        try store.set("control.feed_forward", to: "0.5")
        #expect(store.unsaved() == ["control.feed_forward": "0.5"])

        var next = try self.store()
        #expect(next.load(saved: change).isEmpty)
        #expect(next.settings.hardware.linux.motorChannels == AxisVector(yaw: 1, roll: 0, pitch: 2))
        #expect(next.origin(of: channels) == .saved)
        #expect(!next.hasWaitingWiring)
        #expect(next.unsaved().isEmpty)
        // After an undo, the running values stay the same until the next start.
        next.adopt(saved: [:])
        #expect(next.hasWaitingWiring)
        #expect(next.settings.hardware.linux.motorChannels.yaw == 1)
    }

    @Test("a message about a value that the set-up has saved names the command that removes it")
    func undo() throws {
        let change = try store().wiringChange([swapped])
        var next = ParameterStore(try load("\(channels) = [0, 1, 2]"))
        #expect(next.overriddenWiring.isEmpty)
        _ = next.load(saved: change)
        #expect(next.overriddenWiring == [channels])
        let problem = #expect(throws: ConfigurationProblem.self) {
            try next.set(channels, to: "[2, 1, 0]")
        }
        #expect(problem?.description.contains("airframectl setup undo motors") == true)
        let other = #expect(throws: ConfigurationProblem.self) {
            try next.set("loop.rate_hz", to: "500")
        }
        #expect(other?.description.contains("undo") == false)

        let report = next.reload(try load("\(channels) = [2, 1, 0]"))
        #expect(report.needsRestart.isEmpty && report.applied.isEmpty)
        #expect(report.overridden == [channels])
        #expect(report.sentence.contains("airframectl setup undo motors"))
        // After the undo, a restart applies the value in the file.
        next.adopt(saved: [:])
        let undone = next.reload(try load("\(channels) = [2, 1, 0]"))
        #expect(undone.needsRestart == [channels] && undone.overridden.isEmpty)
        #expect(next.overriddenWiring.isEmpty)
    }

    @Test("--set overrides wiring settings, and a change without effect is refused with the reason")
    func commandLine() throws {
        var store = try store(["\(channels)=[3, 4, 5]"])
        #expect(store.load(saved: [channels: "[1, 0, 2]"]).isEmpty)
        #expect(store.settings.hardware.linux.motorChannels.yaw == 3)
        let problem = #expect(throws: ConfigurationProblem.self) {
            try store.wiringChange([swapped])
        }
        #expect(problem?.description.contains("command line") == true)
    }

    @Test("invalid values are reported, and other settings that need a restart are not saved")
    func invalid() throws {
        var store = try store()
        let wrong = SettingUpdate(\.motors.direction, AxisVector(yaw: 0.5, roll: 1, pitch: 1))
        #expect(throws: ConfigurationProblem.self) { try store.wiringChange([wrong]) }
        let other = SettingUpdate(\.loop.rateHz, 500)
        #expect(throws: ConfigurationProblem.self) { try store.wiringChange([other]) }
        #expect(store.load(saved: ["motors.pole_pairs": "0", "loop.rate_hz": "500"]).count == 2)
        #expect(store.settings.motors.polePairs == 7)
    }

    @Test("after the undo of the range of the joints, other settings can change before the restart")
    func undoneRange() throws {
        let pose = "retract.joints_deg"
        let range = "[[-170, 170], [-45, 45], [-60, 120]]"
        var store = ParameterStore(try load("\(pose) = [0, 0, -80]"))
        let saved = ["joints.range_deg": range, pose: "[0, 0, -50]"]
        #expect(store.load(saved: saved).isEmpty)
        store.adopt(saved: [:], saving: [], isUndo: true)
        #expect(store.settings.retract.jointsDeg.pitch == -80)
        #expect(store.settings.joints.rangeDeg.lower.pitch == -60)

        try store.set("control.feed_forward", to: "0.5")
        let snapshot = store.snapshot
        try store.set("control.feed_forward", to: "0.75")
        #expect(store.restore(snapshot).isEmpty)
        #expect(store.settings.control.feedForward == 0.5)
        #expect(try store.restore(tuning: ["control.feed_forward": "0.25"]).isEmpty)
        #expect(store.settings.control.feedForward == 0.25)
        // The pose itself must obey the active range.
        #expect(throws: ConfigurationProblem.self) { try store.set(pose, to: "[0, 0, -70]") }
        try store.set(pose, to: "[0, 0, -55]")
        #expect(throws: ConfigurationProblem.self) { try store.set(pose, to: "[0, 0, -80]") }
    }
}
