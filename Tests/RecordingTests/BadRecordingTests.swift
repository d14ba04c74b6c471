import GimbalCore
import SystemPackage
import Testing

@testable import Recording

@Suite("Recordings that are damaged, foreign or newer") struct BadRecordingTests {
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

    @Test("a whole file has no remarks")
    func complete() throws {
        let (ticks, outcome) = try Self.outcome(Self.whole)
        #expect(ticks == 2200)
        #expect(outcome.isComplete)
        #expect(outcome.remarks.isEmpty)
    }

    @Test("cut off anywhere, what is before the cut is kept, and the loss has one sentence")
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

    @Test("a chunk with a flipped bit is left out, the others are kept")
    func flipped() throws {
        var partial = 0
        for share in stride(from: 0.3, to: 0.7, by: 0.05) {
            var bytes = Self.whole
            bytes[Int(share * Double(bytes.count))] ^= 0x10
            let (ticks, outcome) = try Self.outcome(bytes)
            #expect(ticks > 1000)
            // The index behind a chunk is not needed to read it.
            #expect(outcome.remarks.count == (ticks < 2200 ? 1 : 0))
            if ticks < 2200 { partial += 1 }
        }
        #expect(partial >= 6)
    }

    @Test("any byte may be wrong: nothing traps")
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

    @Test("something else is named with how it begins")
    func foreign() {
        #expect(throws: FlightFileError.notMCAP(path: "a", beginning: Array("IMU1".utf8))) {
            _ = try FlightFile(bytes: Array("IMU1".utf8), path: "a")
        }
        #expect(throws: FlightFileError.notMCAP(path: "a", beginning: [])) {
            _ = try FlightFile(bytes: [], path: "a")
        }
    }

    @Test("an MCAP file of somebody else, of another version, and of a newer recorder")
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
