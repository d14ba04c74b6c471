import GimbalCore
import Testing

@testable import Realtime

/// Ring of the replay log: frames of any size, in order, each contiguous in memory.
@Suite("Ring buffer of the replay log") struct ReplayLogRingTests {
    private struct Small: BitwiseCopyable { var words: (UInt64, UInt64) }
    private struct Odd: BitwiseCopyable { var bytes: (UInt8, UInt8, UInt8) }
    private struct Large: BitwiseCopyable {
        var words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)
    }

    /// Appends a frame whose size depends on its number.
    private func append(_ number: UInt64, to writer: inout ReplayLogWriter) -> Bool {
        let now = Instant(nanoseconds: Int64(number))
        let byte = UInt8(truncatingIfNeeded: number)
        switch number % 3 {
        case 0:
            return writer.append(.tick, tick: number, now: now, Small(words: (number, ~number)))
        case 1: return writer.append(.tick, tick: number, now: now, Odd(bytes: (byte, byte, 7)))
        default:
            return writer.append(
                .tick, tick: number, now: now, Large(words: (number, 1, 2, 3, 4, 5, number)))
        }
    }

    @Test("the ring delivers every frame intact and in order over many laps")
    func order() {
        var ends = makeReplayLogRing(bytes: 4096)
        var expected: UInt64 = 0
        for number in UInt64(0)..<20_000 {
            #expect(append(number, to: &ends.writer))
            guard number % 7 == 6 else { continue }
            ends.reader.drain { header, bytes in
                #expect(header.tick == expected)
                #expect(header.now.nanoseconds == Int64(expected))
                switch expected % 3 {
                case 0:
                    let value = bytes.loadUnaligned(as: Small.self)
                    #expect(bytes.count == 16 && value.words == (expected, ~expected))
                case 1:
                    #expect(bytes.count == 3 && bytes[0] == UInt8(truncatingIfNeeded: expected))
                default:
                    let value = bytes.loadUnaligned(as: Large.self)
                    #expect(bytes.count == 56 && value.words.0 == expected)
                    #expect(value.words.6 == expected)
                }
                expected += 1
            }
        }
        #expect(expected >= 19_990)
    }

    @Test(
        "the ring leaves room for a filler header after every frame, so that no write passes its end"
    )
    func places() {
        var ends = makeReplayLogRing(bytes: 4096)
        // A frame has 48 bytes before rounding. 85 such frames would leave 16 bytes, but a header
        // needs 24.
        for number in UInt64(0)..<1000 {
            let frame = Small(words: (number, 0))
            let isKept = ends.writer.append(
                .tick, tick: number, now: Instant(nanoseconds: 0), frame)
            #expect(isKept)
            ends.reader.drain { _, bytes in
                #expect(UInt(bitPattern: bytes.baseAddress) % ReplayLogStorage.headerBytes == 0)
            }
        }
        #expect(MemoryLayout<ReplayLogHeader>.size <= Int(ReplayLogStorage.headerBytes))
    }

    @Test("the ring drops a frame that does not fit, and accepts frames again when there is room")
    func full() {
        var ends = makeReplayLogRing(bytes: 4096)
        var kept: UInt64 = 0
        while append(3 * kept, to: &ends.writer) { kept += 1 }
        #expect(kept == 4096 / 64)
        var seen: UInt64 = 0
        ends.reader.drain { header, _ in
            #expect(header.tick == 3 * seen)
            seen += 1
        }
        #expect(seen == kept)
        #expect(append(0, to: &ends.writer))
    }
}
