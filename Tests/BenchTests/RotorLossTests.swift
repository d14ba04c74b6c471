import GimbalCore
import Simulation
import Testing

@testable import airframe_bench

/// Light cameras on motors without encoders, whose start fails because their inertia is not
/// measured.
@Suite("Motors that lose their rotor")
struct RotorLossTests {
    @Test(
        "motors that fling their camera are turned off: a camera spins for at most 0.6 s each time")
    func flung() throws {
        var losses = 0
        for seed in [94, 123, 126, 172] as [UInt64] {
            let (spun, lost) = try Self.run(seed: seed)
            #expect(spun <= 0.6 * Double(lost), "\(seed)")
            losses += lost
        }
        #expect(losses > 0)
    }

    /// Seconds for which the camera spins, and the number of reported losses of a rotor.
    private static func run(seed: UInt64) throws -> (spun: Double, lost: Int) {
        let gimbal = DrawnGimbal(seed: seed, motor: .field)
        var tuning = try gimbal.tuning(loopHz: gimbal.loopHz)
        tuning.field.probesInertia = false
        var loop = SimulatedLoop(
            SimulatedGimbal(
                parameters: gimbal.parameters, motion: BaseMotion(.still, seed: seed), seed: seed),
            tuning, rateHz: gimbal.loopHz)
        var (spun, lost) = (0.0, 0)
        var wasLost = false
        loop.run(seconds: 20) { loop in
            if loop.gimbal.rate.norm > 7 { spun += 1 / Double(loop.rateHz) }
            let isLost = loop.snapshot.conditions.intersects(.rotorLost)
            if isLost, !wasLost { lost += 1 }
            wasLost = isLost
        }
        return (spun, lost)
    }
}
