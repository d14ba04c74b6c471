import GimbalCore
import Realtime
import SystemPackage
import Testing

@testable import Recording

@Suite("Events of a recording") struct FlightSeriesTests {
    /// Events of a recording that contains these commands at these times, s.
    private func events(_ commands: [(TimedCommand, Double)]) throws -> [FlightSeries.Event] {
        var builder = MCAPChunkBuilder()
        for (command, time) in commands {
            let message = CommandMessage(tick: 0, command)
            builder.add(channel: FlightChannels.command, sequence: 1, time: Int64(time * 1e9)) {
                message.write(to: &$0)
            }
        }
        let bytes = FlightRig.file([builder.seal()])
        return FlightSeries(try FlightFile(bytes: bytes, path: "made-up.mcap")).events
    }

    private let rate = TimedCommand(.rate(.zero), validUntil: Instant(nanoseconds: 1))
    private let track = TimedCommand(.track(pan: 0, tilt: 0), validUntil: Instant(nanoseconds: 1))

    @Test("a repeated request is one event with the number of its requests and its end")
    func repetition() throws {
        let rates = (0...300).map { (rate, Double($0) * 0.05) }
        let found = try events(rates + [(TimedCommand(.mode(.locked)), 16), (rate, 17)])
        #expect(found.map(\.name) == ["rate", "mode", "rate"])
        #expect(found.map(\.count) == [301, 1, 1])
        #expect(found.map { $0.time.rounded() } == [0, 16, 17])
        #expect(found.map { $0.end.rounded() } == [15, 16, 17])
    }

    @Test("two requests that are repeated at the same time are two events")
    func alternation() throws {
        let times = (0..<20).map { Double($0) * 0.1 }
        let found = try events(times.flatMap { [(rate, $0), (track, $0)] })
        #expect(found.map(\.name) == ["rate", "track"])
        #expect(found.map(\.count) == [20, 20])
    }

    @Test("the angles that an autopilot sends continuously are one event")
    func angles() throws {
        let point = TimedCommand(.point(target: .zero, duration: 0, rate: 0))
        #expect(try events((0..<50).map { (point, Double($0) * 0.1) }).map(\.count) == [50])
    }

    @Test("commands that clients do not repeat keep their order")
    func order() throws {
        let stop = TimedCommand(.emergencyStop)
        let found = try events([(stop, 1), (TimedCommand(.resetEmergencyStop), 1.2), (stop, 1.4)])
        #expect(found.map(\.name) == ["emergency_stop", "reset_emergency_stop", "emergency_stop"])
    }
}
