import GimbalCore
import Testing

@testable import Realtime

@Suite("Wake-up times of the clock-driven thread")
struct PeriodicScheduleTests {
    @Test("deadlines stay on the grid, regardless of the duration of the work within a period")
    func grid() {
        var schedule = PeriodicSchedule(start: Instant(nanoseconds: 5), periodNanoseconds: 100)
        #expect(schedule.next.nanoseconds == 105)
        #expect(schedule.advance(now: Instant(nanoseconds: 199)) == 0)
        #expect(schedule.next.nanoseconds == 205)
    }

    @Test(
        "after an overrun whole periods are skipped and counted, without a burst of wake-ups",
        arguments: [
            (now: Int64(204), skipped: UInt64(0), next: Int64(205)),
            (now: 205, skipped: 1, next: 305),
            (now: 304, skipped: 1, next: 305),
            (now: 305, skipped: 2, next: 405),
            (now: 1_000_000, skipped: 9998, next: 1_000_005),
        ])
    func overrun(now: Int64, skipped: UInt64, next: Int64) {
        var schedule = PeriodicSchedule(start: Instant(nanoseconds: 5), periodNanoseconds: 100)
        #expect(schedule.advance(now: Instant(nanoseconds: now)) == skipped)
        #expect(schedule.next.nanoseconds == next)
        #expect(schedule.advance(now: Instant(nanoseconds: next + 1)) == 0)
    }
}
