import GimbalCore
import Simulation
import Testing

@testable import airframe_bench

/// Light cameras on motors without encoders, whose start fails if their inertia is not measured.
@Suite("Motors that lose their rotor")
struct RotorLossTests {
    /// Gimbals whose motors lose a rotor at the configured power.
    private static let seeds: [UInt64] = [94, 123, 126, 172]

    @Test("with the power that suits the measured inertia, no motor loses its rotor")
    func measured() throws {
        for seed in Self.seeds {
            let (spun, lost) = try Self.run(seed: seed, isProbed: true)
            #expect(spun == 0 && lost == 0, "\(seed)")
        }
    }

    @Test(
        "motors that fling their camera are turned off: a camera spins for at most 0.6 s each time")
    func flung() throws {
        var losses = 0
        for seed in Self.seeds {
            let (spun, lost) = try Self.run(seed: seed, isProbed: false)
            #expect(spun <= 0.6 * Double(lost), "\(seed)")
            losses += lost
        }
        #expect(losses > 0)
    }

    /// Seconds for which the camera spins, and the number of reported losses of a rotor.
    private static func run(seed: UInt64, isProbed: Bool) throws -> (spun: Double, lost: Int) {
        let gimbal = DrawnGimbal(seed: seed, motor: .field)
        var tuning = try gimbal.tuning(loopHz: gimbal.loopHz)
        tuning.field.probesInertia = isProbed
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
