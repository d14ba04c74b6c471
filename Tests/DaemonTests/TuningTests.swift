import Configuration
import GimbalCore
import Links
import Logging
import Persistence
import Policy
import Port
import Realtime
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Daemon

@Suite("Changes of settings at run time") struct TuningTests {
    static let key = "control.max_rate_dps"
    static let client = "client 1"

    /// A `Tuning` with the reading end of its mailbox and its directory.
    final class Bench {
        let tuning: Tuning
        private var loop: MailboxReader<Stabilizer.Parameters>
        private let store = LogStore(isJournal: false)

        init(
            _ directory: FilePath, config: FilePath? = nil, overrides: [String] = [],
            calls: FileCalls = .system
        ) throws {
            let source = ConfigurationSource(
                config: config?.string,
                overrides: ["persistence.directory=\(directory)/state"] + overrides)
            let loaded = try ConfigurationLoader.load(source)
            let stateOwner = StateOwner(
                directory: "\(directory)/state", calls: calls, log: .silent)
            let parameters = stateOwner.load(into: loaded)
            let mailbox = makeMailbox(initial: parameters.settings.stabilizerParameters)
            let logStore = store
            tuning = Tuning(
                store: parameters, source: source, stateOwner: stateOwner,
                correction: SensorCorrection(),
                mailbox: mailbox.writer,
                commander: .idle(),
                log: Logger(label: "test") { _ in StoreLogHandler(store: logStore) }
            ) { logStore.setMinimum($0.logLevel) }
            loop = mailbox.reader
        }

        func set(_ value: JSONValue, rollback: Double? = nil) throws {
            _ = try tuning.set(key: key, value: value, rollback: rollback, by: client)
        }

        /// True if new parameters are in the mailbox of the loop.
        var hasNews: Bool { loop.hasNew }

        /// Parameters that the loop takes at its next tick.
        func taken() -> Stabilizer.Parameters { loop.read().value }

        /// All logged messages.
        var log: String {
            store.page(since: 0, limit: 100).lines.map(\.message).joined(separator: "\n")
        }

        var value: Double { tuning.settings.control.maxRateDps }
    }

    @Test(
        "an app's PID triple is stored as written, limited by the stability margins, and causes a warning"
    )
    func appGains() throws {
        try withTemporaryDirectory { directory throws in
            let bench = try Bench(directory)
            let healthy = try bench.tuning.set(
                key: "airos.pid.pitch", value: [1.2, 0.1, 0.05], rollback: nil, by: Self.client)
            #expect(healthy.warning == nil)
            let strong = try bench.tuning.set(
                key: "airos.pid.pitch", value: [5, 1, 0.5], rollback: nil, by: Self.client)
            #expect(strong.value == [5.0, 1.0, 0.5])
            let warning = try #require(strong.warning)
            #expect(warning.contains("pitch axis has margins"), "\(warning)")
            let gains = bench.taken().controller.rateGain
            let own = AttitudeController.Parameters().rateGain
            #expect(gains.pitch > 1.1 * own.pitch && gains.pitch < 1.35 * own.pitch)
            #expect(gains.yaw == own.yaw)
            let status = bench.tuning.controlStatus
            #expect(status.gains[1].values.pitch.value == gains.pitch)
            #expect(status.gainMarginDb.pitch.value > 2)
            #expect(status.warnings == [warning])
        }
    }

