import Configuration
import GimbalCore
import Port
import Testing

@Suite("Store of live settings")
struct ParameterStoreTests {
    let key = "control.feed_forward"

    private func store(_ text: String = "", set: [String] = []) throws -> ParameterStore {
        ParameterStore(try load(text, set: set))
    }

    @Test("the sources in rising priority are default, files, saved values, --set, live changes")
    func layers() throws {
        var store = try store()
        #expect(store.origin(of: key) == .builtIn)
        store = try self.store("control.feed_forward = 0.1")
        #expect(store.settings.control.feedForward == 0.1)
        #expect(store.origin(of: key) == .file(mainPath, line: 1))
        #expect(store.load(saved: [key: "0.2"]).isEmpty)
        #expect(store.settings.control.feedForward == 0.2)
        #expect(store.origin(of: key) == .saved)
        var overridden = try self.store(
            "control.feed_forward = 0.1", set: ["control.feed_forward=0.3"])
        #expect(overridden.load(saved: [key: "0.2"]).isEmpty)
        #expect(overridden.settings.control.feedForward == 0.3)
        #expect(overridden.origin(of: key) == .commandLine)
        try overridden.set(key, to: "0.4")
        #expect(overridden.settings.control.feedForward == 0.4)
        #expect(overridden.origin(of: key) == .live)
    }

    @Test("the default of a setting is adapted to the configured hardware")
    func adaptedDefault() throws {
        let rate = try #require(Schema.setting("loop.rate_hz"))
        #expect(try store().defaultValue(of: rate) == .integer(1000))
        let text = "hardware.backend = 'linux'\nmotors.type = 'servo'"
        #expect(try store(text).defaultValue(of: rate) == .integer(500))
    }

