import GimbalCore
import Simulation
import Testing

/// Simulates a driver that stays at full torque and ignores all commands.
@Suite("Runaway camera")
struct RunawayTests {
    @Test(
        "if a driver sticks at full torque, the outputs switch off within 60 ms and stay off",
        arguments: GimbalAxis.allCases, [-1.0, 1])
    func stuckDriver(axis: GimbalAxis, sign: Double) {
        var loop = SimulatedLoop(BaseMotion(.walking, seed: 1, stillDuration: 2))
        var turned = 0.0
        var offAfter = Double.infinity
        loop.run(seconds: 5.999)
        let start = loop.gimbal.attitude
        for tick in 0...3000 {
            loop.advance()
            let attitude = loop.gimbal.attitude
            loop.drive { output in
                guard output.enabled else {
                    if offAfter.isInfinite { offAfter = Double(tick) * 1e-3 }
                    return
                }
                #expect(offAfter.isInfinite, "the outputs are on again")
                output.torque[axis] = sign * 0.25
                turned = max(turned, start.error(to: attitude).norm * 180 / .pi)
            }
        }
        // Full torque turns this camera by 6.3° in 46 ms: 0.25 N·m on 2.4 g·m².
        #expect(offAfter < 0.06)
        withKnownIssue("5.3° in the hand of a walking person", isIntermittent: true) {
            #expect(turned < 5)
        } when: {
            axis == .roll && sign > 0
        }
        #expect(turned < 6.5)
    }
}
