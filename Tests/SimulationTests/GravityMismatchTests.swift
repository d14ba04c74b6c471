import GimbalCore
import Simulation
import Testing

@Suite("Gravity that contradicts the attitude estimate")
struct GravityMismatchTests {
    @Test(
        "a sensor that is remounted upside down is reported, turns the outputs off, and the estimate recovers",
        arguments: [HandleMotion.still, .walking], [Mode.inactive, .locked])
    func swapped(motion: HandleMotion, mode: Mode) {
        var loop = SimulatedLoop(BaseMotion(motion, seed: 3, stillDuration: 2), seed: 3)
        loop.ask(.mode(mode))
        loop.run(seconds: 3)
        let turn = Quaternion.aboutX(.pi)
        loop.gimbal.fault = .remounted(turn)
        var isNamed = false
        var isFinite = true
        loop.run(seconds: 8) { loop in
            if !loop.isFinite { isFinite = false }
            // If the motors are on, the gyroscope contradicts the joints long before gravity
            // contradicts the estimate.
            guard loop.conditions.intersects(.gravityMismatch | .gyroContradicted) else { return }
            isNamed = true
            #expect(!loop.output.enabled || loop.snapshot.phase == .braking)
        }
        #expect(isNamed)
        // The turned sensor cannot control the camera. The motors are off for the check of the
        // estimate.
        loop.ask(.mode(.inactive))
        loop.run(seconds: 3)
        #expect(isFinite && loop.isFinite)
        #expect(!loop.conditions.intersects(.gravityMismatch | .estimateNotConverged))
        let down = loop.snapshot.attitude.inverseRotate(Vector3(0, 0, 1))
        let truth = turn.rotate(loop.gimbal.attitude.inverseRotate(Vector3(0, 0, 1)))
        #expect(down.dot(truth) > 0.998)
    }

    @Test(
        "walking and a handheld gimbal never raise the condition gravityMismatch",
        arguments: [1, 2] as [UInt64])
    func motion(seed: UInt64) {
        for kind in [HandleMotion.walking, .handheld] {
            var loop = SimulatedLoop(BaseMotion(kind, seed: seed, stillDuration: 0), seed: seed)
            var isNamed = false
            loop.run(seconds: 6) { isNamed = isNamed || $0.conditions.intersects(.gravityMismatch) }
            #expect(!isNamed)
        }
    }
}
