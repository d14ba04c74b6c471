import GimbalCore
import Testing

@testable import airframe_bench

/// Switched on in mid-stride, with nothing known of the gyroscope; `airframe-bench pointing` has 64
/// of them.
@Suite("A cold start while walking")
struct ColdStartTests {
    @Test("within 1° of level for good: half of the walkers within 2 s, all within 4 s")
    func level() {
        let outcomes = (UInt64(1)...9).map {
            PointingRun.inMotion(.walking, seed: $0, seconds: 6).run()
        }
        #expect(outcomes.allSatisfy { $0.start < 1.7 })
        #expect(outcomes.allSatisfy { $0.level < 4 })
        #expect(outcomes.count { $0.level < 2 } >= 5)
        withKnownIssue("every other one takes up to 4 s", isIntermittent: true) {
            #expect(outcomes.allSatisfy { $0.level < 2 })
        }
    }

    /// Samples of seeds 47 and 8 begin between two steps, where the specific force points up.
    @Test("a runner's estimate is not upside down, and nothing is named", arguments: [8, 47])
    func runner(seed: UInt64) {
        var run = PointingRun.inMotion(.running, seed: seed, seconds: 6)
        run.settled = 2
        let outcome = run.run()
        #expect(outcome.tilt.rms < 2)
        #expect(FalseAlarms.names(in: outcome.conditions) == "")
    }
}
