import GimbalCore
import Simulation
import Testing

/// Tests the complete gimbal with a low and with an empty supply of the motors.
@Suite("A low supply of the stabilised gimbal")
struct SupplyTests {
    private static let degrees = 180 / Double.pi

    private static func loop(_ mode: Mode, encoders: Bool = true) -> SimulatedLoop {
        SimulatedLoop(BaseMotion(.still, seed: 1), rateHz: 500) { gimbal, tuning in
            gimbal.plant.stepRate = 4000
            gimbal.imu.sampleRate = 500
            if !encoders { gimbal.encoderCounts = 0 }
            tuning.bootMode = mode
        }
    }

    /// Largest yaw rate of the set-point in the next seconds, deg/s.
    private static func fastest(_ loop: inout SimulatedLoop, seconds: Double) -> Double {
        var fastest = 0.0
        for _ in 0..<Int(seconds * 500) {
            loop.run(seconds: 0.002)
            fastest = max(fastest, abs(loop.snapshot.pointing.rates.yaw) * degrees)
        }
        return fastest
    }

    @Test("with a low supply, requested motion is slower, and has its full rate again afterwards")
    func slower() {
        var loop = Self.loop(.locked)
        loop.run(seconds: 4)
        let forward = Command.point(
            target: AxisVector(yaw: 1.5, roll: .nan, pitch: .nan), duration: 0, rate: 0)
        let back = Command.point(
            target: AxisVector(yaw: 0, roll: .nan, pitch: .nan), duration: 0, rate: 0)
        loop.ask(forward)
        let full = Self.fastest(&loop, seconds: 3)
        loop.stabilizer.report(.supplyLow)
        loop.run(seconds: 0.1)
        loop.ask(back)
        let reduced = Self.fastest(&loop, seconds: 3)
        #expect(reduced < 0.75 * full, "\(reduced) and \(full) deg/s")
        #expect(loop.output.enabled && loop.snapshot.conditions.intersects(.supplyLow))
        loop.stabilizer.report(.none)
        loop.run(seconds: 1)
        loop.ask(forward)
        #expect(abs(Self.fastest(&loop, seconds: 3) - full) < 0.05 * full)
    }

    @Test(
        "with an empty supply, the camera moves to its rest pose, and the motors stay off until the supply recovers"
    )
    func empty() {
        var loop = Self.loop(.locked)
        loop.run(seconds: 4)
        #expect(loop.output.enabled)
        loop.stabilizer.report(.supplyLow | .supplyEmpty)
        loop.run(seconds: 1)
        #expect(loop.output.enabled && loop.snapshot.mode == .retract)
        loop.run(seconds: 8)
        #expect(!loop.output.enabled && loop.snapshot.mode == .inactive)
        // The Commander adopts a mode only if both count the same requests.
        #expect(loop.snapshot.modeRequests == 0)
        loop.ask(.mode(.locked))
        loop.run(seconds: 2)
        #expect(!loop.output.enabled, "the supply is still empty")
        loop.stabilizer.report(.none)
        loop.ask(.mode(.locked))
        loop.run(seconds: 3)
        #expect(loop.output.enabled)
    }

    @Test("without joint angles, an empty supply switches the motors off immediately")
    func blind() {
        var loop = Self.loop(.locked, encoders: false)
        loop.run(seconds: 4)
        #expect(loop.output.enabled)
        loop.stabilizer.report(.supplyEmpty)
        loop.run(seconds: 0.5)
        #expect(!loop.output.enabled && loop.snapshot.mode == .inactive)
        #expect(loop.snapshot.modeRequests == 0)
    }
}
