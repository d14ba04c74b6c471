import GimbalCore
import Port
import Synchronization
import Testing
import Wire

@testable import Links

@Suite("MAVLink over the Bluetooth serial service") struct FlightDisplayRoleTests {
    private let station = MAVLinkAddress(system: 255, component: 190)
    private let gimbal = FakePort()
    private let role: FlightDisplayRole

    init() {
        role = FlightDisplayRole(
            configuration: MAVLinkConfiguration(), port: gimbal, attitudeHz: 20,
            logger: LineLog().logger, now: at(0))
    }

    /// Frame of the station with a command to the gimbal.
    private func frame(
        _ number: MAVLinkCommand, _ first: Float, _ second: Float = 0
    ) -> [UInt8] {
        var command = CommandLong()
        command.command = number.rawValue
        command.params = [first, second, 0, 0, 0, 0, 0]
        command.target = MAVLinkAddress(system: 1, component: 154)
        return command.frame(from: station, sequence: 0, version: .v1)
    }

    @Test("requests of a flight display come from the link `rbl`, and end with the connection")
    func displayLink() {
        var output = SerialOutput(capacity: 100_000)
        role.receive(frame(.armDisarm, 1), from: .iPad, now: at(1), &output)
        let source = CommandSource(station, link: .rbl)
        #expect(source.description == "rbl client 255/190")
        #expect(gimbal.memory.withLock { $0.owner } == source)
        // Another phone that used the same IDs before does not end the control.
        role.receive(
            Heartbeat().frame(from: station, sequence: 0, version: .v1), from: .iPhone,
            now: at(1.1), &output)
        role.receive(
            Heartbeat().frame(from: station, sequence: 1, version: .v1), from: .iPad,
            now: at(1.2), &output)
        role.disconnected(.iPhone, now: at(1.3))
        #expect(gimbal.memory.withLock { $0.gone }.isEmpty)
        role.disconnected(.iPad, now: at(1.5))
        #expect(gimbal.memory.withLock { $0.gone } == [source])
        // The end of a connection without control has no effect.
        role.disconnected(.iPad, now: at(1.6))
        #expect(gimbal.memory.withLock { $0.gone }.count == 1)
    }

    @Test("a phone cannot use the control of another phone that has the same IDs")
    func sameIDs() {
        var output = SerialOutput(capacity: 100_000)
        role.receive(frame(.armDisarm, 1), from: .iPad, now: at(1), &output)
        #expect(gimbal.takeRequests() == [.take, .mode(.locked)])
        role.receive(frame(.armDisarm, 0), from: .iPhone, now: at(2), &output)
        #expect(gimbal.takeRequests().isEmpty)
        // After the first phone has left, the IDs belong to the other phone.
        role.disconnected(.iPad, now: at(3))
        role.receive(frame(.armDisarm, 0), from: .iPhone, now: at(4), &output)
        #expect(gimbal.takeRequests() == [.take, .mode(.inactive)])
    }

    @Test("the report that a phone has disconnected is not sent to a later subscriber")
    func discard() {
        var output = SerialOutput(capacity: 100_000)
        role.receive(frame(.armDisarm, 1), from: .iPad, now: at(1), &output)
        output.clear()
        role.disconnected(.iPad, now: at(2))
        role.discard()
        role.receive([], from: .iPhone, now: at(3), &output)
        #expect(output.count == 0)
    }

    @Test("a whole frame with an emergency stop is recognised before it is executed")
    func stop() {
        let stop = frame(.flightTermination, 1)
        #expect(role.isEmergencyStop(stop))
        #expect(!role.isEmergencyStop(Array(stop.dropLast())))
        #expect(!role.isEmergencyStop(frame(.flightTermination, 0)))
        #expect(gimbal.takeRequests().isEmpty)
    }

    @Test("a stop in one write is executed immediately, even after an incomplete frame")
    func stopAfterPart() {
        var output = SerialOutput(capacity: 100_000)
        // The beginning of a frame with 255 bytes of payload.
        role.receive([0xFD, 255, 0, 0], from: .iPad, now: at(1), &output)
        role.receive(frame(.flightTermination, 1), from: .iPad, now: at(2), &output)
        #expect(gimbal.takeRequests() == [.emergencyStop])
    }

    /// Frames in the output ten seconds after `start`, s.
    private func sentFrames(
        from start: Double, _ output: inout SerialOutput
    ) -> [MAVLinkFrame] {
        var now = at(start)
        while now < at(start + 10), let next = role.advance(now: now, &output) {
            now = max(next, now.advanced(bySeconds: 1e-4))
        }
        var parser = MAVLinkParser()
        parser.append(output.next(100_000))
        var frames: [MAVLinkFrame] = []
        while let item = parser.next() {
            if case .frame(let frame, _) = item {
                frames.append(frame)
            } else {
                Issue.record("\(item)")
            }
        }
        return frames
    }

    @Test("a flight display gets only messages of MAVLink version 1, regardless of its requests")
    func display() {
        var output = SerialOutput(capacity: 100_000)
        role.receive(frame(.requestMessage, 285), from: .iPad, now: at(0), &output)
        let frames = sentFrames(from: 0, &output)
        let counts = Dictionary(grouping: frames, by: \.id).mapValues(\.count)
        #expect(frames.allSatisfy { $0.version == .v1 })
        #expect(counts[0] == 10)
        #expect(abs((counts[30] ?? 0) - 200) <= 1)
        #expect(abs((counts[74] ?? 0) - 100) <= 1)
        #expect(counts[77] == 1)
    }

    @Test("the interval 0 selects the display's own default interval of attitude messages")
    func defaultInterval() {
        var output = SerialOutput(capacity: 100_000)
        role.receive(frame(.setMessageInterval, 30, 1e6), from: .iPad, now: at(0), &output)
        let slow = sentFrames(from: 0, &output).count { $0.id == 30 }
        #expect(abs(slow - 10) <= 1)
        role.receive(frame(.setMessageInterval, 30, 0), from: .iPad, now: at(10), &output)
        let usual = sentFrames(from: 10, &output).count { $0.id == 30 }
        #expect(abs(usual - 200) <= 1)
    }

    @Test("intervals that phones have set end when the last of these phones disconnects")
    func intervalsEnd() {
        var output = SerialOutput(capacity: 100_000)
        role.receive(frame(.setMessageInterval, 30, -1), from: .iPad, now: at(0), &output)
        role.receive([], from: .iPhone, now: at(0), &output)
        role.disconnected(.iPhone, now: at(0))
        let disabled = sentFrames(from: 0, &output).count { $0.id == 30 }
        #expect(disabled == 0)
        role.disconnected(.iPad, now: at(10))
        let usual = sentFrames(from: 10, &output).count { $0.id == 30 }
        #expect(abs(usual - 200) <= 1)
    }
}
