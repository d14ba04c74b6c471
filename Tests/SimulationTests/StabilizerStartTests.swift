import GimbalCore
import Simulation
import Testing

@Suite("Where the camera turns when the outputs come on")
struct StabilizerStartTests {
    @Test("to what was asked for before, axis by axis; the others level")
    func pointedWhileOff() {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 3), seed: 3)
        loop.run(seconds: 0.1)
        #expect(!loop.snapshot.output.enabled)
        loop.point(yaw: 10, pitch: -20)
        loop.point(pitch: -30)
        loop.run(seconds: 4)
        #expect(loop.snapshot.output.enabled)
        #expect(abs(loop.setpoint.pitch + 30) < 0.01)
        #expect(abs(loop.setpoint.yaw - 10) < 0.01)
        #expect(abs(loop.setpoint.roll) < 0.01)
    }

    @Test("to what is asked for in the same tick as the mode")
    func pointedWithTheMode() {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 3), seed: 3)
        loop.run(seconds: 3)
        loop.ask(.mode(.inactive))
        loop.run(seconds: 1)
        #expect(!loop.snapshot.output.enabled)
        loop.ask(.mode(.locked))
        loop.point(pitch: 20)
        loop.run(seconds: 2)
        #expect(abs(loop.setpoint.pitch - 20) < 0.01)
    }

    @Test("not to what was asked for before somebody said inactive or stop")
    func forgets() {
        for end in [Command.mode(.inactive), .emergencyStop] {
            var loop = SimulatedLoop(BaseMotion(.still, seed: 3), seed: 3)
            loop.run(seconds: 0.1)
            loop.point(pitch: -30)
            loop.ask(end)
            loop.ask(.resetEmergencyStop)
            loop.ask(.mode(.locked))
            loop.run(seconds: 4)
            #expect(loop.snapshot.output.enabled)
            #expect(abs(loop.setpoint.pitch) < 0.01)
        }
    }

    @Test("with the turn that was asked for while the inertia was looked for")
    func turnsWhileSearching() {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 3), seed: 3)
        while !loop.snapshot.conditions.intersects(.inertiaUnknown) { loop.run(seconds: 0.01) }
        let rate = AxisVector(yaw: 10, roll: 0, pitch: -5) * (Double.pi / 180)
        loop.ask(.rate(rate), validUntil: loop.now.advanced(bySeconds: 5))
        while loop.snapshot.conditions.intersects(.inertiaUnknown) { loop.run(seconds: 0.01) }
        let before = loop.setpoint
        loop.run(seconds: 1)
        #expect(abs(loop.setpoint.yaw - before.yaw - 10) < 1)
        #expect(abs(loop.setpoint.pitch - before.pitch + 5) < 1)
    }

    @Test("not with a turn whose dead-man has fired while the inertia was looked for")
    func turnExpiresWhileSearching() {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 3), seed: 3)
        while !loop.snapshot.conditions.intersects(.inertiaUnknown) { loop.run(seconds: 0.01) }
        let rate = AxisVector(yaw: 40, roll: 0, pitch: 0) * (Double.pi / 180)
        loop.ask(.rate(rate), validUntil: loop.now.advanced(bySeconds: 0.1))
        loop.run(seconds: 3)
        #expect(!loop.snapshot.conditions.intersects(.inertiaUnknown))
        #expect(abs(loop.setpoint.yaw) < 1)
    }
}

extension SimulatedLoop {
    /// The set-point, degrees.
    fileprivate var setpoint: AxisVector { EulerZXY.angles(snapshot.setpoint) * (180 / Double.pi) }

    /// Asks for angles in degrees; an axis that is not named keeps its own.
    fileprivate mutating func point(yaw: Double = .nan, pitch: Double = .nan) {
        let target = AxisVector(yaw: yaw, roll: .nan, pitch: pitch) * (Double.pi / 180)
        ask(.point(target: target, duration: 0))
    }
}
