import Atomics
import GimbalCore
import Testing

@testable import Realtime

@Suite("SPSC ring between two threads")
struct SPSCRingTests {
    /// Larger than a cache line, so that a torn read or an early read is visible.
    struct Record: BitwiseCopyable, Sendable {
        var first: UInt64
        var middle: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)
        var last: UInt64

        init(_ n: UInt64) {
            first = n
            middle = (n, n, n, n, n, n, n, n, n)
            last = ~n
        }
    }

    @Test("the ring delivers elements in order over many laps")
    func order() {
        let ends = makeRing(of: Int.self, capacity: 4)
        var writer = ends.writer
        var reader = ends.reader
        for lap in 0..<100 {
            for offset in 0..<3 { #expect(writer.push(lap * 3 + offset) == true) }
            #expect(reader.count == 3)
            for offset in 0..<3 { #expect(reader.pop() == lap * 3 + offset) }
            #expect(reader.pop() == nil)
        }
        #expect(writer.dropped == 0)
    }

    @Test("a full ring drops and counts new elements, and keeps the stored elements")
    func full() {
        let ends = makeRing(of: Int.self, capacity: 4)
        var writer = ends.writer
        var reader = ends.reader
        for number in 0..<4 { #expect(writer.push(number) == true) }
        #expect(writer.push(4) == false)
        #expect(writer.push(5) == false)
        #expect(writer.dropped == 2)
        #expect(reader.dropped == 2)
        #expect(reader.pop() == 0)
        #expect(writer.push(6) == true)
        var rest: [Int] = []
        while let number = reader.pop() { rest.append(number) }
        #expect(rest == [1, 2, 3, 6])
    }

    @Test(
        "the capacity is rounded up to a power of two",
        arguments: [(1, 1), (3, 4), (64, 64), (65, 128)])
    func capacity(asked: Int, expected: Int) {
        let ends = makeRing(of: UInt8.self, capacity: asked)
        let reader = ends.reader
        #expect(reader.capacity == expected)
    }

    @Test("the ring works when the indices wrap around")
    func indexWrap() {
        let ends = makeRing(of: Int.self, capacity: 4)
        var writer = ends.writer
        var reader = ends.reader
        // Starts both sides as if 2^64 - 2 elements had passed.
        let start = UInt.max - 1
        writer.head = start
        writer.cachedTail = start
        reader.tail = start
        reader.cachedHead = start
        writer.storage.head.store(start, ordering: .releasing)
        writer.storage.tail.store(start, ordering: .releasing)
        for number in 0..<4 { #expect(writer.push(number) == true) }
        #expect(writer.push(4) == false)
        for number in 0..<4 { #expect(reader.pop() == number) }
        #expect(reader.pop() == nil)
    }

    @Test("between two threads, the ring delivers every element once and in order")
    func twoThreads() throws {
        let total: UInt64 = 300_000
        let ends = makeRing(of: Record.self, capacity: 256)
        var reader = ends.reader
        let producer = try spawn(handing: ends.writer) { writer in
            var number: UInt64 = 0
            while number < total {
                if writer.push(Record(number)) { number += 1 } else { yieldThread() }
            }
        }
        var expected: UInt64 = 0
        var torn = 0
        while expected < total {
            let record = try awaited { reader.pop() }
            if record.first != expected || record.middle.4 != expected || record.last != ~expected {
                torn += 1
            }
            expected += 1
        }
        #expect(producer.join(until: .minuteAhead))
        #expect(torn == 0)
        #expect(reader.pop() == nil)
    }

    @Test("the gaps that a slow reader finds add up to the number of dropped elements")
    func dropsAddUp() throws {
        let total = 200_000
        let ends = makeRing(of: Int.self, capacity: 16)
        var reader = ends.reader
        let producer = try spawn(handing: ends.writer) { writer in
            for number in 0..<total { _ = writer.push(number) }
        }
        var received = 0
        var last = -1
        var backwards = 0
        func drain() {
            while let number = reader.pop() {
                if number <= last { backwards += 1 }
                last = number
                received += 1
            }
        }
        let end = Instant.minuteAhead
        while last < total - 1, received + Int(reader.dropped) < total, MonotonicClock.now < end {
            drain()
        }
        #expect(producer.join(until: .minuteAhead))
        drain()
        #expect(backwards == 0)
        #expect(received + Int(reader.dropped) == total)
    }
}
