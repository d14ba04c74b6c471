import Configuration
import GimbalCore
import Links
import Policy
import Port
import Realtime
import Simulation
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Daemon

@Suite("AirOS: modes, stop, calibration and other commands") struct AirOSCommandTests {
    @Test(
        "reads return the actual values before the first write, and no angle before the first sample"
    )
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

    @Test("a written mode takes effect at once, and can be read back", arguments: 0...4)
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

    @Test(
        "a mode that needs joint angles is refused without them; the mode inactive is always accepted"
    )
    func missingJoints() throws {
        try withTemporaryDirectory { directory in
            let bench = try BluetoothBench(directory, ["airos.inactive=neutral"], encoders: false)
            bench.run(0.1)
            #expect(throws: ATTError.notNow) { try bench.write(.mode, [3]) }
            #expect(bench.log.contains("follows the handle, but the joint angles are unknown"))
            #expect(try bench.read(.mode) == [1])
            try bench.write(.mode, [0])
            #expect(bench.door.mode == .inactive)
        }
    }

    @Test("with airos.inactive = neutral, inactive selects the mode neutral, and reads as inactive")
    func neutral() throws {
        try withBench(["airos.inactive=neutral"]) { bench, _ throws in
            bench.run(0.1)
            try bench.write(.mode, [0])
            #expect(bench.door.mode == .neutral)
            #expect(try bench.read(.mode) == [0] && bench.read(.status) == [0])
        }
    }

    @Test("an app cannot reset a latched emergency stop")
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

    @Test("all services have the same advertised name by default")
    func oneName() throws {
        try withBench { bench, _ throws in
            #expect(bench.services.count == 2)
            #expect(Set(bench.services.map(\.advertisedName)) == ["AirOS Gimbal"])
        }
    }

    @Test(
        "calibrate measures the gyroscope's offset with the motors off, and the status shows the calibration"
    )
    func calibrate() throws {
        try withBench { bench, directory throws in
            try bench.start()
            try bench.say("calibrate")
            #expect(try bench.read(.status) == [1])
            #expect(throws: ATTError.notNow) { try bench.say("calibrate") }
            bench.run(0.5)
            #expect(!bench.snapshot.output.enabled)
            let seconds = bench.run(until: { !bench.calibration.progress.isRunning }, atMost: 20)
            #expect(try #require(seconds) < 10)
            #expect(try bench.read(.status) == [2])
            #expect(bench.log.contains("The gyro was calibrated."))
            let second = try BluetoothBench(directory)
            #expect(second.calibration.status().saved.map(\.what) == ["gyro"])
            bench.run(2)
            #expect(bench.snapshot.output.enabled)
        }
    }

    @Test("a failed calibration is shown in the status, and its reason is in the log")
    func calibrationRefused() throws {
        try withBench(motion: .walking) { bench, _ throws in
            bench.run(6)
            try bench.say("calibrate")
            let seconds = bench.run(until: { !bench.calibration.progress.isRunning }, atMost: 20)
            #expect(seconds != nil)
            #expect(bench.log.contains("The gyro was not calibrated. The camera was never still"))
            #expect(try bench.read(.status) == [6], "the phone reads the failure")
            bench.run(2.1)
            #expect(try bench.read(.status) == [2])
        }
    }

    @Test(
        "a calibration ends when its own phone disconnects, but not when another phone disconnects"
    )
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
        "reset_yaw sets the reported heading to 0, force_decay reduces it by a tenth; the camera does not turn"
    )
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
            #expect(
                bench.log.contains("receives is 0.0°, the estimated heading is 28."),
                "\(bench.log)")
            bench.run(1)
            #expect(abs(bench.camera.yaw - camera.yaw) < 0.05)
            // The heading offset does not apply to a new estimate.
            bench.restartLoop()
            bench.run(0.1)
            #expect(try abs(bench.angle(.yaw)) < 0.3)
        }
    }

    @Test("reset_pid resets the integrals, and requires control")
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

    @Test(
        "the serial service is available with a role, and keeps its name and speed after a restart"
    )
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
