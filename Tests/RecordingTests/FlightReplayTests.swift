import GimbalCore
import Realtime
import Simulation
import SystemPackage
import Testing

@testable import Recording

@Suite("Replay of a flight recording") struct FlightReplayTests {
    private static func report(
        _ bytes: [UInt8],
        change: (@Sendable (Stabilizer.Parameters) -> Stabilizer.Parameters)? = nil
    ) throws -> FlightReplay.Report {
        FlightReplay(try FlightFile(bytes: bytes, path: "rig.mcap"), change: change).run()
    }

    /// Recording of four seconds; the tuning is published again after three seconds. The first
    /// state is missing, so the replay begins in mid-flight.
    private static func midFlight(_ layout: OtherLayout) throws -> FlightFile {
        var rig = FlightRig(.walking)
        rig.layout = layout
        rig.run(3)
        rig.loop.tuning.publish(FlightRig.tuning())
        rig.run(1)
        return try FlightFile(
            bytes: FlightRig.file(rig.chunks.dropFirst(3), memory: layout.attachments),
            path: "rig.mcap")
    }

    @Test(
        "the replay reproduces outputs, attitude and supervisor bit for bit, even after requests and new tuning",
        arguments: [MotorType.torque, .servo, .field])
    func identical(motor: MotorType) throws {
        var rig = FlightRig(.walking, motor: motor)
        rig.run(3)
        rig.loop.ask(.point(target: AxisVector(yaw: 0.3, roll: 0, pitch: -0.4), duration: 0.5))
        rig.run(1)
        var tuning = FlightRig.tuning(motor)
        tuning.controller.attitudeGain = tuning.controller.attitudeGain * 0.7
        tuning.supervisor.softStartSeconds = 0.2
        rig.loop.tuning.publish(tuning)
        rig.loop.ask(
            .rate(
                AxisVector(yaw: 0.5, roll: 0, pitch: 0)),
            validUntil: rig.now.advanced(bySeconds: 0.3))
        rig.run(1)
        rig.loop.ask(.emergencyStop)
        rig.run(0.3)
        rig.loop.ask(.resetEmergencyStop)
        rig.loop.ask(.mode(.locked))
        rig.run(1)
        let report = try Self.report(rig.file())
        #expect(report.firstDifference == nil)
        #expect(report.ticks == 6300)
        #expect(report.isIdentical)
        #expect(report.skippedTicks == 0)
    }

    @Test("a recording without its first state is replayed from the next complete state")
    func midFlight() throws {
        var rig = FlightRig(.walking)
        rig.run(6)
        // Drops the first chunks. The ticks before the next recorded state cannot be replayed.
        let odd = rig.chunks.dropFirst(5)
        let report = try Self.report(FlightRig.file(odd))
        #expect(report.isIdentical)
        #expect(report.ticks >= 2000)
        #expect(report.skippedTicks < 1000)
    }

    @Test("a pause in reading the replay log leaves a gap, and the replay continues after the gap")
    func gap() throws {
        var rig = FlightRig(.walking, replayLogBytes: 1 << 18)
        rig.run(3)
        rig.run(2, isHeard: false)
        rig.listen()
        rig.run(2.5)
        let file = try FlightFile(bytes: rig.file(), path: "rig.mcap")
        var gaps: [String] = []
        let report = FlightReplay(file).run()
        file.read { record, _ in
            if case .event(let event) = record, event.word == "gap" { gaps.append(event.what) }
            return true
        }
        #expect(gaps.count == 1)
        #expect(report.isIdentical)
        #expect(report.ticks < 7500)
        #expect(report.ticks > 5000)
    }

    @Test(
        "changed parameters change the outputs, and the report names the first difference from the recording"
    )
    func changed() throws {
        var rig = FlightRig(.walking)
        rig.run(4)
        let bytes = rig.file()
        let report = try Self.report(bytes) { parameters in
            var parameters = parameters
            parameters.controller.attitudeGain = parameters.controller.attitudeGain * 0.5
            return parameters
        }
        #expect(!report.isIdentical)
        #expect(report.firstDifference?.contains("outputs differ") == true)
        #expect(report.largestTorqueDifference > 1e-4)
        // The replay uses the recorded motion of the camera, so the attitude hardly changes.
        #expect(report.largestAttitudeDifference < 1e-2)
    }

    @Test("a recording of another version with another memory layout is replayed bit for bit")
    func otherLayout() throws {
        let file = try Self.midFlight(OtherLayout())
        let report = FlightReplay(file).run()
        #expect(report.missingVariables == 0)
        #expect(report.isIdentical)
        #expect(report.ticks >= 1500)
        let parameters = FlightReplay.parameters(in: file, fallback: Stabilizer.Parameters())
        #expect(parameters == [FlightRig.tuning()])
    }

    @Test("a recording without the controller's variables still replays the attitude")
    func fewerVariables() throws {
        let file = try Self.midFlight(OtherLayout { !$0.hasPrefix("drive.") })
        let report = FlightReplay(file).run()
        #expect(report.missingVariables > 0)
        #expect(report.firstDifference != nil)
        #expect(report.largestAttitudeDifference < 1e-4)
    }

    @Test(
        "a file with a missing or invalid memory layout is not replayed",
        arguments: [nil, "", "8\n0\t9\tDouble\tx\n", "8\n-1\t4\tFloat\tx\n", "8\n0\t8\tDouble\n"])
    func noMap(text: String?) throws {
        var rig = FlightRig(.still)
        rig.run(1.5)
        let memory = RecordedMemory.attachments(time: 0).map { attachment in
            var attachment = attachment
            attachment.data = Array((text ?? "").utf8)
            return attachment
        }
        let bytes = FlightRig.file(rig.chunks[...], memory: text == nil ? [] : memory)
        let report = try Self.report(bytes)
        #expect(report.ticks == 0)
        #expect(report.remarks.first?.contains("layout") == true)
    }

    @Test("the variables of the stabilizer have unique names and do not overlap in memory")
    func memoryMap() throws {
        let map = MemoryMap.stabilizer
        var taken = [Bool](repeating: false, count: map.size)
        for field in map.fields {
            for byte in field.offset..<field.offset + field.size {
                #expect(!taken[byte], "\(field.path) overlaps")
                taken[byte] = true
            }
        }
        #expect(Set(map.fields.map(\.path)).count == map.fields.count)
        #expect(MemoryMap(text: map.text) == map)
        // The other bytes are padding between variables of different sizes.
        #expect(Double(taken.count { $0 }) / Double(map.size) > 0.7)
    }

    @Test("the recorder detects a fault within 10 ms")
    func faults() throws {
        var rig = FlightRig(.still)
        rig.run(2)
        #expect(rig.faults.isEmpty)
        rig.loop.ask(.emergencyStop)
        rig.run(0.01)
        #expect(rig.faults.intersects(.emergencyStop))
    }
}
