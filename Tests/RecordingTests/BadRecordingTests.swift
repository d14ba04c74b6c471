import GimbalCore
import SystemPackage
import Testing

@testable import Recording

@Suite("Damaged recordings, foreign files and newer formats") struct BadRecordingTests {
    private static let whole: [UInt8] = {
        var rig = FlightRig(.still)
        rig.run(2.2)
        return rig.file()
    }()

    private static func outcome(_ bytes: [UInt8]) throws -> (ticks: Int, MCAPReader.Outcome) {
        var ticks = 0
        let outcome = try FlightFile(bytes: bytes, path: "a.mcap").read { record, _ in
            if case .tick = record { ticks += 1 }
            return true
        }
        return (ticks, outcome)
    }

    @Test("a complete file produces no remarks")
    func complete() throws {
        let (ticks, outcome) = try Self.outcome(Self.whole)
        #expect(ticks == 2200)
        #expect(outcome.isComplete)
        #expect(outcome.remarks.isEmpty)
    }

    @Test("a truncated file is read up to the last complete chunk, with one remark about the loss")
    func truncated() throws {
        var last = Int.max
        var partial = 0
        for share in stride(from: 0.99, to: 0.3, by: -0.03) {
            let cut = Array(Self.whole.prefix(Int(share * Double(Self.whole.count))))
            let (ticks, outcome) = try Self.outcome(cut)
            #expect(ticks <= last)
            #expect(!outcome.isComplete)
            #expect(outcome.remarks.count == 1)
            if ticks > 0, ticks < 2200 { partial += 1 }
            last = ticks
        }
        #expect(partial > 5)
    }

    @Test("a chunk with a flipped bit is skipped, and the other chunks are read")
    func flipped() throws {
        var partial = 0
        for share in stride(from: 0.3, to: 0.7, by: 0.05) {
            var bytes = Self.whole
            bytes[Int(share * Double(bytes.count))] ^= 0x10
            let (ticks, outcome) = try Self.outcome(bytes)
            #expect(ticks > 1000)
            // A chunk can be read without the index that follows the chunk.
            #expect(outcome.remarks.count == (ticks < 2200 ? 1 : 0))
            if ticks < 2200 { partial += 1 }
        }
        #expect(partial >= 6)
    }

    @Test("a wrong byte at any position does not crash the reader")
    func anyByte() throws {
        var rig = FlightRig(.still)
        rig.run(0.3)
        let good = rig.file()
        for place in stride(from: 0, to: good.count, by: good.count / 150) {
            var bytes = good
            bytes[place] = ~bytes[place]
            _ = try? Self.outcome(bytes)
        }
    }

    @Test("a file that is not MCAP is refused, and the error contains its first bytes")
    func foreign() {
        #expect(throws: FlightFileError.notMCAP(path: "a", beginning: Array("IMU1".utf8))) {
            _ = try FlightFile(bytes: Array("IMU1".utf8), path: "a")
        }
        #expect(throws: FlightFileError.notMCAP(path: "a", beginning: [])) {
            _ = try FlightFile(bytes: [], path: "a")
        }
    }

    @Test(
        "an MCAP file of another program, of another MCAP version, or of a newer recorder is refused"
    )
    func newer() {
        var assembler = MCAPAssembler(channels: [])
        var bytes = assembler.begin(library: "somebody")
        bytes += assembler.finish()
        #expect(throws: FlightFileError.notOurs(path: "a")) {
            _ = try FlightFile(bytes: bytes, path: "a")
        }
        bytes[5] = 0x31
        #expect(throws: FlightFileError.unknownVersion(path: "a", version: 0x31)) {
            _ = try FlightFile(bytes: bytes, path: "a")
        }
        let newer = FlightRig.file([], metadata: ["format": "2", "version": "9.0.0"])
        #expect(throws: FlightFileError.newerFormat(path: "a", format: 2, version: "9.0.0")) {
            _ = try FlightFile(bytes: newer, path: "a")
        }
    }
}
