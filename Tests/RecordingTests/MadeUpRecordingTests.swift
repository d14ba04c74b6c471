import GimbalCore
import Realtime
import Simulation
import SystemPackage
import Testing

@testable import Recording

@Suite("Recordings with invalid bytes") struct MadeUpRecordingTests {
    private enum Small: UInt8, BitwiseCopyable { case a = 3, b = 7, c = 9 }
    private enum Full: BitwiseCopyable {
        case nothing
        case number(Double)
        case inner(Small)
        case pair(Bool, Int)
        case less
    }
    private struct Parts: BitwiseCopyable {
        var flag: Bool?
        var small: Small?
        var full: Full
        var list: InlineArray<3, Small>
        var time: Instant?
    }

    /// Description of the value that these bytes represent; nil if they are not a valid value.
    private func reads<Value>(_ bytes: [UInt8], as type: Value.Type) -> String? {
        withUnsafeTemporaryAllocation(
            byteCount: max(1, MemoryLayout<Value>.size), alignment: MemoryLayout<Value>.alignment
        ) { room in
            room.copyBytes(from: bytes)
            guard let start = room.baseAddress, BytePattern.isValue(start, of: type) else {
                return nil
            }
            return "\(start.assumingMemoryBound(to: type).pointee)"
        }
    }

    private func bytes<Value>(of value: Value) -> [UInt8] {
        withUnsafeBytes(of: value) { Array($0) }
    }

    @Test("for a type of one byte, exactly the bytes that represent one of its values are valid")
    func counts() {
        func values<Value>(_ type: Value.Type) -> [String] {
            (0...255).compactMap { reads([UInt8($0)], as: type) }
        }
        #expect(values(Bool.self) == ["false", "true"])
        #expect(values(Small.self) == ["a", "b", "c"])
        #expect(values(Bool?.self).count == 3)
        #expect(values(Small?.self).count == 4)
        #expect(values(Small??.self).count == 5)
        #expect(values(Mode.self).count == Mode.allCases.count)
        #expect(values(UInt8.self).count == 256)
    }

    @Test("every case of an enum is valid with each of its values, and other bytes are invalid")
    func cases() {
        let all: [Full] = [.nothing, .number(.nan), .inner(.c), .pair(true, 5), .less]
        for one in all { #expect(reads(bytes(of: one), as: Full.self) == "\(one)") }
        var accepted = 0
        for tag in 0...255 {
            for payload in [0, 1, 2, 3, 200] as [UInt8] {
                var raw = [UInt8](repeating: 0, count: MemoryLayout<Full>.size)
                raw[0] = payload
                raw[raw.count - 1] = UInt8(tag)
                guard let text = reads(raw, as: Full.self) else { continue }
                accepted += 1
                #expect(!text.contains("invalid"))
            }
        }
        // 5 values of `number`, 3 of `inner`, 2 of `pair`, and the 2 cases without a value.
        #expect(accepted == 5 + 3 + 2 + 2, "\(accepted)")
        #expect(reads(bytes(of: Full.pair(true, .max)), as: Full.self) == nil)
    }

    @Test("a wrong byte in any part of a struct is detected")
    func parts() {
        let good = Parts(flag: true, small: nil, full: .inner(.b), list: [.a, .b, .c], time: nil)
        let raw = bytes(of: good)
        #expect(reads(raw, as: Parts.self) != nil)
        let places = [
            MemoryLayout<Parts>.offset(of: \.flag), MemoryLayout<Parts>.offset(of: \.small),
            MemoryLayout<Parts>.offset(of: \.full), MemoryLayout<Parts>.offset(of: \.list),
        ].compactMap { $0 }
        #expect(places.count == 4)
        for place in places + [places[3] + 2] {
            var bad = raw
            bad[place] = 0xEE
            #expect(reads(bad, as: Parts.self) == nil, "byte \(place)")
        }
    }

    @Test(
        "every variable of a stabilizer has a validity check, and a new stabilizer passes all checks"
    )
    func stabilizer() {
        let raw = bytes(of: Stabilizer(parameters: Stabilizer.Parameters()))
        let checks = BytePattern.checks(of: Stabilizer.self)
        #expect(checks.count > 100)
        raw.withUnsafeBytes { raw in
            for check in checks {
                #expect(
                    raw.baseAddress.map(check.holds) == true, "\(check.type) at \(check.offset)")
            }
        }
    }

    private func size(of type: Any.Type) -> Int {
        func size<Value>(_: Value.Type) -> Int { MemoryLayout<Value>.size }
        return _openExistential(type, do: size)
    }

    @Test("a state with an invalid enum case is skipped, for every type of variable")
    func wildStates() throws {
        var rig = FlightRig(.still)
        rig.run(1.2)
        let good = rig.file()
        var seen = Set<String>()
        for check in BytePattern.checks(of: Stabilizer.self) {
            guard seen.insert("\(check.type)").inserted else { continue }
            var bad = FlightRig(.still)
            bad.tamper = { kind, bytes in
                guard kind == .state else { return }
                for index in 0..<size(of: check.type) { bytes[check.offset + index] = 0x7E }
            }
            bad.run(1.2)
            let report = FlightReplay(try FlightFile(bytes: bad.file(), path: "made.mcap")).run()
            #expect(report.ticks == 0, "\(check.type)")
            #expect(
                report.remarks.contains { $0.contains("contain invalid bytes") },
                "\(check.type): \(report.remarks)")
        }
        #expect(seen.count > 8)
        #expect(FlightReplay(try FlightFile(bytes: good, path: "good.mcap")).run().isIdentical)
    }

    @Test(
        "chunks that expand to more than 50 times the file size are skipped before memory is allocated"
    )
    func bomb() throws {
        var builder = MCAPChunkBuilder()
        var chunks: [MCAPChunk] = []
        for index in 0..<40 {
            builder.add(channel: 1, sequence: 1, time: Int64(index)) {
                $0 += [UInt8](repeating: 0, count: 8_000_000)
            }
            chunks.append(builder.seal())
        }
        let bytes = FlightRig.file(chunks[...])
        #expect(bytes.count < 200_000)
        var unpacked = 0
        let outcome = MCAPReader(bytes: bytes).read { item in
            if case .message(_, _, _, let data) = item { unpacked += data.count }
            return true
        }
        #expect(unpacked <= 50 * bytes.count + 4_000_000)
        #expect(outcome.remarks.contains { $0.contains("more than 50 times the size of the file") })
    }
}
