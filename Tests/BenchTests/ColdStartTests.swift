import Simulation
import Testing

@testable import airframe_bench

/// Switched on in mid-stride, with nothing known of the gyroscope; `airframe-bench pointing` has 64 of them.
@Suite("A cold start while walking")
struct ColdStartTests {
    @Test(
        "within 1° of level within 2 s, and for good, whatever the gyroscope's offset",
        arguments: [6, 12, 22, 35, 44])
    func level(seed: UInt64) {
        // Offsets of 1 °/s and more: those that take 3.7 to 4.4 s without the strides.
        let outcome = PointingRun.inMotion(.walking, seed: seed, seconds: 7).run()
        #expect(outcome.start < 1.6)
        #expect(outcome.level < 2)
    }
}
