import GimbalCore
import Testing

@testable import airframe_bench

/// Starts during a step of a walk, with an unknown gyroscope bias; `airframe-bench pointing`
/// simulates 64 such starts.
@Suite("Cold start while walking")
struct ColdStartTests {
    @Test(
        "the horizon error stays below 1°: after 2 s for half of the walking users, after 4 s for all"
    )
    func level() {
        let outcomes = (UInt64(1)...9).map {
            PointingRun.inMotion(.walking, seed: $0, seconds: 6).run()
        }
        #expect(outcomes.allSatisfy { $0.start < 1.7 })
        #expect(outcomes.allSatisfy { $0.level < 4 })
        #expect(outcomes.count { $0.level < 2 } >= 5)
        withKnownIssue("the other starts take up to 4 s", isIntermittent: true) {
            #expect(outcomes.allSatisfy { $0.level < 2 })
        }
    }

    /// The first samples of seeds 47 and 8 are between two steps, when the specific force points
    /// up.
    @Test("a runner's estimate is not upside down, and no fault is reported", arguments: [8, 47])
    func runner(seed: UInt64) {
        var run = PointingRun.inMotion(.running, seed: seed, seconds: 6)
        run.settled = 2
        let outcome = run.run()
        #expect(outcome.tilt.rms < 2)
        #expect(FalseAlarms.names(in: outcome.conditions) == "")
    }
}
