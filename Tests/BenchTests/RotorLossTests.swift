import GimbalCore
import Simulation
import Testing

@testable import airframe_bench

/// Light cameras on motors without encoders whose start fails, because their inertia is not known.
@Suite("Rotors that are lost")
struct RotorLossTests {
    @Test("motors that fling their camera are let go", arguments: [94, 123, 126, 172] as [UInt64])
    func flung(seed: UInt64) throws {
        let gimbal = DrawnGimbal(seed: seed, motor: .field)
        var simulated = SimulatedGimbal(
            parameters: gimbal.parameters, motion: BaseMotion(.still, seed: seed), seed: seed)
        var stabilizer = Stabilizer(parameters: try gimbal.tuning(loopHz: gimbal.loopHz))
        var (spun, lost) = (0.0, 0)
        var wasLost = false
        let dt = 1 / Double(gimbal.loopHz)
        for tick in 1...(20 * gimbal.loopHz) {
            let now = Instant(nanoseconds: Int64(Double(tick) * dt * 1e9))
            simulated.advance(to: now) { stabilizer.integrate($0) }
            simulated.apply(stabilizer.step(now: now), at: now)
            if simulated.rate.norm > 7 { spun += dt }
            let isLost = stabilizer.snapshot.conditions.intersects(.rotorLost)
            if isLost, !wasLost { lost += 1 }
            wasLost = isLost
        }
        #expect(lost > 0 && spun < 0.6 * Double(lost))
    }
}
