import Configuration
import GimbalCore
import Links
import Realtime
import Simulation
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Daemon

@Suite("AirOS: settings, calibration and the other commands") struct AirOSDoorTests {
    private static let strong = PIDTriple(p: 3, i: 0.2, d: 0.1)
    private static let kalman = KalmanTriple(qAngle: 0.002, qBias: 0.006, rMeasure: 0.06)
    private static let app = BluetoothBench.iPhone.description

    private func withBench(
        _ overrides: [String] = [], motion: BaseMotion.Kind = .still,
        _ body: (BluetoothBench, FilePath) throws -> Void
    ) throws {
        try withTemporaryDirectory { directory in
            try body(BluetoothBench(directory, overrides, motion: motion), directory)
        }
    }

    private func set(_ key: String, _ value: JSONValue, rollback: Double?, _ bench: BluetoothBench)
        throws
    {
        _ = try bench.tuning.set(
            key: key, value: value, rollback: rollback,
            client: DiagnosticsClient(id: 1, pid: 1, user: 0))
    }

    @Test("reads the truth before anybody has written anything, and before the first sample")
    func firstRead() throws {
        try withBench(["airos.pid.yaw=[2, 0.1, 0.1]", "mode.boot=pan_follow"]) { bench, _ throws in
            #expect(try bench.read(.mode) == [2])
            #expect(try bench.read(.status) == [3])
            #expect(try bench.read(.pitchPID) == PIDTriple.tilt.bytes)
            #expect(try bench.read(.yawPID) == PIDTriple(p: 2, i: 0.1, d: 0.1).bytes)
            #expect(
                try bench.read(.kalman)
                    == KalmanTriple(qAngle: 0.001, qBias: 0.003, rMeasure: 0.03).bytes)
            #expect(throws: ATTError.noValue) { try bench.read(.pitch) }
            bench.run(0.1)
            #expect(try abs(bench.angle(.pitch)) < 5)
        }
    }

    @Test("a mode that is written is in force at once, and read back", arguments: 0...4)
    func modes(byte: UInt8) throws {
        try withBench { bench, _ throws in
            bench.run(0.1)
            try bench.write(.mode, [byte])
            #expect(try bench.read(.mode) == [byte])
            #expect(try bench.read(.status) == [byte == 0 ? 0 : byte + 1])
            bench.run(0.1)
            #expect(try bench.read(.mode) == [byte])
        }
    }

    @Test("a mode that needs joints is refused where nothing shows them; inactive never is")
    func missingJoints() throws {
        try withTemporaryDirectory { directory in
            let bench = try BluetoothBench(directory, ["airos.inactive=neutral"], encoders: false)
            bench.run(0.1)
            #expect(throws: ATTError.notNow) { try bench.write(.mode, [3]) }
            #expect(bench.log.contains("follows the handle, and nothing shows the joints"))
            #expect(try bench.read(.mode) == [1])
            try bench.write(.mode, [0])
            #expect(bench.door.mode == .inactive)
        }
    }

    @Test("inactive is neutral where the settings say so, and reads as inactive")
    func neutral() throws {
        try withBench(["airos.inactive=neutral"]) { bench, _ throws in
            bench.run(0.1)
            try bench.write(.mode, [0])
            #expect(bench.door.mode == .neutral)
            #expect(try bench.read(.mode) == [0] && bench.read(.status) == [0])
        }
    }

    @Test("a latched emergency stop outlasts every app")
    func emergencyStop() throws {
        try withBench { bench, _ throws in
            bench.run(0.1)
            try bench.commander.request(
                .emergencyStop, from: BluetoothBench.laptop, now: bench.now)
            bench.commander.disconnected(BluetoothBench.laptop, now: bench.now)
            for mode in UInt8(0)...4 {
                #expect(throws: ATTError.notNow) { try bench.write(.mode, [mode]) }
            }
            try bench.say("defaults")
            try bench.say("save")
            bench.run(0.5)
            #expect(bench.door.isStopped && bench.door.mode == .inactive)
            #expect(bench.tuning.settings.mode.boot == .locked)
        }
    }

    @Test("PID and Kalman reach the loop through the one door, whole or not at all")
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
            // Its first two numbers are fine.
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

    @Test("the corners of the app's sliders are allowed")
    func sliders() throws {
        try withBench { bench, _ throws in
            for triple in [PIDTriple(p: 0, i: 0, d: 0), PIDTriple(p: 5, i: 1, d: 0.5)] {
                try bench.write(.pitchPID, triple.bytes)
                #expect(bench.tuning.settings.airos.pid.pitch == triple)
            }
        }
    }

    @Test("save outlasts a restart: mode, PID and Kalman, and nothing of anybody else")
    func save() throws {
        try withBench { bench, directory throws in
            bench.run(0.1)
            try set("control.max_rate_dps", 180, rollback: nil, bench)
            // What the app does when its slider page is saved.
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

    @Test("defaults are what the app shows, and touch nothing else")
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

    @Test("defaults end what was written and never saved: in force is what the app shows")
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

    @Test("a phone beside the one in control changes neither gains nor filter, and saves nothing")
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

    @Test("all services have one name unless somebody wants two")
    func oneName() throws {
        try withBench { bench, _ throws in
            #expect(bench.services.count == 2)
            #expect(Set(bench.services.map(\.advertisedName)) == ["AirOS Gimbal"])
        }
    }

    @Test("tracking is saved as locked: nobody sends speeds at a start")
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

    @Test("with airos.rollback_s a change reverts unless it is saved")
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

    @Test("an app's save keeps no engineer's trial, and the trial takes back nothing of the app's")
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

    @Test("while an engineer's trial waits, an app with a rollback of its own is refused")
    func twoRollbacks() throws {
        try withBench(["airos.rollback_s=30"]) { bench, _ throws in
            try set("control.max_rate_dps", 180, rollback: 10, bench)
            #expect(throws: ATTError.notNow) { try bench.write(.pitchPID, Self.strong.bytes) }
            #expect(bench.tuning.settings.airos.pid.pitch == .tilt)
        }
    }

    @Test("phones that save and save do not wear out the disk")
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

    @Test("a baseline brings an app's gains back")
    func baseline() throws {
        try withBench { bench, _ throws in
            try bench.write(.pitchPID, Self.strong.bytes)
            _ = try bench.tuning.baseline(.store("mine"), by: "test")
            try bench.say("defaults")
            _ = try bench.tuning.baseline(.restore("mine"), by: "test")
            #expect(try bench.read(.pitchPID) == Self.strong.bytes)
        }
    }

    @Test("calibrate finds the gyroscope's zero with the motors off; the status says so meanwhile")
    func calibrate() throws {
        try withBench { bench, directory throws in
            try bench.start()
            try bench.say("calibrate")
            #expect(try bench.read(.status) == [1])
            #expect(throws: ATTError.notNow) { try bench.say("calibrate") }
            bench.run(0.5)
            #expect(!bench.snapshot.output.enabled)
            let seconds = bench.run(until: { !bench.calibration.isRunning }, atMost: 20)
            #expect(try #require(seconds) < 10)
            #expect(try bench.read(.status) == [2])
            #expect(bench.log.contains("The gyro was calibrated."))
            let second = try BluetoothBench(directory)
            #expect(second.calibration.status().saved.map(\.what) == ["gyro"])
            bench.run(2)
            #expect(bench.snapshot.output.enabled)
        }
    }

    @Test("a calibration that comes to nothing shows in the status, with its reason in the log")
    func calibrationRefused() throws {
        try withBench(motion: .walking) { bench, _ throws in
            bench.run(6)
            try bench.say("calibrate")
            let seconds = bench.run(until: { !bench.calibration.isRunning }, atMost: 20)
            #expect(seconds != nil)
            #expect(bench.log.contains("The gyro was not calibrated. The camera was never still"))
            #expect(try bench.read(.status) == [6], "the phone sees that it failed")
            bench.run(2.1)
            #expect(try bench.read(.status) == [2])
        }
    }

    @Test("a calibration ends with the phone that began it, not with another")
    func calibrationEnds() throws {
        try withBench { bench, _ throws in
            bench.run(0.1)
            try bench.say("calibrate")
            bench.airOS.disconnected(BluetoothBench.iPad, now: bench.now)
            #expect(try bench.read(.status) == [1])
            bench.airOS.disconnected(BluetoothBench.iPhone, now: bench.now)
            #expect(try bench.read(.status) == [2])
        }
    }

    @Test(
        "reset_yaw lets the heading count from here, force_decay takes a tenth off; nothing turns")
    func heading() throws {
        try withBench { bench, _ throws in
            try bench.start()
            try bench.commander.request(
                .point(AxisVector(yaw: 0.5, roll: .nan, pitch: .nan), duration: 0),
                from: BluetoothBench.laptop, now: bench.now)
            bench.run(1)
            bench.commander.disconnected(BluetoothBench.laptop, now: bench.now)
            let camera = bench.camera
            let seen = try bench.angle(.yaw)
            #expect(abs(seen - 28.65) < 0.3)
            try bench.say("force_decay")
            #expect(try abs(bench.angle(.yaw) - 0.9 * seen) < 0.01)
            try bench.say("reset_yaw")
            #expect(try abs(bench.angle(.yaw)) < 0.01)
            try bench.say("yaw_status")
            #expect(bench.log.contains("sees heading 0.0°, the estimate is 28."), "\(bench.log)")
            bench.run(1)
            #expect(abs(bench.camera.yaw - camera.yaw) < 0.05)
            // Another estimate has a zero of its own.
            bench.restartLoop()
            bench.run(0.1)
            #expect(try abs(bench.angle(.yaw)) < 0.3)
        }
    }

    @Test("reset_pid lets the integrals start from zero, and asks for control")
    func resetPID() throws {
        try withBench { bench, _ throws in
            try bench.start()
            let camera = bench.camera
            try bench.say("reset_pid")
            #expect(bench.door.holder == CommandSource(BluetoothBench.iPhone))
            bench.run(0.5)
            #expect(abs(bench.camera.pitch - camera.pitch) < 0.1)
            #expect(throws: ATTError.notAuthorized) {
                try bench.say("reset_pid", by: BluetoothBench.iPad)
            }
        }
    }

    @Test("the serial service is offered with a role, and keeps name and speed over a restart")
    func serial() throws {
        try withBench(["rbl.role=loopback"]) { bench, directory throws in
            #expect(bench.services.count == 2)
            let serial = bench.services[1]
            let name = GATTUUID(RBLCharacteristic.name.rawValue)
            let baud = GATTUUID(RBLCharacteristic.baud.rawValue)
            for (uuid, value) in [(name, Array("Turm".utf8)), (baud, [1])] {
                try serial.write(
                    uuid, value, by: BluetoothBench.iPad, now: bench.now, bench.phone)
                try bench.phone.finish()
            }
            #expect(throws: ATTError.outOfRange) {
                try serial.write(
                    name, [0x41, 0x0A], by: BluetoothBench.iPad, now: bench.now, bench.phone)
                try bench.phone.finish()
            }
            #expect(serial.advertisedName == "Turm")
            let second = try BluetoothBench(directory, ["rbl.role=loopback"])
            #expect(second.services[1].advertisedName == "Turm")
            let read = try second.services[1].read(
                baud, by: BluetoothBench.iPad, now: second.now)
            #expect(read == Array("BAUD_19200".utf8))
            #expect(try BluetoothBench(directory).services.count == 2)
            #expect(try BluetoothBench(directory, ["rbl.role=off"]).services.count == 1)
        }
    }
}
