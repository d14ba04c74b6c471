import GimbalCore
import Simulation
import Testing

@testable import airframe_bench

/// Servos that are faster or slower than expected, on random gimbals; `airframe-bench sensor-faults
/// --only plant` simulates more of them.
@Suite("Oscillation of a servo loop")
struct ServoOscillationTests {
    @Test(
        "faster servos do not oscillate, or the oscillation is reported and ends, at rest and in a walker's hand",
        arguments: [HandleMotion.still, .walking])
    func sooner(motion: HandleMotion) throws {
        let gimbal = try FaultGimbal.drawn(seed: 2, motor: .servo)
        let outcome = FaultRun(
            fault: .plantSooner, seed: 2, gimbal: gimbal, motion: motion
        ).run()
        let plant = try #require(outcome.plant)
        #expect(outcome.conditions.intersects(.loopOscillating) || !plant.hasOscillated)
        #expect(plant.lastTremor < 30, "deg/s: what steps and the dead band leave")
        if motion == .still { #expect(outcome.unintended < 3) }
    }

    @Test(
        "the oscillation of slower servos ends, and is reported within half a second if it continues"
    )
    func later() throws {
        let gimbal = try FaultGimbal.drawn(seed: 0, motor: .servo)
        let outcome = FaultRun(fault: .plantLater, seed: 1, gimbal: gimbal, motion: .still).run()
        let plant = try #require(outcome.plant)
        #expect(plant.unnamed < 0.5, "s")
        #expect(!plant.isTrembling)
    }

    @Test(
        "hand motion with healthy servos is not reported as an oscillation",
        arguments: [HandleMotion.handheld, .walking, .running], [2, 10] as [UInt64])
    func healthy(motion: HandleMotion, seed: UInt64) throws {
        let run = GalleryRun(gimbal: DrawnGimbal(seed: seed, motor: .servo), motion: motion)
        #expect(try run.run().faults.isEmpty)
    }
}
