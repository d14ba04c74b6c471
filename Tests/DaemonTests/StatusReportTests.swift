import Configuration
import FoundationEssentials
import GimbalCore
import Glibc
import Port
import Realtime
import Testing
import Wire

@testable import Daemon
@testable import Observables
@testable import Policy

@Suite("Status from a record of the loop") struct StatusReportTests {
    private func status(
        of record: TelemetryRecord?, _ settings: Settings = Settings()
    ) throws -> Status {
        let commander = Commander.idle()
        var status = Status()
        StatusReport(
            view: record.map { .init(record: $0, tickRate: 1000, sampleRate: 999) },
            control: commander.view(now: Instant(seconds: 10)), settings: settings,
            now: Instant(seconds: 10)
        ).fill(&status)
        return try StatusReply(status, record).decoded()
    }

    @Test("before the first tick, the state is starting, and numbers are unknown")
    func beforeTheFirstTick() throws {
        let status = try status(of: nil)
        #expect(status.state == "starting")
        #expect(status.mode == "locked")
        #expect(status.attitude.pitchDeg.known == nil)
        #expect(status.loop.achievedHz.known == nil)
        #expect(!status.isEnabled)
    }

    @Test("before the first sample, measured values are unknown, also for the checks of doctor")
    func beforeTheFirstSample() throws {
        let status = try status(of: .at(9, .imuMissing))
        #expect(status.inhibitions.map(\.name) == ["imu_missing"])
        #expect(status.attitude == AttitudeStatus())
        #expect(status.setpointDeg == AxisNumbers() && status.errorDeg == AxisNumbers())
        #expect(status.rateDps == AxisNumbers() && status.joints.angleDeg == AxisNumbers())
        #expect(status.imu.gyroDps == VectorNumbers() && status.imu.accelMS2 == VectorNumbers())
        #expect(StatusDoctor.attitude(status).finding == "not known")
        // An accelerometer without a reading is not a wrong chip.
        #expect(StatusDoctor.accelerometer(status) == nil)
    }

    @Test("angles are in degrees; pitch up and yaw to the right are positive")
    func angles() throws {
        // A rotation by 30° about y (right) is pitch up; the quaternion contains half of the angle.
        let half = 15 * Double.pi / 180
        let status = try status(
            of: .at(9.999, enabled: true) { snapshot in
                snapshot.mode = .locked
                snapshot.phase = .active
                snapshot.attitude = Quaternion(w: cos15, x: 0, y: sin15, z: 0)
                snapshot.rate = Vector3(0, 0, 1)
                snapshot.attitudeError = Vector3(half, 0, 0)
                snapshot.sampleTime = Instant(seconds: 9.998)
                snapshot.samples.accepted = 7
            })
        #expect(abs(status.attitude.pitchDeg.value - 30) < 1e-9)
        #expect(abs(status.rateDps.yaw.value - 180 / .pi) < 1e-9)
        #expect(abs(status.errorDeg.roll.value - 15) < 1e-9)
        #expect(status.isEnabled)
        #expect(status.state == "running")
        #expect(abs(status.imu.ageMs.value - 1) < 1e-3)
        #expect(status.t.value == 10)
    }

    @Test("the remedy for an error on the CAN bus names the configured interface")
    func canInterface() throws {
        var settings = Settings()
        settings.hardware.linux.canInterface = "can1"
        var record = TelemetryRecord.at(9.999)
        record.counters.lastBusError = BusError(
            operation: .write, device: .can, address: 1, code: ENETDOWN)
        let remedy = try #require(try status(of: record, settings).faults.remedy)
        #expect(remedy.contains("ip link set can1 up"), "\(remedy)")
    }

