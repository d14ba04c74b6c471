import GimbalCore
import Simulation
import Testing

@Suite("Where the camera turns when the outputs come on")
struct StabilizerStartTests {
    /// The real stabilizer on the simulated gimbal in a still hand, 1 kHz.
    private struct Rig {
        var gimbal = SimulatedGimbal(
            parameters: SimulatedGimbal.Parameters(), motion: BaseMotion(.still, seed: 3), seed: 3)
        var stabilizer = Stabilizer(parameters: Stabilizer.Parameters())
        var tick: Int64 = 0

        var now: Instant { Instant(nanoseconds: tick * 1_000_000) }

        /// The set-point, degrees.
        var setpoint: AxisVector {
            EulerZXY.angles(stabilizer.snapshot.setpoint) * (180 / Double.pi)
        }

        mutating func run(_ seconds: Double) {
            for _ in 0..<Int(seconds * 1000) {
                tick += 1
                gimbal.advance(to: now) { stabilizer.integrate($0) }
                gimbal.apply(stabilizer.step(now: now), at: now)
            }
        }

        mutating func apply(_ command: Command) { stabilizer.apply(command, now: now) }

        mutating func point(yaw: Double = .nan, pitch: Double = .nan) {
            let target = AxisVector(yaw: yaw, roll: .nan, pitch: pitch) * (Double.pi / 180)
            apply(.point(target: target, duration: 0))
        }
    }

    @Test("to what was asked for before, axis by axis; the others level")
    func pointedWhileOff() {
        var rig = Rig()
        rig.run(0.1)
        #expect(!rig.stabilizer.snapshot.output.enabled)
        rig.point(yaw: 10, pitch: -20)
        rig.point(pitch: -30)
        rig.run(4)
        #expect(rig.stabilizer.snapshot.output.enabled)
        #expect(abs(rig.setpoint.pitch + 30) < 0.01)
        #expect(abs(rig.setpoint.yaw - 10) < 0.01)
        #expect(abs(rig.setpoint.roll) < 0.01)
    }

    @Test("to what is asked for in the same tick as the mode")
    func pointedWithTheMode() {
        var rig = Rig()
        rig.run(3)
        rig.apply(.mode(.inactive))
        rig.run(1)
        #expect(!rig.stabilizer.snapshot.output.enabled)
        rig.apply(.mode(.locked))
        rig.point(pitch: 20)
        rig.run(2)
        #expect(abs(rig.setpoint.pitch - 20) < 0.01)
    }

    @Test("not to what was asked for before somebody said inactive or stop")
    func forgets() {
        for end in [Command.mode(.inactive), .emergencyStop] {
            var rig = Rig()
            rig.run(0.1)
            rig.point(pitch: -30)
            rig.apply(end)
            rig.apply(.resetEmergencyStop)
            rig.apply(.mode(.locked))
            rig.run(4)
            #expect(rig.stabilizer.snapshot.output.enabled)
            #expect(abs(rig.setpoint.pitch) < 0.01)
        }
    }

    @Test("with the turn that was asked for while the inertia was looked for")
    func turnsWhileSearching() {
        var rig = Rig()
        while !rig.stabilizer.snapshot.conditions.intersects(.inertiaUnknown) { rig.run(0.01) }
        let rate = AxisVector(yaw: 10, roll: 0, pitch: -5) * (Double.pi / 180)
        rig.apply(.rate(rate, validUntil: rig.now.advanced(bySeconds: 5)))
        while rig.stabilizer.snapshot.conditions.intersects(.inertiaUnknown) { rig.run(0.01) }
        let before = rig.setpoint
        rig.run(1)
        #expect(abs(rig.setpoint.yaw - before.yaw - 10) < 1)
        #expect(abs(rig.setpoint.pitch - before.pitch + 5) < 1)
    }

    @Test("not with a turn whose dead-man has fired while the inertia was looked for")
    func turnExpiresWhileSearching() {
        var rig = Rig()
        while !rig.stabilizer.snapshot.conditions.intersects(.inertiaUnknown) { rig.run(0.01) }
        let rate = AxisVector(yaw: 40, roll: 0, pitch: 0) * (Double.pi / 180)
        rig.apply(.rate(rate, validUntil: rig.now.advanced(bySeconds: 0.1)))
        rig.run(3)
        #expect(!rig.stabilizer.snapshot.conditions.intersects(.inertiaUnknown))
        #expect(abs(rig.setpoint.yaw) < 1)
    }
}
