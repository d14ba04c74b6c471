import Configuration
import GimbalCore
import Links
import Policy
import Port
import Realtime
import TestSupport
import Testing
import Wire

@testable import Daemon

// Tests of changes and saves by apps and ground stations.
extension TuningTests {
    @Test(
        "a peer's change is unsaved until the peer saves it; the same value again adds no history entry"
    )
    func setAndSave() throws {
        try withTemporaryDirectory { directory throws in
            let bench = try Bench(directory)
            let key = "motion.max_rate_dps"
            let peer = CommandSource(link: .mavlink, connection: 1)
            let change = SettingUpdate(\.motion.maxRateDps, AxisVector(repeating: 90))
            try bench.tuning.change([change], from: peer, by: "mavlink 255/190")
            let notes = bench.tuning.history.entries.count
            try bench.tuning.change([change], from: peer, by: "mavlink 255/190")
            #expect(bench.tuning.history.entries.count == notes)
            #expect(bench.tuning.configurationStatus.unsaved == [key])
            try bench.tuning.save([key], from: peer, by: "mavlink 255/190")
            #expect(bench.tuning.configurationStatus.unsaved.isEmpty)
        }
    }

    @Test("a change of one axis does not make a temporary change of the other axes permanent")
    func partOfTrial() throws {
        try withTemporaryDirectory { directory throws in
            let bench = try Bench(directory)
            let key = "motion.max_rate_dps"
            let before = bench.tuning.settings.motion.maxRateDps
            _ = try bench.tuning.set(
                key: key, value: [20, 20, 20], rollback: 30, by: "client 1")
            let peer = CommandSource(link: .mavlink, connection: 1)
            try bench.tuning.change(
                { settings in
                    var rates = settings.motion.maxRateDps
                    rates.pitch = 60
                    return [SettingUpdate(\.motion.maxRateDps, rates)]
                }, from: peer, by: "mavlink 255/190")
            #expect(
                bench.tuning.settings.motion.maxRateDps == AxisVector(yaw: 20, roll: 20, pitch: 60))
            bench.tuning.advance(now: MonotonicClock.now.advanced(bySeconds: 31))
            let after = bench.tuning.settings.motion.maxRateDps
            #expect(after == AxisVector(yaw: before.yaw, roll: before.roll, pitch: 60))
        }
    }

    @Test("a permanent change to the value of a temporary change makes this value permanent")
    func keepsTrial() throws {
        try withTemporaryDirectory { directory throws in
            let bench = try Bench(directory)
            _ = try bench.tuning.set(
                key: "control.feed_forward", value: 0.5, rollback: 30, by: "client 1")
            try bench.set(100, rollback: 30)
            let station = CommandSource(link: .mavlink, connection: 1)
            let change = SettingUpdate(\.control.maxRateDps, 100)
            try bench.tuning.change([change], from: station, by: "mavlink 255/190")
            let notes = bench.tuning.history.entries.map(\.what)
            #expect(notes.last == "set \(change)")
            // Now the value no longer reverts, so the same request changes nothing.
            try bench.tuning.change([change], from: station, by: "mavlink 255/190")
            #expect(bench.tuning.history.entries.map(\.what) == notes)
            bench.tuning.advance(now: MonotonicClock.now.advanced(bySeconds: 31))
            #expect(bench.value == 100)
            #expect(bench.tuning.settings.control.feedForward == 1)
        }
    }

    @Test("an app's save keeps the app's values, but not the temporary change of another client")
    func savesOwn() throws {
        try withTemporaryDirectory { directory throws in
            let bench = try Bench(directory)
            let key = "control.max_rate_dps"
            let phone = CommandSource(link: .airos, connection: 1)
            try bench.set(100, rollback: 30)
            try bench.tuning.save([key], from: phone, by: "phone")
            #expect(bench.value == 100)
            bench.tuning.advance(now: MonotonicClock.now.advanced(bySeconds: 31))
            #expect(bench.value == 360)
            #expect(bench.tuning.configurationStatus.unsaved.isEmpty)

            try bench.set(100, rollback: 30)
            let change = SettingUpdate(\.control.maxRateDps, 90)
            try bench.tuning.change([change], from: phone, by: "phone")
            try bench.tuning.save([key], from: phone, by: "phone")
            bench.tuning.advance(now: MonotonicClock.now.advanced(bySeconds: 31))
            #expect(bench.value == 90)

            // The trial of an app is not kept by a ground station.
            let station = CommandSource(link: .mavlink, connection: 1)
            try bench.tuning.change(
                [SettingUpdate(\.airos.rollbackS, 30)], from: station, by: "mavlink 255/190")
            try bench.tuning.change(
                [SettingUpdate(\.control.maxRateDps, 70)], from: phone, by: "phone")
            #expect(bench.value == 70)
            try bench.tuning.save([key], from: station, by: "mavlink 255/190")
            bench.tuning.advance(now: MonotonicClock.now.advanced(bySeconds: 31))
            #expect(bench.value == 90)
        }
    }

    @Test("an app's temporary change that begins during the app's save reverts to the saved values")
    func trialDuringSave() throws {
        try withTemporaryDirectory { directory throws in
            let disk = GatedDisk()
            let bench = try Bench(
                directory, overrides: ["airos.rollback_s=30"], calls: disk.calls)
            let phone = CommandSource(link: .airos, connection: 1)
            try bench.set(90)
            try awaited { (done: @escaping Later<Void>) in
                disk.shut(true)
                defer { disk.shut(false) }
                try bench.tuning.save(
                    ["control.max_rate_dps"], with: [], from: phone, (who: "phone", what: "saved"),
                    done)
                try disk.waitForWrite()
                try bench.tuning.change(
                    [SettingUpdate(\.control.maxRateDps, 70)], from: phone, by: "phone")
            }
            #expect(bench.value == 70)
            bench.tuning.advance(now: MonotonicClock.now.advanced(bySeconds: 31))
            #expect(bench.value == 90)
        }
    }

    @Test("a temporary change to a saved value reverts to the value of --set after an app's save")
    func trialOfSavedValue() throws {
        try withTemporaryDirectory { directory throws in
            let first = try Bench(directory)
            try first.set(100)
            _ = try first.tuning.save(by: "test")
            let bench = try Bench(directory, overrides: ["control.max_rate_dps=150"])
            try bench.set(100, rollback: 30)
            let phone = CommandSource(link: .airos, connection: 1)
            let pid = PIDTriple(p: 1.5, i: 0.1, d: 0.05)
            try bench.tuning.change(
                [SettingUpdate(\.airos.pid.pitch, pid)], from: phone, by: "phone")
            try bench.tuning.save(["airos.pid.pitch"], from: phone, by: "phone")
            #expect(bench.value == 100)
            bench.tuning.advance(now: MonotonicClock.now.advanced(bySeconds: 31))
            #expect(bench.value == 150)
            #expect(bench.tuning.settings.airos.pid.pitch == pid)
        }
    }

    @Test("a save does not change active values, and names those that --set overrides later")
    func savesOverCommandLine() throws {
        try withTemporaryDirectory { directory throws in
            let overrides = ["control.max_rate_dps=150", "airos.pid.pitch=[2, 0.1, 0.05]"]
            let bench = try Bench(directory, overrides: overrides)
            try bench.set(100)
            let sentence = try bench.tuning.save(by: "test")
            #expect(sentence.contains("--set overrides the saved values of control.max_rate_dps"))
            #expect(bench.value == 100)
            // An app's save, which passes all settings to the loop.
            let phone = CommandSource(link: .airos, connection: 1)
            let pid = PIDTriple(p: 1.5, i: 0.1, d: 0.05)
            try bench.tuning.change(
                [SettingUpdate(\.airos.pid.pitch, pid)], from: phone, by: "phone")
            try bench.tuning.save(["airos.pid.pitch"], from: phone, by: "phone")
            #expect(bench.tuning.settings.airos.pid.pitch == pid)
            #expect(bench.taken().controller.maxRate == Angle.degrees(100).radians)
            #expect(bench.tuning.configurationStatus.unsaved.isEmpty)
            let again = try Bench(directory, overrides: overrides)
            #expect(again.value == 150)
        }
    }

    @Test("a temporary change to the saved value is listed with the time until it reverts")
    func listsTrialOfSavedValue() throws {
        try withTemporaryDirectory { directory throws in
            let bench = try Bench(directory)
            let phone = CommandSource(link: .airos, connection: 1)
            try bench.tuning.change(
                [SettingUpdate(\.control.maxRateDps, 100)], from: phone, by: "phone")
            try bench.set(360, rollback: 30)
            let change = try #require(bench.tuning.diff().first { $0.key == Self.key })
            #expect(change.value == change.savedValue && change.isUnsaved)
            #expect(change.rollbackS != nil)
            bench.tuning.advance(now: bench.tuning.clock.now.advanced(bySeconds: 31))
            let after = try #require(bench.tuning.diff().first { $0.key == Self.key })
            #expect(after.value == 100.0 && after.isUnsaved && after.rollbackS == nil)
        }
    }
}
