import GimbalCore
import Testing

@testable import Realtime

@Suite("The doorbell")
struct DoorbellTests {
    @Test("a ring before the wait is not lost, and two rings count once")
    func ringFirst() {
        let bell = Doorbell()
        defer { bell.deallocate() }
        bell.ring()
        bell.ring()
        #expect(bell.wait(until: .minuteAhead) == .rung)
        #expect(bell.wait(until: Instant(nanoseconds: 0)) == .timeout)
    }

    @Test("a ring is reported even if the deadline has passed")
    func lateRing() {
        let bell = Doorbell()
        defer { bell.deallocate() }
        bell.ring()
        #expect(bell.wait(until: Instant(nanoseconds: 0)) == .rung)
    }

    @Test("the deadline refers to the monotonic clock")
    func deadline() {
        let bell = Doorbell()
        defer { bell.deallocate() }
        let deadline = MonotonicClock.now.advanced(bySeconds: 0.002)
        #expect(bell.wait(until: deadline) == .timeout)
        #expect(MonotonicClock.now >= deadline)
    }

    @Test("two threads alternate without losing a ring")
    func pingPong() throws {
        let rounds = 20_000
        let there = Doorbell()
        let back = Doorbell()
        let ends = makeMailbox(initial: 0)
        var reader = ends.reader
        let partner = try spawn(handing: ends.writer) { writer in
            for round in 1...rounds {
                guard there.wait(until: .minuteAhead) == .rung else { return }
                writer.publish(round)
                back.ring()
            }
        }
        var wrong = 0
        for round in 1...rounds {
            there.ring()
            if back.wait(until: .minuteAhead) != .rung { wrong += 1 }
            // Writes before the partner's ring must be visible after the wait.
            if reader.read().value != round { wrong += 1 }
        }
        #expect(wrong == 0)
        #expect(partner.join(until: .minuteAhead))
        there.deallocate()
        back.deallocate()
    }
}
