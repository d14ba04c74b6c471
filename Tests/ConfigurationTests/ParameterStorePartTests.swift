import GimbalCore
import Port
import Testing

@testable import Configuration

@Suite("Saving some of the settings") struct ParameterStorePartTests {
    private static let app = ["airos.pid.pitch", "airos.pid.roll", "mode.boot"]

    private func store(_ overrides: [String] = []) throws -> ParameterStore {
        ParameterStore(try ConfigurationLoader.load(ConfigurationSource(overrides: overrides)))
    }

    @Test("save stores the given settings, and does not save other changes")
    func part() throws {
        var store = try store()
        try store.set("airos.pid.pitch", to: "[2, 0.1, 0.05]")
        try store.set("mode.boot", to: "fpv")
        try store.set("control.max_rate_dps", to: "180")
        #expect(store.hasUnsavedChanges(among: Self.app))
        store.save(only: Self.app)
        #expect(
            store.savedOverlay == ["airos.pid.pitch": "[2, 0.1, 0.05]", "mode.boot": "\"fpv\""])
        #expect(!store.hasUnsavedChanges(among: Self.app))
        #expect(store.origin(of: "control.max_rate_dps") == .live)
        store.discardUnsaved()
        #expect(store.settings.airos.pid.pitch.p == 2)
        #expect(store.settings.control.maxRateDps == 360)
    }

    @Test("a saved value that returns to its default is removed from the saved state")
    func cleared() throws {
        var store = try store()
        try store.set("airos.pid.roll", to: "[2, 0.1, 0.05]")
        store.save(only: Self.app)
        store = try store.changed([SettingUpdate(toDefault: "airos.pid.roll")])
        #expect(store.hasUnsavedChanges(among: Self.app))
        store.save(only: Self.app)
        #expect(store.savedOverlay.isEmpty)
        #expect(store.unsavedKeys.isEmpty)
    }

    @Test("a reset to the built-in default overrides files and saved values")
    func builtIn() throws {
        var store = try store(["airos.pid.pitch=[3, 0.2, 0.1]"])
        try store.set("airos.pid.pitch", to: "[4, 0.2, 0.1]")
        store = try store.changed([SettingUpdate(toDefault: "airos.pid.pitch")])
        #expect(store.settings.airos.pid.pitch == .tilt)
        store = try store.changed([SettingUpdate(toDefault: "airos.pid.roll")])
        #expect(store.origin(of: "airos.pid.roll") == .builtIn)
    }

    @Test("a value that is saved after the start stays in force, although --set sets another value")
    func savedOverCommandLine() throws {
        let key = "control.feed_forward"
        var store = try store(["\(key)=0.25"])
        #expect(store.load(saved: [key: "0.75"]).isEmpty)
        #expect(store.settings.control.feedForward == 0.25)
        // The first value is already on the disk.
        for value in ["0.75", "0.5", "0.75"] {
            try store.set(key, to: value)
            store.adopt(saved: [key: value])
            #expect("\(store.settings.control.feedForward)" == value)
            #expect(store.origin(of: key) == .saved && store.unsavedKeys.isEmpty)
        }
        let sentence = try #require(store.overriddenSentence)
        #expect(sentence.contains("--set overrides the saved values of \(key)"), "\(sentence)")
        store.restart()
        #expect(store.settings.control.feedForward == 0.25)
        #expect(store.origin(of: key) == .commandLine && store.overriddenSentence == nil)
    }

    @Test("a saved value that an undo of the set-up restores does not replace the value of --set")
    func restoredUnderCommandLine() throws {
        let key = "control.feed_forward"
        var store = try store(["\(key)=0.25"])
        #expect(store.load(saved: [key: "0.75"]).isEmpty)
        store.adopt(saved: [key: "0.5"], isUndo: true)
        #expect(store.settings.control.feedForward == 0.25)
        #expect(store.savedOverlay == [key: "0.5"])
        #expect(store.origin(of: key) == .commandLine && store.overriddenSentence == nil)
    }

    @Test(
        "a value that is saved during a temporary change overrides --set after the change reverts")
    func savedDuringTemporaryChange() throws {
        let key = "control.feed_forward"
        var store = try store(["\(key)=0.25"])
        try store.set(key, to: "0.5")
        let before = store.snapshot
        // An assistant restores a baseline without the value, and a person saves the value.
        _ = try store.restore(tuning: [:])
        store.adopt(saved: [key: "0.5"])
        store.restore(before)
        store.discardUnsaved()
        #expect(store.settings.control.feedForward == 0.5)
        #expect(store.origin(of: key) == .saved)
    }

    @Test("a snapshot keeps the values that it has adopted when it is restored")
    func adopted() throws {
        var store = try store()
        try store.set("airos.pid.roll", to: "[1, 0.1, 0.05]")
        var snapshot = store.snapshot
        try store.set("airos.pid.pitch", to: "[2, 0.1, 0.05]")
        try store.set("airos.pid.roll", to: "[2, 0.1, 0.05]")
        try store.set("control.max_rate_dps", to: "180")
        store.save(only: ["airos.pid.roll"])
        snapshot.adopt(["airos.pid.pitch", "airos.pid.roll"], from: store)
        store.restore(snapshot)
        #expect(store.settings.airos.pid.pitch.p == 2)
        #expect(store.settings.airos.pid.roll.p == 2)
        #expect(store.settings.control.maxRateDps == 360)
    }
}