    @Test("two buses that fail are both named, each with its remedy")
    func twoBuses() throws {
        var record = TelemetryRecord.at(9.999)
        record.counters.lastBusError = BusError(
            operation: .write, device: .gpio, address: 17, code: EACCES)
        var faults = try status(of: record).faults
        #expect(faults.lastError?.contains("GPIO line 17") == true)
        #expect(faults.remedy?.contains("group gpio") == true)
        record.counters.furtherBusError = BusError(operation: .read, address: 0x68, code: EACCES)
        faults = try status(of: record).faults
        for text in ["GPIO line 17", "device 0x68"] {
            #expect(faults.lastError?.contains(text) == true, "\(text)")
        }
        for text in ["group gpio", "group i2c"] {
            #expect(faults.remedy?.contains(text) == true, "\(text)")
        }
    }

    private let cos15 = 0.9659258262890683
    private let sin15 = 0.25881904510252074

    @Test("status shows a reduction of the corner frequencies, unless the motors are servos")
    func bandwidth() throws {
        let torque = try status(
            of: .at(1) { snapshot in
                snapshot.samples.accepted = 1
                snapshot.inertia = AxisVector(repeating: 1e-3)
                snapshot.bandwidth = 0.49
            })
        #expect(abs(torque.motors.bandwidthPercent.value - 49) < 1e-9)
        let servo = try status(of: .at(1) { $0.samples.accepted = 1 })
        #expect(servo.motors.bandwidthPercent.known == nil)
    }

    @Test("each variable is in its declared place, and unknown before the first tick")
    func places() throws {
        let record = TelemetryRecord.at(1) {
            $0.samples.accepted = 1
            $0.lever = Vector3(0.5, 0, -0.25)
        }
        for (record, expected) in [(nil, nil), (record, [0.5, 0, -0.25])] {
            let reply = try JSONEncoder().encode(StatusReply(Status(), record))
            let json = try JSONValue(parsing: Array(reply))
            for member in Observable.all.compactMap(\.member) {
                let group = member.group.map { json[$0] } ?? json
                #expect(group?[member.name] != nil, "\(member.name)")
            }
            let lever = json["estimator"]?["lever_m"]
            #expect(["x", "y", "z"].map { lever?[$0]?.number } == expected ?? [nil, nil, nil])
            // Properties of `Status` and variables are in the same JSON object.
            #expect(json["estimator"]?["isConverged"] == false)
        }
    }

    @Test(
        "conditions that prevent motion are listed with the most severe first, separately from notices"
    )
    func conditions() throws {
        let status = try status(
            of: .at(9, .inactiveMode | .emergencyStop | .motorSaturated | .estimateNotConverged))
        #expect(
            status.inhibitions.map(\.name)
                == ["emergency_stop", "estimate_not_converged", "inactive_mode"])
        #expect(status.notices.map(\.name) == ["motor_saturated"])
        #expect(!status.estimator.isConverged)
    }

    @Test(
        "a lost client has disconnected, or has sent nothing for a time of at least a tenth of a second",
        arguments: [
            (0.35, false, "has sent nothing for 0.4 s"), (12, false, "has sent nothing for 12.0 s"),
            (0.02, true, "has disconnected"),
        ])
    func loss(silence: Double, hasDisconnected: Bool, cause: String) {
        let source = CommandSource(link: .airos, connection: 2)
        let loss = ControlState.Loss(
            source: source, stage: .hold, silence: silence, hasDisconnected: hasDisconnected)
        let sentence = StatusReport.words(loss)
        #expect(sentence == "\(source) \(cause); the camera keeps its attitude")
    }

    @Test("overruns are the sum of both threads, and a sample that never arrived has no age")
    func counters() throws {
        var record = TelemetryRecord.at(9)
        record.tick = 41
        record.counters.loopOverruns = 2
        record.counters.busOverruns = 3
        record.counters.telemetryDropped = 4
        let status = try status(of: record)
        #expect(status.loop.ticks == 42)
        #expect(status.loop.overruns == 5)
        #expect(status.faults.telemetryDrops == 4)
        #expect(status.imu.ageMs.known == nil)
    }
}
