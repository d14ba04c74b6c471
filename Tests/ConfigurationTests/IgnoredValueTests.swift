import Configuration
import GimbalCore
import Testing

@Suite("Saved values that are not valid with the present files") struct IgnoredValueTests {
    private let release = "commander.release_after_s"
    private let channels = "hardware.linux.motor_channels"

    /// A gimbal with three servos on a serial bus. The pitch servo reads 40° at joint angle zero, so
    /// it cannot turn the joint by 90° in the direction of smaller readings.
    private let servos = """
        hardware.backend = "linux"
        hardware.linux.motors = "bus_servo"
        hardware.linux.encoders = "drives"
        hardware.linux.encoder_zero_deg = [180, 180, 40]
        joints.range_deg = [[-100, 100], [-100, 100], [-20, 90]]
        retract.joints_deg = [0, 0, 0]
        loop.rate_hz = 500
        motors.type = "servo"
        servo.frame_hz = 250
        """

    private func start(
        _ text: String, _ saved: ParameterStore.Overlay
    ) throws -> (store: ParameterStore, problems: [ConfigurationProblem]) {
        var store = ParameterStore(try load(text))
        let problems = store.load(saved: saved)
        return (store, problems)
    }

    @Test("a save keeps an ignored value, which returns when the file permits it again")
    func temporaryConflict() throws {
        let saved = ["control.feed_forward": "0.5", release: "2"]
        let first = try start("commander.dead_man_s = 5", saved)
        var store = first.store
        #expect(first.problems.map(\.kind) == [.conflict])
        #expect(store.ignoredKeys == [release])
        #expect(store.ignoredSentence?.contains(release) == true)
        #expect(store.settings.commander.releaseAfterS == Settings().commander.releaseAfterS)
        #expect(store.settings.control.feedForward == 0.5)

        try store.set("log.level", to: "debug")
        let change = store.unsaved()
        #expect(change == ["log.level": "\"debug\""])
        var disk = saved
        disk.merge(change: change)
        store.adopt(saved: disk)
        #expect(store.ignoredKeys == [release])
        #expect(store.unsavedKeys.isEmpty)

        let (next, none) = try start("", disk)
        #expect(none.isEmpty && next.ignoredKeys.isEmpty && next.ignoredSentence == nil)
        #expect(next.settings.commander.releaseAfterS == 2)
    }

    @Test("only the value that causes the conflict is ignored, not the other settings of the rule")
    func culprit() throws {
        let range = "[[-100, 100], [-100, 100], [-20, 80]]"
        let (store, problems) = try start(
            servos, ["joints.range_deg": range, "servo.direction": "[1, 1, -1]"])
        #expect(problems.count == 1)
        #expect(store.ignoredKeys == ["servo.direction"])
        #expect(store.settings.joints.rangeDeg.upper.pitch == 80)
        #expect(store.settings.servo.direction.pitch == 1)
    }

    @Test("if either of two values resolves the conflict, the rule's first setting is ignored")
    func firstOfRule() throws {
        let wide = "[[-100, 100], [-100, 100], [-20, 90]]"
        let text = servos.replacing("[-20, 90]]", with: "[-20, 30]]")
        let (store, problems) = try start(
            text, ["joints.range_deg": wide, "servo.direction": "[1, 1, -1]"])
        #expect(problems.count == 1)
        #expect(store.ignoredKeys == ["joints.range_deg"])
        #expect(store.settings.joints.rangeDeg.upper.pitch == 30)
        #expect(store.settings.servo.direction.pitch == -1)
    }

    @Test("a new value, a return to the default and a restored baseline replace an ignored value")
    func replaced() throws {
        let saved = [release: "2"]
        let (store, _) = try start("commander.dead_man_s = 5", saved)
        var set = store
        try set.set(release, to: "8")
        #expect(set.unsaved() == [release: "8"])
        set.adopt(saved: [release: "8"])
        #expect(set.ignoredKeys.isEmpty && set.origin(of: release) == .saved)

        let reset = try store.changed([SettingUpdate(toDefault: release)])
        #expect(reset.unsaved() == [release: nil])

        var restored = store
        #expect(try restored.restore(tuning: [:]).isEmpty)
        #expect(restored.unsaved() == [release: nil])
    }

    @Test("an ignored value that is set again at run time becomes effective at the next save")
    func setAgain() throws {
        let saved = [release: "2"]
        var (store, _) = try start("commander.dead_man_s = 5", saved)
        try store.set("commander.dead_man_s", to: "1")
        try store.set(release, to: "2")
        store.adopt(saved: ["commander.dead_man_s": "1", release: "2"])
        #expect(store.ignoredKeys.isEmpty && store.unsavedKeys.isEmpty)
        #expect(store.origin(of: release) == .saved)
    }

    @Test("a save keeps a value out of range, but removes an entry that cannot be saved any more")
    func invalidAlone() throws {
        let saved = [release: "1e9", "gone.key": "1", "loop.rate_hz": "500"]
        let (store, _) = try start("", saved)
        #expect(store.ignoredKeys == [release])
        #expect(store.unsaved() == ["gone.key": nil, "loop.rate_hz": nil])
    }

    @Test("an ignored setting of the wiring does not wait for a restart, and set-up can replace it")
    func wiring() throws {
        let text = """
            hardware.backend = "linux"
            hardware.linux.motor_channels = [0, 3, 6]
            loop.rate_hz = 400
            motors.type = "field"
            """
        let saved = [channels: "[1, 0, 2]"]
        let first = try start(text, saved)
        var store = first.store
        #expect(first.problems.map(\.key) == [channels])
        #expect(!store.hasWaitingWiring)
        try store.set("log.level", to: "debug")
        store.adopt(saved: saved.merging(["log.level": "\"debug\""]) { $1 })
        #expect(!store.hasWaitingWiring)
        #expect(store.ignoredKeys == [channels])
        #expect(try store.wiringChange([]).isEmpty)

        let swapped = SettingUpdate(
            \.hardware.linux.motorChannels, AxisVector(yaw: 3, roll: 0, pitch: 6))
        let change = try store.wiringChange([swapped])
        store.adopt(saved: change, checked: Set(change.keys))
        #expect(store.ignoredKeys.isEmpty && store.hasWaitingWiring)
    }

    @Test("an ignored setting of the wiring that the set-up measures again takes effect at restart")
    func measuredAgain() throws {
        let range = "[[-170, 170], [-45, 45], [-60, 120]]"
        let saved = ["joints.range_deg": range]
        var (store, _) = try start("retract.joints_deg = [0, 0, -80]", saved)
        #expect(store.ignoredKeys == ["joints.range_deg"] && !store.hasWaitingWiring)
        _ = store.reload(try load("retract.joints_deg = [0, 0, -50]"))
        let measured = AxisRanges(
            lower: AxisVector(yaw: -170, roll: -45, pitch: -60),
            upper: AxisVector(yaw: 170, roll: 45, pitch: 120))
        let change = try store.wiringChange([SettingUpdate(\.joints.rangeDeg, measured)])
        #expect(change == saved)
        store.adopt(saved: change, checked: Set(change.keys))
        #expect(store.hasWaitingWiring && store.ignoredKeys.isEmpty)
    }
}
