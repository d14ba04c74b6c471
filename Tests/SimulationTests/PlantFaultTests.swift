import GimbalCore
import Simulation
import Testing

/// Tests a plant that differs from the controller's model in inertia or delay. The measured values
/// come from the true state of the camera.
@Suite("Differences between plant and model")
struct PlantFaultTests {
    /// Result of a run with torque motors and a still handle.
    struct Outcome {
        /// Largest angle between the true camera attitude and its initial attitude, degrees.
        var turned = 0.0
        /// RMS of the true rate above 15 Hz over the last second, deg/s.
        var tremor = 0.0
        /// RMS of the largest motor torque over the last second, N·m.
        var torque = 0.0
        /// Time from the fault until the first report of each condition, s.
        var named: [UInt64: Double] = [:]
        /// Conditions at the end.
        var last: Conditions = .none
        /// Ratio of the estimated to the true inertia about the pitch axis.
        var inertia = 0.0

        func seconds(until condition: Conditions) -> Double {
            named[condition.rawValue] ?? .infinity
        }
    }

    static let watched: [Conditions] = [
        .loopOscillating, .inertiaNotFound, .tuningStale, .inertiaUnknown, .samplesSlow,
    ]

    /// Runs the loop for a number of seconds. Measures from the time of the fault, but not before 1
    /// s.
    static func run(
        seconds: Double, onset: Double = 0,
        _ change: (inout SimulatedGimbal.Parameters, inout Stabilizer.Parameters) -> Void = {
            _, _ in
        },
        fault: (inout SimulatedGimbal) -> Void = { _ in }
    ) -> Outcome {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 1), change: change)
        var outcome = Outcome()
        var first: Quaternion?
        var (tremor, lastRate) = (Vector3.zero, Vector3.zero)
        let ticks = Int(seconds * 1000)
        for tick in 1...ticks {
            if tick == Int(onset * 1000) { fault(&loop.gimbal) }
            loop.step()
            let gimbal = loop.gimbal
            let time = Double(tick) * 1e-3
            guard time > max(onset, 1) else { continue }
            let start = first ?? gimbal.attitude
            first = start
            outcome.turned = max(
                outcome.turned, start.error(to: gimbal.attitude).norm * 180 / .pi)
            for condition in watched where loop.conditions.intersects(condition) {
                if outcome.named[condition.rawValue] == nil {
                    outcome.named[condition.rawValue] = time - onset
                }
            }
            tremor = (tremor + gimbal.rate - lastRate) * 0.914
            lastRate = gimbal.rate
            guard tick > ticks - 1000 else { continue }
            let torque = loop.output.torque
            let largest = max(abs(torque.yaw), abs(torque.roll), abs(torque.pitch))
            outcome.tremor += tremor.squaredNorm / 1000
            outcome.torque += largest * largest / 1000
        }
        outcome.tremor = outcome.tremor.squareRoot() * 180 / .pi
        outcome.torque = outcome.torque.squareRoot()
        outcome.last = loop.conditions
        outcome.inertia = loop.snapshot.inertia.pitch / loop.gimbal.inertia.pitch
        return outcome
    }

    @Test(
        "a camera that loses two thirds of its inertia stops oscillating, and the new inertia is estimated"
    )
    func lighter() {
        let outcome = Self.run(seconds: 10, onset: 6, fault: { $0.scaleInertia(by: 1 / 3.0) })
        #expect(outcome.seconds(until: .loopOscillating) < 0.3)
        #expect(outcome.tremor < 1 && outcome.torque < 0.03, "\(outcome)")
        #expect(outcome.turned < 1)
        #expect(!outcome.last.intersects(.loopOscillating))
        #expect(abs(outcome.inertia - 1) < 0.25)
    }

    @Test("the detection of oscillations can be switched off")
    func unwatched() {
        let outcome = Self.run(
            seconds: 8, onset: 6, { $1.controller.watchesOscillation = false },
            fault: { $0.scaleInertia(by: 1 / 3.0) })
        #expect(outcome.seconds(until: .loopOscillating) == .infinity)
    }

    @Test("switching the detection off ends a reported oscillation")
    func unwatchedLater() {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 1))
        loop.run(seconds: 6)
        loop.gimbal.scaleInertia(by: 1 / 3.0)
        var ticks = 0
        while !loop.conditions.intersects(.loopOscillating), ticks < 500 {
            loop.step()
            ticks += 1
        }
        #expect(loop.conditions.intersects(.loopOscillating))
        var tuning = loop.stabilizer.parameters
        tuning.controller.watchesOscillation = false
        loop.stabilizer.apply(tuning)
        loop.run(seconds: 0.01)
        #expect(!loop.conditions.intersects(.loopOscillating))
    }

    @Test("the snapshot shows how far a longer loop delay reduces the corner frequencies")
    func bandwidth() {
        for surplus in [0, 0.005] {
            var configured = 0.0
            var loop = SimulatedLoop(BaseMotion(.still, seed: 1)) { parameters, tuning in
                parameters.transportDelay += surplus
                tuning.controller.findsInertia = true
                configured = tuning.controller.loopDelay
            }
            loop.run(seconds: 8)
            let snapshot = loop.snapshot
            #expect(snapshot.bandwidth <= min(1, configured / snapshot.loopDelay) + 1e-9)
            if surplus > 0 {
                #expect(snapshot.bandwidth < 0.8, "\(snapshot.bandwidth)")
            } else {
                #expect(snapshot.bandwidth > 0.9, "\(snapshot.bandwidth)")
            }
        }
    }

    @Test(
        "the inertia probe also works if the delay is longer or shorter than configured",
        arguments: [0.003, 0.005, 0.007, -0.005])
    func delay(_ surplus: Double) {
        let outcome = Self.run(seconds: 8) { parameters, tuning in
            if surplus > 0 {
                parameters.transportDelay += surplus
            } else {
                tuning.controller.loopDelay -= surplus
            }
        }
        #expect(!outcome.last.intersects(.inertiaUnknown | .inertiaNotFound), "\(outcome)")
        #expect(outcome.tremor < 1 && outcome.torque < 0.03, "\(outcome)")
        #expect(outcome.turned < 2, "\(outcome)")
        #expect(abs(outcome.inertia - 1) < 0.3, "\(outcome)")
    }

    @Test(
        "samples less frequent than the loop's ticks are reported within 1.1 s, and the camera stays within 3°",
        arguments: [200.0, 250, 333])
    func slowSamples(_ rate: Double) {
        let outcome = Self.run(seconds: 8) { parameters, _ in parameters.imu.sampleRate = rate }
        #expect(outcome.seconds(until: .samplesSlow) < 1.1)
        #expect(outcome.tremor < 3 && outcome.turned < 3, "\(outcome)")
        #expect(abs(outcome.inertia - 1) < 0.3, "\(outcome)")
    }

    @Test("a sensor clock that is slow by 5 % is not reported as slow samples")
    func slowClock() {
        let outcome = Self.run(seconds: 4) { parameters, _ in parameters.imu.sampleRate = 950 }
        #expect(outcome.seconds(until: .samplesSlow) == .infinity)
    }

    @Test("a failed search for the inertia is reported, and the motors are nearly without torque")
    func stuck() {
        // The friction exceeds the torque of the motors, so these joints do not move.
        let outcome = Self.run(seconds: 12) { parameters, _ in
            parameters.plant.friction.coulomb = 0.5
            parameters.plant.friction.stiction = 0.5
        }
        #expect(outcome.seconds(until: .inertiaNotFound) < 11)
        #expect(outcome.last.intersects(.inertiaNotFound))
        #expect(outcome.torque < 0.03, "\(outcome)")
    }

    @Test(
        "a saved inertia of another camera is reported at the start, and the inertia is estimated again",
        arguments: [0.1, 0.2, 0.4, 3.0])
    func stale(_ factor: Double) {
        let outcome = Self.run(seconds: 6) { parameters, tuning in
            tuning.controller.findsInertia = false
            parameters.plant.scale(inertia: factor)
        }
        #expect(outcome.seconds(until: .tuningStale) < 3)
        #expect(outcome.last.intersects(.tuningStale))
        #expect(outcome.tremor < 1 && outcome.turned < 2, "\(outcome)")
        #expect(abs(outcome.inertia - 1) < 0.4, "\(outcome)")
    }

    @Test(
        "a saved inertia within 15 % of the true inertia is kept unchanged",
        arguments: [0.85, 1, 1.15])
    func kept(_ factor: Double) {
        let outcome = Self.run(seconds: 6) { parameters, tuning in
            tuning.controller.findsInertia = false
            parameters.plant.scale(inertia: factor)
        }
        #expect(outcome.seconds(until: .tuningStale) == .infinity)
        #expect(abs(outcome.inertia * factor - 1) < 1e-12)
    }
}
