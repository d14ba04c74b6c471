import GimbalCore
import Testing

@testable import Realtime

@Suite("The latest-value mailbox")
struct MailboxTests {
    struct Wide: BitwiseCopyable, Sendable {
        var a: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)
        var b: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

        init(_ n: UInt64) {
            a = (n, n, n, n, n, n, n, n)
            b = (n, n, n, n, n, n, n, n)
        }

        var isWhole: Bool {
            a.0 == a.3 && a.0 == a.7 && a.0 == b.0 && a.0 == b.4 && a.0 == b.7
        }
    }

    @Test("holds the initial value until something is published")
    func initial() {
        let ends = makeMailbox(initial: 7)
        var reader = ends.reader
        let reading = reader.read()
        #expect(reading.value == 7)
        #expect(reading.sequence == 0)
        #expect(!reading.isNew)
    }

    @Test("returns the newest value, as new the first time and as known afterwards")
    func newest() {
        let ends = makeMailbox(initial: 0)
        var writer = ends.writer
        var reader = ends.reader
        for value in 1...5 { writer.publish(value) }
        #expect(reader.hasNew == true)
        let first = reader.read()
        #expect(first.value == 5 && first.sequence == 5 && first.isNew)
        let second = reader.read()
        #expect(second.value == 5 && second.sequence == 5 && !second.isNew)
        writer.publish(6)
        #expect(reader.read().value == 6)
    }

    @Test(
        "a value is never torn and never older than the one before, with both sides at full speed")
    func contention() throws {
        let enough = 100_000
        let stop = Doorbell()
        let ends = makeMailbox(initial: Wide(0))
        var reader = ends.reader
        let publisher = try spawn(handing: ends.writer) { writer in
            var number: UInt64 = 0
            while number % 64 != 0 || stop.wait(until: Instant(nanoseconds: 0)) == .timeout {
                number += 1
                writer.publish(Wide(number))
            }
        }
        // The values seen are counted, not those sent, so that both sides really overlap.
        var seen = 0
        var last: UInt64 = 0
        var torn = 0
        var backwards = 0
        let end = Instant.minuteAhead
        while seen < enough, MonotonicClock.now < end {
            let reading = reader.read()
            if !reading.value.isWhole || reading.value.a.0 != reading.sequence { torn += 1 }
            if reading.sequence < last || reading.isNew != (reading.sequence > last) {
                backwards += 1
            }
            if reading.isNew { seen += 1 }
            last = reading.sequence
        }
        stop.ring()
        #expect(publisher.join(until: .minuteAhead))
        #expect(seen == enough)
        #expect(torn == 0)
        #expect(backwards == 0)
        stop.deallocate()
    }
}
