import GimbalCore
import Simulation
import Testing

@Suite("Set-point when the outputs switch on")
struct StabilizerStartTests {
    @Test("earlier point commands apply for each axis, and the other axes are level")
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

    @Test("a point command in the same tick as the mode applies")
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

    @Test("a point command before a change to inactive or an emergency stop is forgotten")
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

    @Test("a changed inertia is measured at once, while the camera keeps its attitude")
    func inertiaChanged() {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 3), seed: 3)
        loop.run(seconds: 3)
        loop.point(pitch: -20)
        loop.run(seconds: 3)
        var tuning = loop.stabilizer.parameters
        tuning.controller.inertia = tuning.controller.inertia * 1.5
        loop.stabilizer.apply(tuning)
        loop.run(seconds: 0.1)
        #expect(loop.snapshot.inertiaSigma.pitch > 0.6, "the search has begun")
        var worst = 0.0
        loop.run(seconds: 4) {
            worst = max(worst, abs(EulerZXY.angles($0.snapshot.attitude).pitch * 180 / .pi + 20))
        }
        #expect(loop.snapshot.inertiaSigma.pitch < 0.3, "the search has ended")
        #expect(worst < 3, "\(worst)°")
        loop.point(pitch: 0)
        loop.run(seconds: 3)
        #expect(abs(loop.setpoint.pitch) < 0.01)
    }

    @Test("a rate command during the search for the inertia applies after the search")
    func turnsWhileSearching() throws {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 3), seed: 3)
        try loop.run(untilSearching: true)
        let rate = AxisVector(yaw: 10, roll: 0, pitch: -5) * (Double.pi / 180)
        loop.ask(.rate(rate), validUntil: loop.now.advanced(bySeconds: 5))
        try loop.run(untilSearching: false)
        let before = loop.setpoint
        loop.run(seconds: 1)
        #expect(abs(loop.setpoint.yaw - before.yaw - 10) < 1)
        #expect(abs(loop.setpoint.pitch - before.pitch + 5) < 1)
    }

    @Test(
        "a rate command whose dead-man time ends during the search for the inertia does not apply")
    func turnExpiresWhileSearching() throws {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 3), seed: 3)
        try loop.run(untilSearching: true)
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

    /// Sends a point command in degrees; an axis without a value keeps its angle.
    fileprivate mutating func point(yaw: Double = .nan, pitch: Double = .nan) {
        let target = AxisVector(yaw: yaw, roll: .nan, pitch: pitch) * (Double.pi / 180)
        ask(.point(target: target, duration: 0))
    }

    /// Runs until the search for the inertia has begun or ended, for at most 10 s of simulated time.
    fileprivate mutating func run(untilSearching isSearching: Bool) throws {
        for _ in 0..<1000 {
            if snapshot.conditions.intersects(.inertiaUnknown) == isSearching { return }
            run(seconds: 0.01)
        }
        throw Failure.searchUnchanged(isSearching: isSearching)
    }

    private enum Failure: Error {
        /// The search for the inertia did not begin or end in time.
        case searchUnchanged(isSearching: Bool)
    }
}
