import SystemPackage
import Testing

@testable import Recording

@Suite("Events of a recording") struct FlightSeriesTests {
    /// Events of a recording that contains these requests at these times, s.
    private func events(_ requests: [(String, Double)]) throws -> [FlightSeries.Event] {
        var builder = MCAPChunkBuilder()
        for (name, time) in requests {
            let message = CommandMessage(other: "{\"\(name)\":{}}")
            builder.add(channel: FlightChannels.command, sequence: 1, time: Int64(time * 1e9)) {
                message.write(to: &$0)
            }
        }
        let bytes = FlightRig.file([builder.seal()])
        return FlightSeries(try FlightFile(bytes: bytes, path: "made-up.mcap")).events
    }

    @Test("a repeated request is one event with the number of its requests and its end")
    func repetition() throws {
        let rates: [(String, Double)] = (0...300).map { ("rate", Double($0) * 0.05) }
        let found = try events(rates + [("mode", 16.0), ("rate", 17.0)])
        #expect(found.map(\.name) == ["rate", "mode", "rate"])
        #expect(found.map(\.count) == [301, 1, 1])
        #expect(found.map { $0.time.rounded() } == [0, 16, 17])
        #expect(found.map { $0.end.rounded() } == [15, 16, 17])
    }

    @Test("two requests that are repeated at the same time are two events")
    func alternation() throws {
        let times = (0..<20).map { Double($0) * 0.1 }
        let requests: [(String, Double)] = times.flatMap { [("rate", $0), ("drive", $0)] }
        let found = try events(requests)
        #expect(found.map(\.name) == ["rate", "drive"])
        #expect(found.map(\.count) == [20, 20])
    }
}
