import SystemPackage
import Testing

@testable import Recording

@Suite("Tables of a recording as comma-separated values") struct FlightTableTests {
    private static func table(
        _ channel: FlightTable.Channel, of chunks: [MCAPChunk]
    ) throws -> [Substring] {
        var text: [UInt8] = []
        let file = try FlightFile(bytes: FlightRig.file(chunks[...]), path: "made-up.mcap")
        _ = FlightTable.write(channel, of: file) { (lines: [UInt8]) throws(Never) in text += lines }
        return String(decoding: text, as: UTF8.self).split(separator: "\n")
    }

    @Test(
        "a channel without messages has only the line with the names of its columns",
        arguments: FlightTable.Channel.allCases)
    func empty(channel: FlightTable.Channel) throws {
        let lines = try Self.table(channel, of: [])
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("time_ns,tick,") == true, "\(lines)")
    }

    @Test(
        "every column of a table has a name of its own", arguments: FlightTable.Channel.allCases)
    func names(channel: FlightTable.Channel) throws {
        let header = try #require(try Self.table(channel, of: []).first)
        let names = header.split(separator: ",")
        #expect(Set(names).count == names.count, "\(header)")
    }

    @Test(
        "one underscore separates the words of a column's name",
        arguments: FlightTable.Channel.allCases)
    func words(channel: FlightTable.Channel) throws {
        let header = try #require(try Self.table(channel, of: []).first)
        #expect(!header.contains("__"), "\(header)")
    }

    @Test("quotation marks in a text are doubled")
    func quotationMarks() throws {
        var builder = MCAPChunkBuilder()
        let form = #"{"lights":{"on":"","level":2}}"#
        let message = CommandMessage(other: form)
        builder.add(channel: FlightChannels.command, sequence: 1, time: 5) {
            message.write(to: &$0)
        }
        let lines = try Self.table(.command, of: [builder.seal()])
        let line = try #require(lines.last)
        #expect(lines.count == 2)
        #expect(line.hasPrefix("5,"))
        #expect(line.contains(#","{""lights"":{""on"":"""",""level"":2}}""#), "\(line)")
    }
}