    @Test("a typed change is checked and stored like the same change as text")
    func typed() throws {
        var (typed, text) = (try store(), try store())
        typed = try typed.changed([
            SettingUpdate(\.airos.pid.yaw, PIDTriple(p: 2, i: 0.25, d: 0.125))
        ])
        try text.set("airos.pid.yaw", to: "[2, 0.25, 0.125]")
        typed = try typed.changed([SettingUpdate(\.rbl.baud, .baud115200)])
        try text.set("rbl.baud", to: "115200")
        #expect(typed.settings == text.settings && typed.tuning == text.tuning)
        let wrong = #expect(throws: ConfigurationProblem.self) {
            try typed.changed([SettingUpdate(\.airos.pid.yaw, PIDTriple(p: 2, i: 0.25, d: .nan))])
        }
        let beyond = #expect(throws: ConfigurationProblem.self) {
            try typed.changed([SettingUpdate(\.control.feedForward, 7)])
        }
        let same = #expect(throws: ConfigurationProblem.self) { try text.set(key, to: "7") }
        #expect(wrong?.kind == .outOfRange && beyond?.description == same?.description)
        #expect(typed.settings == text.settings)
        let fixed = #expect(throws: ConfigurationProblem.self) {
            try typed.changed([SettingUpdate(\.loop.rateHz, 500)])
        }
        #expect(fixed?.kind == .notLive)
    }

    @Test("a setting that cannot change at run time is refused with the reason")
    func notLive() throws {
        var store = try store()
        let before = store.settings
        let problem = #expect(throws: ConfigurationProblem.self) {
            try store.set("loop.rate_hz", to: "500")
        }
        #expect(problem?.kind == .notLive)
        #expect(
            problem?.description
                == "loop.rate_hz = 500 cannot change while airframed runs. The present value is 1000. "
                + "Write the new value into the configuration file and restart airframed.")
        #expect(store.settings == before)
    }

    @Test("the remedy for a value of --set that needs a restart is a change of the command line")
    func notLiveCommandLine() throws {
        var store = try store("loop.rate_hz = 500", set: ["loop.rate_hz=250"])
        let problem = #expect(throws: ConfigurationProblem.self) {
            try store.set("loop.rate_hz", to: "500")
        }
        let text = try #require(problem?.description)
        #expect(text.contains("Change or remove `--set loop.rate_hz=…`"), "\(text)")
        #expect(!text.contains("Write the new value into the configuration file"))
    }

    @Test(
        "a setting that needs a restart can be set to its present value, so that an export can be imported"
    )
    func sameValue() throws {
        var store = try store()
        let rate = try store.set("loop.rate_hz", to: "\(store.settings.loop.rateHz)")
        #expect(rate == .integer(store.settings.loop.rateHz))
        #expect(store.origin(of: "loop.rate_hz") == .builtIn)
    }

    @Test(
        "a wrong value changes nothing",
        arguments: [
            ("control.feed_forward", "2", ConfigurationProblem.Kind.outOfRange),
            ("control.feed_forward", "nan", .wrongType), ("control.feed_forward", "", .syntax),
            ("control.feedforward", "1", .unknownKey), ("loop.rate_hz", "9", .outOfRange),
            ("control.derivative_cutoff_hz", "500", .conflict),
        ])
    func wrong(key: String, text: String, kind: ConfigurationProblem.Kind) throws {
        var store = try store()
        let problem = #expect(throws: ConfigurationProblem.self) { try store.set(key, to: text) }
        #expect(problem?.kind == kind)
        #expect(problem?.place == nil)
        #expect(store.settings == Settings())
        #expect(store.unsavedKeys.isEmpty)
    }

    @Test("a mistyped key is refused with a suggestion")
    func didYouMean() throws {
        var store = try store()
        let problem = #expect(throws: ConfigurationProblem.self) {
            try store.set("loop.rate", to: "1")
        }
        #expect(problem?.kind == .unknownKey)
        let other = #expect(throws: ConfigurationProblem.self) {
            try store.set("feed_forwrad", to: "1")
        }
        #expect(other?.hint == "Did you mean control.feed_forward?")
    }

    @Test("the message about a saved value of a removed setting does not advise to change a file")
    func removedSetting() throws {
        var store = try store()
        let found = store.load(saved: ["estimator.stride_aiding": "false"])
        let hints = found.map { $0.hint }
        #expect(
            hints == ["An earlier version had this setting, so the saved value has no effect."])
        #expect(store.ignoredKeys.isEmpty)
    }

    @Test("the unsaved keys include neither saved values nor values from files")
    func unsaved() throws {
        var store = try store("control.feed_forward = 0.5\nloop.cpu = 1")
        _ = store.load(saved: ["motors.soft_start_s": "1"])
        try store.set("log.level", to: "debug")
        #expect(store.unsavedKeys == ["log.level"])
    }

    @Test(
        "each change is listed with its default and saved value, even if the new value is the default"
    )
    func changes() throws {
        var store = try store("control.feed_forward = 0.5\nloop.cpu = 1")
        _ = store.load(saved: ["motors.soft_start_s": "1"])
        try store.set("control.feed_forward", to: "1")
        try store.set("motors.soft_start_s", to: "2")
        let texts = store.changes.map {
            "\($0.key) = \($0.value.tomlText), saved \($0.saved.tomlText), default \($0.defaultValue.tomlText)"
        }
        #expect(
            texts == [
                "loop.cpu = 1, saved 1, default -1",
                "control.feed_forward = 1, saved 0.5, default 1",
                "motors.soft_start_s = 2, saved 1, default 0.5",
            ])
        store.save()
        #expect(store.changes.allSatisfy { $0.value == $0.saved })
        #expect(store.changes.map(\.key) == ["loop.cpu", "motors.soft_start_s"])
    }

    @Test("save stores changed values, and discarding changes restores the earlier values")
    func save() throws {
        var store = try store()
        try store.set(key, to: "0.25")
        #expect(store.unsavedKeys == [key])
        #expect(store.savedOverlay.isEmpty)
        var saved = store
        saved.save()
        #expect(saved.unsavedKeys.isEmpty)
        #expect(saved.savedOverlay == [key: "0.25"])
        #expect(saved.settings == store.settings)
        #expect(saved.origin(of: key) == .saved)
        store.discardUnsaved()
        #expect(store.settings == Settings())
    }

    @Test("a snapshot restores live and saved values")
    func snapshot() throws {
        var store = try store()
        _ = store.load(saved: [key: "0.5"])
        let before = store
        try store.set("log.level", to: "trace")
        let snapshot = store.snapshot
        try store.set("log.level", to: "error")
        store = try store.changed([SettingUpdate(toDefault: key)])
        #expect(store.origin(of: key) == .builtIn)
        #expect(Set(store.unsavedKeys) == [key, "log.level"])
        store.restore(snapshot)
        #expect(store.settings.log.level == .trace)
        #expect(store.settings.control.feedForward == 0.5)
        store.restore(before.snapshot)
        #expect(store.settings == before.settings)
    }

    @Test("a saved value that returns to its default is removed at the next save")
    func toDefault() throws {
        var store = try store()
        _ = store.load(saved: [key: "0.5"])
        store = try store.changed([SettingUpdate(toDefault: key)])
        #expect(store.settings.control.feedForward == 1)
        store.save()
        #expect(store.savedOverlay.isEmpty)
        #expect(store.settings.control.feedForward == 1)
    }

    @Test("a baseline restores its own values, and resets all other values to the files")
    func baseline() throws {
        var store = try store("motors.soft_start_s = 2")
        try store.set(key, to: "0.5")
        let baseline = store.tuning
        #expect(baseline == [key: "0.5"])
        store.save()
        try store.set(key, to: "0.75")
        try store.set("motors.soft_start_s", to: "3")
        store.save()
        let problems = try store.restore(tuning: baseline.merging(["gone.key": "1"]) { $1 })
        #expect(problems.map(\.kind) == [.unknownKey])
        #expect(store.settings.control.feedForward == 0.5)
        #expect(store.settings.motors.softStartS == 2)
        #expect(store.tuning == baseline)
        store.save()
        #expect(store.savedOverlay == baseline)
    }

    @Test("a baseline does not contain a saved value that --set overrides")
    func baselineBesideCommandLine() throws {
        var store = try store(set: ["control.feed_forward=0.3"])
        #expect(store.load(saved: [key: "0.2"]).isEmpty)
        let baseline = store.tuning
        #expect(baseline.isEmpty)
        let problems = try store.restore(tuning: baseline)
        #expect(problems.isEmpty)
        #expect(store.settings.control.feedForward == 0.3)
        // Without --set, the saved value is active again at the next start.
        store.save()
        #expect(store.savedOverlay == [key: "0.2"])
        // A value that was saved after the start overrides --set, so it is included.
        try store.set(key, to: "0.5")
        store.save()
        #expect(store.tuning == [key: "0.5"])
    }

    @Test("saved values that are valid only in combination are loaded together")
    func savedTogether() throws {
        var store = try store("commander.release_after_s = 2")
        let saved = ["commander.dead_man_s": "5", "commander.release_after_s": "20"]
        #expect(store.load(saved: saved).isEmpty)
        #expect(store.savedOverlay == saved)
        #expect(store.settings.commander.deadManS == 5)
    }

    @Test("saved values that are no longer valid are ignored and reported")
    func savedProblems() throws {
        var store = try store("loop.rate_hz = 300\ncontrol.derivative_cutoff_hz = 50")
        let problems = store.load(saved: [
            "control.derivative_cutoff_hz": "160", "control.feed_forward": "0.5", "gone.key": "1",
            "loop.rate_hz": "500", "motors.soft_start_s": "1000", "log.level": "[",
        ])
        #expect(
            problems.map(\.kind) == [.unknownKey, .syntax, .notLive, .outOfRange, .conflict])
        #expect(problems.allSatisfy { $0.description.hasPrefix("saved state: ") })
        #expect(store.settings.control.feedForward == 0.5)
        #expect(store.settings.control.derivativeCutoffHz == 50)
    }
}

