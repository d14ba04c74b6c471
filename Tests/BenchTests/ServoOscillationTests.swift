import GimbalCore
import Simulation
import Testing

@testable import airframe_bench

/// Servos that are faster or slower than believed, on gimbals drawn at random; `airframe-bench
/// sensor-faults --only plant` has many.
@Suite("A servo loop that oscillates")
struct ServoOscillationTests {
    @Test(
        "is calm, or named and calm with lower gains, standing and in a walker's hand",
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

    @Test("of late servos ends, and is named within half a second where it lasts")
    func later() throws {
        let gimbal = try FaultGimbal.drawn(seed: 0, motor: .servo)
        let outcome = FaultRun(fault: .plantLater, seed: 1, gimbal: gimbal, motion: .still).run()
        let plant = try #require(outcome.plant)
        #expect(plant.unnamed < 0.5, "s")
        #expect(!plant.isTrembling)
    }

    @Test(
        "is not what a hand makes of healthy servos",
        arguments: [HandleMotion.handheld, .walking, .running], [2, 10] as [UInt64])
    func healthy(motion: HandleMotion, seed: UInt64) throws {
        let run = GalleryRun(gimbal: DrawnGimbal(seed: seed, motor: .servo), motion: motion)
        #expect(try run.run().faults.isEmpty)
    }
}