    @Test(
        "an app's PID values scale the gains of motors without encoders, and the status shows the gains"
    )
    func appGainsOfFieldMotors() throws {
        try withTemporaryDirectory { directory throws in
            let bench = try Bench(directory, overrides: ["motors.type=field"])
            _ = try bench.tuning.set(
                key: "airos.pid.roll", value: [5, 0, 0.5], rollback: nil, by: Self.client)
            let field = bench.taken().field
            let own = FieldController.Parameters()
            #expect(
                field.rateGain.roll > own.rateGain.roll && field.rateGain.yaw == own.rateGain.yaw)
            let gains = bench.tuning.controlStatus.gains
            #expect(gains[0].values.roll.value == field.attitudeGain.roll)
            #expect(gains[1].values.roll.value == field.rateGain.roll)
            #expect(gains[2].values.roll.value < gains[2].values.yaw.value)
        }
    }

    @Test(
        "a servo prediction that is too fast for the servos' delay causes a warning with the margins"
    )
    func fastServos() throws {
        try withTemporaryDirectory { directory throws in
            let bench = try Bench(directory, overrides: ["motors.type=servo"])
            #expect(bench.tuning.controlStatus.warnings.isEmpty)
            let fast = try bench.tuning.set(
                key: "servo.tracker_bandwidth", value: 100, rollback: nil, by: Self.client)
            #expect(fast.warning?.contains("6 dB and 45° are recommended") == true)
            #expect(bench.tuning.controlStatus.gainMarginDb.pitch.value < 6)
        }
    }

    @Test(
        "the default gains cause no warning at any loop rate",
        arguments: ["torque", "field", "servo"],
        [200, 213, 300, 345, 400, 500, 632, 800, 1000, 2000, 4000])
    func defaultGains(motors: String, rate: Int) throws {
        try withTemporaryDirectory { directory throws in
            for delay in [0, 3] {
                let bench = try Bench(
                    directory,
                    overrides: [
                        "motors.type=\(motors)", "loop.rate_hz=\(rate)",
                        "imu.filter_delay_ms=\(delay)",
                    ])
                #expect(bench.tuning.controlStatus.warnings == [])
            }
        }
    }

    @Test("a filter delay of the sensor that costs stability margins causes a warning")
    func filterDelay() throws {
        try withTemporaryDirectory { directory throws in
            let bench = try Bench(directory)
            let key = "imu.filter_delay_ms"
            let usual = try bench.tuning.set(key: key, value: 3, rollback: nil, by: Self.client)
            #expect(usual.warning == nil)
            let long = try bench.tuning.set(key: key, value: 15, rollback: nil, by: Self.client)
            #expect(long.warning?.contains("6 dB and 45° are recommended") == true)
        }
    }

    @Test("a change reaches the loop immediately, in the loop's units")
    func reachesTheLoop() throws {
        try withTemporaryDirectory { directory throws in
            let bench = try Bench(directory)
            #expect(!bench.hasNews)
            try bench.set(180)
            #expect(bench.hasNews)
            let parameters = bench.taken()
            #expect(abs(parameters.controller.maxRate - .pi) < 1e-12)
        }
    }

    @Test("only the temporarily changed settings have a rollback time")
    func rollbackOfOneSetting() throws {
        try withTemporaryDirectory { directory throws in
            let bench = try Bench(directory)
            try bench.set(120, rollback: 30)
            let lasting = try bench.tuning.set(
                key: "follow.preset", value: "sport", rollback: nil, by: Self.client)
            #expect(lasting.rollbackS == nil)
            let timed = bench.tuning.diff().filter { $0.rollbackS != nil }.map(\.key)
            #expect(timed == [Self.key])
            #expect(bench.tuning.list().filter { $0.rollbackS != nil }.map(\.key) == timed)
        }
    }

    @Test("a refused value changes no setting and does not reach the loop")
    func refuses() throws {
        try withTemporaryDirectory { directory throws in
            let bench = try Bench(directory)
            let error = #expect(throws: Refusal.self) { try bench.set(99999) }
            #expect(error?.code == .outOfRange)
            #expect(error?.message.contains("1...2000") == true)
            #expect(throws: Refusal.self) { try bench.set("[1, 2") }
            #expect(throws: Refusal.self) { try bench.set(.null) }
            #expect(throws: Refusal.self) { try bench.set(50, rollback: 0.1) }
            #expect(bench.value == 360)
            #expect(!bench.hasNews)
        }
    }

    @Test(
        "a change of the motors' tuning is refused while an autotune overrides it; other changes are not"
    )
    func refusesDuringTrial() throws {
        try withTemporaryDirectory { directory throws in
            let bench = try Bench(directory)
            bench.tuning.setTrial(bench.tuning.settings.stabilizerParameters)
            let error = #expect(throws: Refusal.self) { try bench.set(100) }
            #expect(error?.code == .refused)
            #expect(error?.message.contains("airframectl autotune cancel") == true)
            #expect(bench.value == 360)
            _ = try bench.tuning.set(
                key: "follow.preset", value: "sport", rollback: nil, by: Self.client)
            bench.tuning.setTrial(nil)
            try bench.set(100)
            #expect(bench.value == 100)
        }
    }

    @Test("a change that is not saved in time is reverted in the settings and in the loop")
    func rollsBack() throws {
        try withTemporaryDirectory { directory throws in
            let bench = try Bench(directory)
            try bench.set(100, rollback: 30)
            _ = bench.taken()
            bench.tuning.advance(now: MonotonicClock.now.advanced(bySeconds: 29))
            #expect(bench.value == 100)
            #expect(!bench.hasNews)
            bench.tuning.advance(now: MonotonicClock.now.advanced(bySeconds: 31))
            #expect(bench.value == 360)
            #expect(bench.hasNews)
        }
    }

    @Test("a saved change survives the end of the rollback time and a restart")
    func saves() throws {
        try withTemporaryDirectory { directory throws in
            let bench = try Bench(directory)
            try bench.set(100, rollback: 30)
            #expect(try bench.tuning.save(by: "test").hasPrefix("Saved 1 setting."))
            bench.tuning.advance(now: MonotonicClock.now.advanced(bySeconds: 31))
            #expect(bench.value == 100)
            #expect(bench.tuning.configurationStatus.unsaved.isEmpty)

            let again = try Bench(directory)
            #expect(again.value == 100)
        }
    }

    @Test("a save keeps the saved values that the files do not permit at present, and names them")
    func savesIgnored() throws {
        try withTemporaryDirectory { directory throws in
            let key = "commander.release_after_s"
            let first = try Bench(directory)
            _ = try first.tuning.set(key: key, value: 2, rollback: nil, by: Self.client)
            _ = try first.tuning.save(by: "test")

            let second = try Bench(directory, overrides: ["commander.dead_man_s=5"])
            #expect(second.tuning.configurationStatus.ignored == [key])
            try second.set(100)
            let sentence = try second.tuning.save(by: "test")
            #expect(sentence.contains("no effect") && sentence.contains(key), "\(sentence)")

            let third = try Bench(directory)
            #expect(third.tuning.settings.commander.releaseAfterS == 2)
            #expect(third.value == 100)
            #expect(third.tuning.configurationStatus.ignored.isEmpty)
        }
    }

    @Test("a failed save is reported as an error, and the change stays unsaved and in effect")
    func cannotSave() throws {
        try withTemporaryDirectory { directory throws in
            // A file instead of the directory makes the save fail, also for root.
            try write("", to: directory.appending("state"))
            let bench = try Bench(directory)
            try bench.set(100)
            let error = #expect(throws: Refusal.self) { try bench.tuning.save(by: "test") }
            #expect(error?.message.contains("\(directory)/state") == true)
            #expect(!bench.log.contains("saved the tuning"))
            #expect(bench.tuning.history.entries.map(\.what) == ["set \(Self.key) = 100"])
            #expect(bench.tuning.configurationStatus.unsaved == [Self.key])
            #expect(bench.value == 100)
        }
    }

    @Test("a permanent change lasts, although an earlier temporary change reverts")
    func permanentDuringTrial() throws {
        try withTemporaryDirectory { directory throws in
            let bench = try Bench(directory)
            _ = try bench.tuning.set(
                key: "control.feed_forward", value: 0.5, rollback: 30, by: Self.client)
            try bench.set(100)
            bench.tuning.advance(now: LoopClock.monotonic.now.advanced(bySeconds: 31))
            #expect(bench.tuning.settings.control.feedForward == 1)
            #expect(bench.value == 100)
        }
    }

    @Test("a temporary change that a permanent change has replaced is not reported as reverted")
    func replacedTrial() throws {
        try withTemporaryDirectory { directory throws in
            let bench = try Bench(directory)
            try bench.set(100, rollback: 30)
            try bench.set(200)
            bench.tuning.advance(now: bench.tuning.clock.now.advanced(bySeconds: 31))
            #expect(bench.value == 200)
            #expect(!bench.log.contains("reverted it"), "\(bench.log)")
            #expect(bench.tuning.history.entries.allSatisfy { $0.who != "airframed" })
        }
    }

    @Test(
        "restoring a baseline also resets every setting outside the baseline to the value in the files"
    )
    func baselines() throws {
        try withTemporaryDirectory { directory throws in
            let bench = try Bench(directory)
            try bench.set(100)
            #expect(try bench.tuning.baseline(.store("good"), by: "test").names == ["good"])
            try bench.set(50)
            _ = try bench.tuning.set(
                key: "control.feed_forward", value: 0.5, rollback: nil, by: Self.client)
            _ = try bench.tuning.baseline(.restore("good"), by: "test")
            #expect(bench.value == 100)
            #expect(bench.tuning.settings.control.feedForward == 1)
            let missing = #expect(throws: Refusal.self) {
                try bench.tuning.baseline(.restore("none"), by: "test")
            }
            #expect(missing?.code == .unknownKey && missing?.field == "name")
            #expect(throws: Refusal.self) {
                try bench.tuning.baseline(.store("../x"), by: "test")
            }

            let again = try Bench(directory)
            #expect(try again.tuning.baseline(.list, by: "test").names == ["good"])
            #expect(try again.tuning.baseline(.delete("good"), by: "test").names.isEmpty)
            let error = #expect(throws: Refusal.self) {
                try again.tuning.baseline(.delete("good"), by: "test")
            }
            #expect(error?.message.contains("There is no baseline \"good\"") == true)
            #expect(error?.code == .unknownKey)
            #expect(try Bench(directory).tuning.baseline(.list, by: "test").names.isEmpty)
        }
    }

    @Test("a reload rejects an invalid file completely, and the error contains file and line")
    func reloads() throws {
        try withTemporaryDirectory { directory throws in
            let file = directory.appending("airframed.toml")
            try write("[control]\nmax_rate_dps = 100\n", to: file)
            let bench = try Bench(directory, config: file)
            #expect(bench.value == 100)
            #expect(bench.tuning.startFindings().problem == nil)

            try write("[control]\nmax_rate_dps = 200\nfeed_forward = 9\n", to: file)
            // The error in the file prevents the next start, before anybody reloads the file.
            let problem = try #require(bench.tuning.startFindings().problem)
            #expect(problem.hasPrefix("\(file):3: control.feed_forward = 9 "), "\(problem)")
            let error = #expect(throws: Refusal.self) { try bench.tuning.reload(by: "test") }
            #expect(error?.message.contains("\(file):3: control.feed_forward = 9") == true)
            #expect(bench.value == 100)

            try write("[loop]\nrate_hz = 500\n[control]\nmax_rate_dps = 200\n", to: file)
            let report = try bench.tuning.reload(by: "test")
            #expect(report.applied == [Self.key])
            #expect(report.needsRestart == ["loop.rate_hz"])
            #expect(bench.tuning.startFindings().problem == nil)
            #expect(bench.value == 200)
            #expect(bench.tuning.settings.loop.rateHz == 1000)
        }
    }

    @Test("a change at run time takes precedence over the file after a reload")
    func liveOverFile() throws {
        try withTemporaryDirectory { directory throws in
            let file = directory.appending("airframed.toml")
            try write("[control]\nmax_rate_dps = 100\n", to: file)
            let bench = try Bench(directory, config: file)
            try bench.set(50)
            try write("[control]\nmax_rate_dps = 200\n", to: file)
            _ = try bench.tuning.reload(by: "test")
            #expect(bench.value == 50)
        }
    }
}