@Suite("Reload of the configuration")
struct ReloadTests {
    private func reloaded(
        from old: String, to new: String, _ change: (inout ParameterStore) throws -> Void = { _ in }
    ) throws -> (ParameterStore, ReloadReport) {
        var store = ParameterStore(try load(old))
        try change(&store)
        let report = store.reload(try load(new))
        return (store, report)
    }

    @Test("a reload of the same values changes nothing")
    func same() throws {
        let (_, report) = try reloaded(from: "loop.cpu = 1", to: "\n\nloop.cpu = 1")
        #expect(report.applied.isEmpty && report.needsRestart.isEmpty)
    }

    @Test("a reload applies live settings, and lists settings that need a restart")
    func split() throws {
        let (store, report) = try reloaded(
            from: "", to: "loop.cpu = 1\ncontrol.feed_forward = 0.5")
        #expect(report.applied == ["control.feed_forward"])
        #expect(report.needsRestart == ["loop.cpu"])
        #expect(store.settings.control.feedForward == 0.5)
        #expect(store.settings.loop.cpu == -1)
    }

    @Test("a setting that returns to its running value needs no restart")
    func thereAndBack() throws {
        var (store, _) = try reloaded(from: "loop.cpu = 1", to: "loop.cpu = 2")
        let report = store.reload(try load("loop.cpu = 1"))
        #expect(report.applied.isEmpty && report.needsRestart.isEmpty)
    }

