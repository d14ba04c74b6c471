import GimbalCore
import Simulation
import Testing

@testable import airframe_bench

/// Light cameras on motors without encoders, whose start fails because their inertia is unknown.
@Suite("Motors that lose their rotor")
struct RotorLossTests {
    @Test(
        "motors that fling their camera are turned off",
        arguments: [94, 123, 126, 172] as [UInt64])
    func flung(seed: UInt64) throws {
        let gimbal = DrawnGimbal(seed: seed, motor: .field)
        var loop = SimulatedLoop(
            SimulatedGimbal(
                parameters: gimbal.parameters, motion: BaseMotion(.still, seed: seed), seed: seed),
            try gimbal.tuning(loopHz: gimbal.loopHz), rateHz: gimbal.loopHz)
        var (spun, lost) = (0.0, 0)
        var wasLost = false
        loop.run(seconds: 20) { loop in
            if loop.gimbal.rate.norm > 7 { spun += 1 / Double(loop.rateHz) }
            let isLost = loop.snapshot.conditions.intersects(.rotorLost)
            if isLost, !wasLost { lost += 1 }
            wasLost = isLost
        }
        #expect(lost > 0 && spun < 0.6 * Double(lost))
    }
}
