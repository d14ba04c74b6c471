import GimbalCore
import Glibc
import Testing
import Threads

@testable import Links

@Suite("Lines of a byte stream")
struct LineBufferTests {
    private func lines(_ chunks: [String]) -> [LineBuffer.Line] {
        var buffer = LineBuffer(limit: 8)
        var lines: [LineBuffer.Line] = []
        for chunk in chunks {
            buffer.append(Array(chunk.utf8))
            while let line = buffer.next() { lines.append(line) }
        }
        return lines
    }

    private func line(_ text: String) -> LineBuffer.Line { .complete(Array(text.utf8)) }

    @Test(
        "the division of the stream into reads does not matter",
        arguments: [
            ["ab\ncd\r\n\n"], ["a", "b", "\n", "cd", "\r", "\n", "\n"], ["ab\ncd\r", "\n\n"],
        ])
    func cuts(chunks: [String]) {
        #expect(lines(chunks) == [line("ab"), line("cd"), line("")])
    }

    @Test("the limit excludes the end of the line")
    func limit() {
        #expect(lines(["12345678\n"]) == [line("12345678")])
        #expect(lines(["12345678\r\n"]) == [line("12345678")])
        #expect(lines(["123456789\n"]) == [.tooLong])
    }

    @Test(
        "a line that is too long is reported once, and the next line is complete",
        arguments: [["1234567890123\nab\n"], ["1234567890", "1234567890", "12\nab\n"]])
    func tooLong(chunks: [String]) {
        #expect(lines(chunks) == [.tooLong, line("ab")])
    }

    @Test("the buffer has room until it reports a line that is too long")
    func room() {
        var buffer = LineBuffer(limit: 8)
        for count in 1...9 {
            #expect(buffer.hasRoom)
            buffer.append([UInt8(ascii: "x")])
            #expect(buffer.next() == nil, "\(count) bytes")
        }
        #expect(buffer.hasRoom)
        buffer.append([UInt8(ascii: "x")])
        #expect(buffer.next() == .tooLong)
        #expect(buffer.hasRoom)
    }

    /// CPU time of this thread, s.
    private func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    @Test("a line of 100 MB that is too long is skipped within a second of CPU time")
    func skipping() {
        var buffer = LineBuffer(limit: 1 << 16)
        let chunk = [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 14)
        let begin = processorTime()
        var found: [LineBuffer.Line] = []
        for piece in [[UInt8]](repeating: chunk, count: 6400) + [Array("\nstop\n".utf8)] {
            buffer.append(piece)
            while let line = buffer.next() { found.append(line) }
        }
        #expect(found == [.tooLong, line("stop")])
        #expect(processorTime() - begin < 1)
    }

    @Test("reports whether a line has begun")
    func partial() {
        var buffer = LineBuffer(limit: 8)
        #expect(!buffer.hasPartialLine)
        buffer.append(Array("ab\nc".utf8))
        while buffer.next() != nil {}
        #expect(buffer.hasPartialLine)
        buffer.append(Array("\n".utf8))
        while buffer.next() != nil {}
        #expect(!buffer.hasPartialLine)
    }
}

@Suite("Schedule of a stream")
struct StreamScheduleTests {
    @Test("a stream is due immediately, then on a fixed grid")
    func grid() {
        var schedule = StreamSchedule(rateHz: 100, now: Instant(nanoseconds: 0))
        var due: [Int64] = []
        for ms in Int64(0)...40
        where schedule.takeDue(now: Instant(nanoseconds: ms * 1_000_000)) {
            due.append(ms)
        }
        #expect(due == [0, 10, 20, 30, 40])
    }

    @Test("a late call does not shift the grid, and missed times are not repeated")
    func late() {
        var schedule = StreamSchedule(rateHz: 100, now: Instant(nanoseconds: 0))
        let due = [3_000_000, 95_000_000, 95_000_001].map {
            schedule.takeDue(now: Instant(nanoseconds: $0))
        }
        #expect(due == [true, true, false])
    }
}