    @Test("a removed line restores the default")
    func removed() throws {
        let (store, report) = try reloaded(from: "control.feed_forward = 0.5", to: "")
        #expect(report.applied == ["control.feed_forward"])
        #expect(store.settings.control.feedForward == 1)
        #expect(store.origin(of: "control.feed_forward") == .builtIn)
    }

    @Test("a removed line restores at once a default that a rule permits only as a default")
    func adaptedDefault() throws {
        // The default rest pose, -90° in pitch, is beyond this range.
        let range = "joints.range_deg = [[-170, 170], [-45, 45], [-60, 120]]"
        let (store, report) = try reloaded(
            from: "\(range)\nretract.joints_deg = [0, 0, -50]", to: range)
        #expect(report.applied == ["retract.joints_deg"])
        #expect(report.needsRestart.isEmpty)
        #expect(store.origin(of: "retract.joints_deg") == .builtIn)
    }

    @Test("a live change overrides the file after a reload, which names the setting")
    func overridden() throws {
        let (store, report) = try reloaded(from: "", to: "control.feed_forward = 0.5") {
            try $0.set("control.feed_forward", to: "0.75")
        }
        #expect(report.applied.isEmpty && report.needsRestart.isEmpty)
        #expect(store.settings.control.feedForward == 0.75)
        #expect(report.overriddenLive == ["control.feed_forward"] && report.overridden.isEmpty)
        #expect(
            report.sentence
                == "The files were read again; overridden by unsaved changes: control.feed_forward. Replace unsaved changes with `airframectl set`."
        )
        let (_, same) = try reloaded(from: "", to: "control.feed_forward = 0.75") {
            try $0.set("control.feed_forward", to: "0.75")
        }
        #expect(same.sentence.hasSuffix("nothing has changed."))
    }

    @Test("a reload names the values that have no effect because saved values override them")
    func saved() throws {
        let (store, report) = try reloaded(from: "", to: "control.feed_forward = 0.5") {
            _ = $0.load(saved: ["control.feed_forward": "0.75"])
        }
        #expect(report.applied.isEmpty && report.needsRestart.isEmpty)
        #expect(report.overridden == ["control.feed_forward"])
        #expect(report.sentence.contains("overridden by saved values: control.feed_forward."))
        #expect(store.settings.control.feedForward == 0.75)
    }

    @Test("a reload names the values in a file that have no effect because --set overrides them")
    func commandLine() throws {
        let arguments = ["control.feed_forward=0.75"]
        func report(from old: String, to new: String) throws -> ReloadReport {
            var store = ParameterStore(try load(old, set: arguments))
            return store.reload(try load(new, set: arguments))
        }
        let (old, new) = ("control.feed_forward = 0.25", "control.feed_forward = 0.5")
        let changed = try report(from: old, to: new)
        #expect(changed.overriddenAtStart == ["control.feed_forward"] && changed.applied.isEmpty)
        #expect(
            changed.sentence
                == "The files were read again; overridden by --set: control.feed_forward. Remove --set from the command line of airframed, and restart airframed."
        )
        #expect(try report(from: new, to: new).sentence.hasSuffix("nothing has changed."))
        let equal = try report(from: old, to: "control.feed_forward = 0.75")
        #expect(equal.sentence.hasSuffix("nothing has changed."))
    }

    @Test("a live setting that depends on a setting with a pending restart is deferred, too")
    func together() throws {
        let (store, report) = try reloaded(
            from: "", to: "loop.rate_hz = 4000\ncontrol.derivative_cutoff_hz = 1500")
        #expect(report.applied.isEmpty)
        #expect(
            report.needsRestart == ["loop.rate_hz", "control.derivative_cutoff_hz"])
        #expect(store.settings == Settings())
    }
}
