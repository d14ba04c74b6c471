import GimbalCore
import Simulation
import Testing

@Suite("Gravity that is somewhere else than the estimate says")
struct GravityMismatchTests {
    typealias Rig = StabilizerFaultTests.Rig

    @Test(
        "another sensor, mounted upside down, is named, turns the outputs off, and the estimate finds down again",
        arguments: [BaseMotion.Kind.still, .walking], [Mode.inactive, .locked])
    func swapped(motion: BaseMotion.Kind, mode: Mode) {
        var rig = Rig(motion, stillDuration: 2)
        rig.stabilizer.apply(.mode(mode), now: rig.now)
        rig.run(3)
        let turn = Quaternion.aboutX(.pi)
        rig.gimbal.fault = .remounted(turn)
        var isNamed = false
        var isFinite = true
        rig.run(8) { rig in
            if !rig.isFinite { isFinite = false }
            // Motors that follow such a sensor show it long before gravity does.
            guard rig.conditions.intersects(.gravityMismatch | .gyroContradicted) else { return }
            isNamed = true
            #expect(!rig.output.enabled || rig.stabilizer.snapshot.phase == .braking)
        }
        #expect(isNamed)
        // A turned sensor cannot control the camera it looks at; that the estimate is right again shows without motors.
        rig.stabilizer.apply(.mode(.inactive), now: rig.now)
        rig.run(3)
        #expect(isFinite && rig.isFinite)
        #expect(!rig.conditions.intersects(.gravityMismatch | .estimateNotConverged))
        let down = rig.stabilizer.snapshot.attitude.inverseRotate(Vector3(0, 0, 1))
        let truth = turn.rotate(rig.gimbal.attitude.inverseRotate(Vector3(0, 0, 1)))
        #expect(down.dot(truth) > 0.998)
    }

    @Test("walking and a handle held by hand never raise it", arguments: [1, 2] as [UInt64])
    func motion(seed: UInt64) {
        for kind in [BaseMotion.Kind.walking, .handheld] {
            var gimbal = SimulatedGimbal(
                parameters: SimulatedGimbal.Parameters(),
                motion: BaseMotion(kind, seed: seed, stillDuration: 0), seed: seed)
            var stabilizer = Stabilizer(parameters: Stabilizer.Parameters())
            var isNamed = false
            for tick in 1...6000 as ClosedRange<Int64> {
                let now = Instant(nanoseconds: tick * 1_000_000)
                gimbal.advance(to: now) { stabilizer.integrate($0) }
                gimbal.apply(stabilizer.step(now: now), at: now)
                if stabilizer.snapshot.conditions.intersects(.gravityMismatch) { isNamed = true }
            }
            #expect(!isNamed)
        }
    }
}
