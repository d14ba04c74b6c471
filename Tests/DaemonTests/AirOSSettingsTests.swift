import Configuration
import GimbalCore
import Links
import Policy
import Port
import Realtime
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Daemon

@Suite("AirOS: gains, filter and saved values") struct AirOSSettingsTests {
    private static let strong = PIDTriple(p: 3, i: 0.2, d: 0.1)
    private static let kalman = KalmanTriple(qAngle: 0.002, qBias: 0.006, rMeasure: 0.06)
    private static let app = BluetoothBench.iPhone.description

    private func set(_ key: String, _ value: JSONValue, rollback: Double?, _ bench: BluetoothBench)
        throws
    {
        _ = try bench.tuning.set(
            key: key, value: value, rollback: rollback, by: "client 1")
    }

    @Test("valid PID and Kalman values reach the loop; an invalid value changes nothing")
    func tuning() throws {
        try withBench { bench, _ throws in
            try bench.write(.pitchPID, Self.strong.bytes)
            try bench.write(.kalman, Self.kalman.bytes)
            #expect(try bench.read(.pitchPID) == Self.strong.bytes)
            #expect(try bench.read(.kalman) == Self.kalman.bytes)
            #expect(bench.tuning.settings.airos.pid.pitch == Self.strong)
            #expect(bench.tuning.settings.estimator.kalmanRMeasure == 0.06)
            #expect(bench.log.contains("\(Self.app) set airos.pid.pitch = [3, 0.2, 0.1]."))
            #expect(throws: ATTError.outOfRange) {
                try bench.write(.pitchPID, PIDTriple(p: 1, i: 0.1, d: 0.6).bytes)
            }
            #expect(throws: ATTError.outOfRange) {
                try bench.write(.rollPID, PIDTriple(p: -1, i: 0.1, d: 0.1).bytes)
            }
            // The first two numbers are valid, the third is not.
            #expect(throws: ATTError.outOfRange) {
                try bench.write(
                    .kalman, KalmanTriple(qAngle: 0.005, qBias: 0.005, rMeasure: 99).bytes)
            }
            #expect(bench.tuning.settings.airos.pid.pitch == Self.strong)
            #expect(bench.tuning.settings.airos.pid.roll == .tilt)
            #expect(bench.tuning.settings.estimator.kalmanQAngle == 0.002)
            #expect(bench.log.contains("0...0.5 for d"))
        }
    }

    @Test("the extreme values of the app's sliders are accepted")
    func sliders() throws {
        try withBench { bench, _ throws in
            for triple in [PIDTriple(p: 0, i: 0, d: 0), PIDTriple(p: 5, i: 1, d: 0.5)] {
                try bench.write(.pitchPID, triple.bytes)
                #expect(bench.tuning.settings.airos.pid.pitch == triple)
            }
        }
    }

    @Test(
        "save keeps mode, PID and Kalman values over a restart, but not the changes of other clients"
    )
    func save() throws {
        try withBench { bench, directory throws in
            bench.run(0.1)
            try set("control.max_rate_dps", 180, rollback: nil, bench)
            // Writes of the app when the user saves the slider page.
            for axis: AirOSCharacteristic in [.pitchPID, .rollPID, .yawPID] {
                try bench.write(axis, Self.strong.bytes)
            }
            try bench.write(.kalman, Self.kalman.bytes)
            try bench.write(.mode, [3])
            try bench.say("save")
            let second = try BluetoothBench(directory)
            #expect(try second.read(.mode) == [3])
            #expect(try second.read(.yawPID) == Self.strong.bytes)
            #expect(try second.read(.kalman) == Self.kalman.bytes)
            #expect(second.tuning.settings.control.maxRateDps == 360)

            second.run(0.1)
            try second.say("DEFAULTS")
            #expect(try second.read(.mode) == [1])
            #expect(try second.read(.pitchPID) == PIDTriple.tilt.bytes)
            #expect(try second.read(.yawPID) == PIDTriple.pan.bytes)
            let third = try BluetoothBench(directory)
            #expect(try third.read(.mode) == [1])
            #expect(try third.read(.rollPID) == PIDTriple.tilt.bytes)
            #expect(third.tuning.settings.estimator.kalmanQBias == 0.003)
        }
    }

    @Test("defaults restores the app's default values, and changes no other setting")
    func defaults() throws {
        try withTemporaryDirectory { directory in
            let file = directory.appending("airframed.toml")
            try TestSupport.write("airos.pid.roll = [4, 0.5, 0.2]", to: file)
            let bench = try BluetoothBench(directory, file: file)
            bench.run(0.1)
            #expect(try bench.read(.rollPID) == PIDTriple(p: 4, i: 0.5, d: 0.2).bytes)
            try set("control.max_rate_dps", 180, rollback: nil, bench)
            try bench.write(.mode, [2])
            try bench.say("defaults")
            #expect(try bench.read(.rollPID) == PIDTriple.tilt.bytes)
            #expect(try bench.read(.mode) == [1])
            #expect(bench.tuning.settings.control.maxRateDps == 180)
        }
    }

    @Test("defaults also discards gains that were written but not saved")
    func defaultsOfUnsavedGains() throws {
        try withBench { bench, _ throws in
            try bench.write(.pitchPID, Self.strong.bytes)
            try bench.write(.kalman, Self.kalman.bytes)
            try bench.say("defaults")
            #expect(try bench.read(.pitchPID) == PIDTriple.tilt.bytes)
            #expect(bench.tuning.settings.airos.pid.pitch == .tilt)
            #expect(bench.tuning.settings.estimator.kalmanRMeasure == 0.03)
        }
    }

    @Test("a phone without control can change neither gains nor filter, and cannot save")
    func gainsBelongToWhoIsInControl() throws {
        try withBench { bench, _ throws in
            bench.run(0.1)
            try bench.write(.mode, [4])
            let other = BluetoothBench.iPad
            #expect(throws: ATTError.notAuthorized) {
                try bench.write(.pitchPID, Self.strong.bytes, by: other)
            }
            #expect(throws: ATTError.notAuthorized) {
                try bench.write(.kalman, Self.kalman.bytes, by: other)
            }
            #expect(throws: ATTError.notAuthorized) { try bench.say("save", by: other) }
            #expect(bench.tuning.settings.airos.pid.pitch == .tilt)
            try bench.write(.pitchPID, Self.strong.bytes)
            try bench.say("save")
            bench.airOS.disconnected(BluetoothBench.iPhone, now: bench.now)
            try bench.write(.pitchPID, PIDTriple.tilt.bytes, by: other)
            #expect(bench.tuning.settings.airos.pid.pitch == .tilt)
        }
    }

    @Test("the mode `tracking` is saved as `locked`, because no client sends rates at the start")
    func saveWhileTracking() throws {
        try withBench { bench, directory throws in
            bench.run(0.1)
            try bench.write(.mode, [2])
            try bench.say("save")
            #expect(bench.tuning.settings.mode.boot == .panFollow)
            try bench.write(.mode, [4])
            try bench.say("save")
            #expect(bench.door.mode == .tracking)
            #expect(try BluetoothBench(directory).read(.mode) == [1])
        }
    }

    @Test("with airos.rollback_s, a change reverts unless it is saved")
    func rollback() throws {
        try withBench(["airos.rollback_s=30"]) { bench, _ throws in
            try bench.write(.pitchPID, Self.strong.bytes)
            bench.run(29)
            #expect(try bench.read(.pitchPID) == Self.strong.bytes)
            bench.run(2)
            #expect(try bench.read(.pitchPID) == PIDTriple.tilt.bytes)
            try bench.write(.rollPID, Self.strong.bytes)
            try bench.say("save")
            bench.run(31)
            #expect(try bench.read(.rollPID) == Self.strong.bytes)
        }
    }

    @Test(
        "an app's save does not keep another client's temporary change, and that change's rollback does not revert the app's values"
    )
    func engineersTrial() throws {
        try withBench { bench, _ throws in
            try bench.write(.yawPID, PIDTriple(p: 1, i: 0, d: 0).bytes)
            try set("control.max_rate_dps", 180, rollback: 10, bench)
            try bench.write(.pitchPID, Self.strong.bytes)
            try bench.write(.yawPID, Self.strong.bytes)
            try bench.say("save")
            try bench.write(.rollPID, Self.strong.bytes)
            bench.run(11)
            #expect(bench.tuning.settings.control.maxRateDps == 360)
            for axis: AirOSCharacteristic in [.pitchPID, .rollPID, .yawPID] {
                #expect(try bench.read(axis) == Self.strong.bytes)
            }
        }
    }

    @Test("a write with airos.rollback_s is refused during another client's temporary change")
    func twoRollbacks() throws {
        try withBench(["airos.rollback_s=30"]) { bench, _ throws in
            try set("control.max_rate_dps", 180, rollback: 10, bench)
            #expect(throws: ATTError.notNow) { try bench.write(.pitchPID, Self.strong.bytes) }
            #expect(bench.tuning.settings.airos.pid.pitch == .tilt)
        }
    }

    @Test("frequent saves of a phone are limited to protect the disk")
    func savesAreLimited() throws {
        try withBench { bench, _ throws in
            func save(_ p: Double) throws {
                try bench.write(.pitchPID, PIDTriple(p: p, i: 0, d: 0).bytes)
                try bench.say("save")
            }
            for step in 1...20 { try save(Double(step) / 10) }
            #expect(throws: ATTError.notNow) { try save(3) }
            #expect(try bench.read(.pitchPID) == PIDTriple(p: 3, i: 0, d: 0).bytes)
            bench.run(5.1)
            try bench.say("save")
            #expect(bench.tuning.configurationStatus.unsaved.isEmpty)
        }
    }

    @Test("a baseline restores an app's gains")
    func baseline() throws {
        try withBench { bench, _ throws in
            try bench.write(.pitchPID, Self.strong.bytes)
            _ = try bench.tuning.baseline(.store("mine"), by: "test")
            try bench.say("defaults")
            _ = try bench.tuning.baseline(.restore("mine"), by: "test")
            #expect(try bench.read(.pitchPID) == Self.strong.bytes)
        }
    }
}
