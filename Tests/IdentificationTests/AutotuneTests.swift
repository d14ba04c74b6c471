import GimbalCore
import Simulation
import Testing

@testable import Identification

@Suite("Autotune")
struct AutotuneTests {
    @Test("recovers a known model from exact points, including delay and spring")
    func exactFit() throws {
        let truth = PlantModel(inertia: 2.5e-3, damping: 0.02, stiffness: 0.3, delay: 0.0042)
        let points = [3.0, 8, 20, 50, 120, 300, 600].map {
            ResponsePoint(
                omega: $0, response: truth.response(omega: $0), coherence: 1, periods: 4)
        }
        let (model, residual) = try #require(PlantModel.fit(points))
        #expect(abs(model.inertia / 2.5e-3 - 1) < 1e-3 && abs(model.delay - 0.0042) < 2e-5)
        #expect(abs(model.stiffness - 0.3) < 0.01 && residual < 0.01)
    }

    @Test("gains for the default plant are the default tuning, and a slower loop gets lower gains")
    func design() {
        let base = AttitudeController.Parameters()
        let same = GainDesign(
            inertia: 2.5e-3, delay: 0.0035, lead: AttitudeEstimator.Parameters().sensorDelay)
        #expect(abs(same.rateGain / base.rateGain.pitch - 1) < 0.2 && same.margins.areHealthy)
        let slow = GainDesign(
            inertia: 1e-2, delay: 0.007, lead: AttitudeEstimator.Parameters().sensorDelay)
        #expect(abs(slow.rateGain / same.rateGain - 0.5) < 0.05)
        #expect(slow.margins.areHealthy)
    }

    @Test(
        "if the rate filters differ, the slowest axis determines the derivative's corner frequency, and all axes keep their margins",
        arguments: [[GimbalAxis.yaw, .roll, .pitch], [.pitch, .roll, .yaw]])
    func differentFilters(order: [GimbalAxis]) {
        var present = Stabilizer.Parameters()
        present.rateFilter.yaw = RateFilter.Axis(
            notches: [], lowPassHz: 40, order: 2, sampleRate: 1000)
        let lead = present.estimator.sensorDelay
        func design(_ axis: GimbalAxis) -> GainDesign {
            GainDesign(
                inertia: 2.5e-3, delay: 0.0035, lead: lead, filter: present.rateFilter[axis])
        }
        let results = order.map { axis in
            AutotuneRun.AxisResult(
                axis: axis, points: [],
                finding: .motor(
                    AutotuneRun.MotorFinding(
                        model: PlantModel(
                            inertia: 2.5e-3, damping: 0, stiffness: 0, delay: 0.0035),
                        coulomb: 0, viscous: 0, design: design(axis), loopDelay: 0.0035,
                        gyroDelay: nil)),
                residual: 0)
        }
        let tuned = TorqueMethod(present: present).proposal(results).controller
        #expect(design(.yaw).derivativeCutoffHz < design(.pitch).derivativeCutoffHz)
        #expect(tuned.derivativeCutoffHz == design(.yaw).derivativeCutoffHz)
        for axis in GimbalAxis.allCases {
            let margins = LoopMargins(
                of: tuned, axis: axis, lead: lead, filter: present.rateFilter[axis])
            #expect(margins.areHealthy, "\(axis): \(margins)")
        }
    }

    @Test("the proposed friction limit is at most half of the smallest torque limit")
    func largeFriction() {
        var present = Stabilizer.Parameters()
        present.controller.torqueLimit = AxisVector(yaw: 8, roll: 4, pitch: 4)
        let result = AutotuneRun.AxisResult(
            axis: .yaw, points: [],
            finding: .motor(
                AutotuneRun.MotorFinding(
                    model: PlantModel(inertia: 0.1, damping: 0, stiffness: 0, delay: 0.0035),
                    coulomb: 1.5, viscous: 0,
                    design: GainDesign(inertia: 0.1, delay: 0.0035, lead: 0.003),
                    loopDelay: 0.0035, gyroDelay: nil)),
            residual: 0)
        let tuned = TorqueMethod(present: present).proposal([result]).controller
        #expect(tuned.frictionLimit == 2)
    }

    @Test(
        "the open loop of a design has the crossover and the phase margin that the design reports",
        arguments: [[], [Notch(hz: 150, q: 4, depth: 12)]])
    func openLoop(notches: [Notch]) {
        let filter = RateFilter.Axis(
            notches: notches, lowPassHz: 0, order: 2, sampleRate: 1000)
        let lead = AttitudeEstimator.Parameters().sensorDelay
        let plant = PlantModel(inertia: 2.5e-3, damping: 0, stiffness: 0, delay: 0.0035)
        let designs = [
            GainDesign(inertia: 2.5e-3, delay: 0.0035, lead: lead, filter: filter),
            GainDesign(field: 2.5e-3, delay: 0.0035, lead: lead, filter: filter),
        ]
        for design in designs {
            let omega = design.margins.crossover
            let loop = design.response(omega: omega) * plant.response(omega: omega)
            #expect(abs(loop.magnitude - 1) < 0.01)
            let phase = 180 - abs(loop.phase) * 180 / .pi
            #expect(abs(phase - design.margins.phaseDegrees) < 0.5)
        }
    }

    @Test("finds inertia and delay of the default plant, starting from gains four times too low")
    func defaultPlant() throws {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 1)) { _, tuning in
            tuning.controller.rateGain = tuning.controller.rateGain * 0.25
            tuning.controller.attitudeGain = tuning.controller.attitudeGain * 0.25
            tuning.controller.rateIntegralGain = tuning.controller.rateIntegralGain * 0.0625
        }
        loop.run(seconds: 3)
        let run = loop.autotune([.pitch])
        let found = try #require(run.results.first?.motor, "\(String(describing: run.outcome))")
        #expect(abs(found.model.inertia / 2.5e-3 - 1) < 0.1)
        #expect(abs(found.model.delay - 0.0035) < 0.0006)
        let best = GainDesign(
            inertia: 2.5e-3, delay: 0.0035, lead: AttitudeEstimator.Parameters().sensorDelay)
        #expect(abs(found.design.rateGain / best.rateGain - 1) < 0.2)
        #expect(found.design.margins.areHealthy)
    }

    @Test("the margins of the found gains are those for the configured delay of the sensor")
    func sensorDelay() throws {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 1)) { _, tuning in
            tuning.estimator.sensorDelay = 0.006
        }
        loop.run(seconds: 3)
        let run = loop.autotune([.pitch])
        let found = try #require(run.results.first?.motor, "\(String(describing: run.outcome))")
        var tuned = loop.stabilizer.parameters.controller
        found.design.apply(to: &tuned, .pitch)
        tuned.loopDelay = found.model.delay
        func phase(lead: Double) -> Double {
            LoopMargins(of: tuned, axis: .pitch, lead: lead).phaseDegrees
        }
        #expect(abs(found.design.margins.phaseDegrees - phase(lead: 0.006)) < 0.1)
        #expect(abs(found.design.margins.phaseDegrees - phase(lead: 0.003)) > 1)
    }

    @Test(
        "gains for one axis belong to the configured delay, because this delay stays configured",
        arguments: [-0.001, 0.002])
    func oneAxis(surplus: Double) throws {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 1)) { parameters, tuning in
            parameters.transportDelay += surplus
            tuning.controller.checksInertia = true
        }
        loop.run(seconds: 3)
        let before = loop.stabilizer.parameters.controller
        let run = loop.autotune([.pitch])
        let found = try #require(run.results.first?.motor, "\(String(describing: run.outcome))")
        #expect(abs(found.model.delay - 0.0035 - surplus) < 0.0006)
        let tuned = run.proposal.controller
        #expect(tuned.loopDelay == before.loopDelay)
        #expect(tuned.derivativeCutoffHz == before.derivativeCutoffHz)
        let lead = AttitudeEstimator.Parameters().sensorDelay
        #expect(LoopMargins(of: tuned, axis: .pitch, lead: lead).areHealthy)
        #expect(abs(tuned.rateGain.pitch / before.rateGain.pitch - 1) < 0.1)
    }

    @Test("without a probe, a longer measured delay of one axis applies to all axes")
    func oneAxisWithoutProbe() throws {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 1)) { parameters, tuning in
            parameters.transportDelay += 0.002
            tuning.controller.checksInertia = false
        }
        loop.run(seconds: 3)
        let before = loop.stabilizer.parameters.controller
        let run = loop.autotune([.pitch])
        let found = try #require(run.results.first?.motor, "\(String(describing: run.outcome))")
        let tuned = run.proposal.controller
        #expect(tuned.loopDelay == found.loopDelay)
        #expect(tuned.rateGain.pitch < 0.75 * before.rateGain.pitch)
        let lead = AttitudeEstimator.Parameters().sensorDelay
        #expect(LoopMargins(of: tuned, axis: .pitch, lead: lead).areHealthy)
    }

    @Test("without a probe, the axes that were not tuned keep their margins with a longer delay")
    func otherAxesWithoutProbe() {
        var present = Stabilizer.Parameters()
        present.controller.checksInertia = false
        let lead = present.estimator.sensorDelay
        func margins(of controller: AttitudeController.Parameters) -> LoopMargins {
            LoopMargins(of: controller, axis: .yaw, lead: lead)
        }
        let result = AutotuneRun.AxisResult(
            axis: .pitch, points: [],
            finding: .motor(
                AutotuneRun.MotorFinding(
                    model: PlantModel(inertia: 2.5e-3, damping: 0, stiffness: 0, delay: 0.007),
                    coulomb: 0, viscous: 0,
                    design: GainDesign(inertia: 2.5e-3, delay: 0.007, lead: lead),
                    loopDelay: 0.007, gyroDelay: nil)),
            residual: 0)
        let tuned = TorqueMethod(present: present).proposal([result]).controller
        let (before, after) = (margins(of: present.controller), margins(of: tuned))
        #expect(tuned.loopDelay == 0.007)
        #expect(after.phaseDegrees > before.phaseDegrees - 2, "\(after)")
        #expect(after.increaseDecibels > before.increaseDecibels - 0.3, "\(after)")
    }

    @Test("a measured delay replaces the assumed wait, in the trial and in the result")
    func assumedWait() {
        var present = Stabilizer.Parameters()
        present.controller.checksInertia = false
        present.controller.loopDelay = 0.0125
        present.controller.assumedWait = 0.0045
        let result = AutotuneRun.AxisResult(
            axis: .pitch, points: [],
            finding: .motor(
                AutotuneRun.MotorFinding(
                    model: PlantModel(inertia: 2.5e-3, damping: 0, stiffness: 0, delay: 0.0105),
                    coulomb: 0, viscous: 0,
                    design: GainDesign(inertia: 2.5e-3, delay: 0.0105, lead: 0.003),
                    loopDelay: 0.0105, gyroDelay: nil)),
            residual: 0)
        let method = TorqueMethod(present: present)
        let trial = method.trial(after: present, with: result).controller
        #expect(trial.loopDelay == 0.0105 && trial.assumedWait == 0)
        // The delay is longer than the 8 ms that remain with new samples.
        let tuned = method.proposal([result]).controller
        #expect(tuned.loopDelay == 0.0105 && tuned.assumedWait == 0)
    }

    @Test("the wait for a slow sensor's samples counts once in the delay that autotune proposes")
    func slowSensor() throws {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 1)) { parameters, tuning in
            parameters.imu.sampleRate = 400
            tuning.controller.checksInertia = true
        }
        loop.run(seconds: 3)
        let run = loop.autotune(GimbalAxis.allCases)
        let delays = run.results.compactMap { $0.motor?.model.delay }
        let slowest = try #require(delays.max(), "\(String(describing: run.outcome))")
        let wait = loop.snapshot.sampleWait
        #expect(abs(wait - 0.0015) < 1e-4)
        #expect(abs(run.proposal.controller.loopDelay + wait - slowest) < 1e-4)
        loop.stabilizer.apply(run.proposal)
        loop.run(seconds: 3)
        #expect(abs(loop.snapshot.loopDelay - slowest) < 0.0005)
        #expect(!loop.snapshot.conditions.intersects(.tuningStale | .loopOscillating))
    }

    @Test("no tick evaluates a measurement, and a cancelled run is not evaluated")
    func evaluation() {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 1))
        loop.run(seconds: 3)
        var run = AutotuneRun(
            axes: [.pitch], present: loop.stabilizer.parameters, tickRate: 1000)
        for _ in 0..<60_000 {
            loop.step()
            let action = run.take(loop.snapshot)
            if case .judge = action { break }
            loop.execute(action, of: &run)
        }
        #expect(run.words == "evaluating the measurement" && run.results.isEmpty)
        var cancelled = run
        cancelled.cancel("The user has cancelled the run.")
        loop.execute(cancelled.judge(), of: &cancelled)
        #expect(cancelled.results.isEmpty)
        loop.execute(run.judge(), of: &run)
        #expect(run.results.map(\.axis) == [.pitch])
    }

    @Test("the message about the end of a joint's range contains the joint")
    func jointAtEnd() {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 1))
        loop.run(seconds: 3)
        let run = loop.autotune([.yaw], seconds: 5) { loop, _ in
            guard loop.snapshot.excitation.isActive else { return }
            var parameters = loop.stabilizer.parameters
            parameters.jointRange.minimum.roll = 0.1
            loop.stabilizer.apply(parameters)
        }
        guard case .failed(let sentence) = run.outcome else {
            Issue.record("the autotune did not end")
            return
        }
        #expect(sentence.hasPrefix("The roll joint reached the end of its range"), "\(sentence)")
    }

    @Test("the end of an earlier run does not end the next run")
    func earlierRun() {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 1))
        // The motors are still off, as at the end of a run that was refused for this reason.
        loop.step()
        loop.ask(
            .excite(
                Excitation(
                    id: 1, axis: .yaw, amplitude: 0, periodTicks: 1, ticks: 0, errorLimit: 1)))
        loop.run(seconds: 3)
        #expect(loop.snapshot.excitation.ending == .outputs)
        var run = AutotuneRun(
            axes: [.yaw], present: loop.stabilizer.parameters, tickRate: 1000)
        // In the daemon, a request takes effect after the next snapshot.
        var pending: AutotuneRun.Action?
        for _ in 0..<1500 where run.outcome == nil {
            loop.step()
            loop.execute(pending, of: &run)
            pending = run.take(loop.snapshot)
        }
        #expect(run.outcome == nil, "\(String(describing: run.outcome))")
        #expect(loop.snapshot.excitation.isActive)
    }

    @Test("ends at the next command from any source")
    func command() {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 1))
        loop.run(seconds: 3)
        loop.expectYielding()
    }
}

extension SimulatedLoop {
    /// Runs an autotune to its end.
    ///
    /// - Parameters:
    ///   - axes: Axes to tune.
    ///   - seconds: Longest time of the run, s.
    ///   - meanwhile: Called at each tick with the time since the beginning.
    /// - Returns: The run. Its outcome is nil if the run has not ended after `seconds`.
    mutating func autotune(
        _ axes: [GimbalAxis], seconds: Double = 120,
        meanwhile: (inout SimulatedLoop, _ tick: Int) -> Void = { _, _ in }
    ) -> AutotuneRun {
        var run = AutotuneRun(
            axes: axes, present: stabilizer.parameters, tickRate: 1000)
        let before = stabilizer.parameters
        for tick in 0..<Int(seconds * 1000) where run.outcome == nil {
            step()
            meanwhile(&self, tick)
            execute(run.take(snapshot), of: &run)
        }
        stabilizer.apply(before)
        return run
    }

    /// Executes an action of a run.
    mutating func execute(_ action: AutotuneRun.Action?, of run: inout AutotuneRun) {
        switch action {
        case .trial(let trial): stabilizer.apply(trial)
        case .excite(let excitation): ask(.excite(excitation))
        case .judge: execute(run.judge(), of: &run)
        case .finish, nil: break
        }
    }

    /// A request from any source ends a run.
    mutating func expectYielding() {
        let run = autotune([.yaw], seconds: 5) { loop, tick in
            guard tick == 800 else { return }
            #expect(loop.snapshot.conditions.intersects(.autotuning))
            let target = AxisVector(yaw: 0.1, roll: 0, pitch: 0)
            loop.ask(.point(target: target, duration: 1))
        }
        guard case .failed(let sentence) = run.outcome else {
            Issue.record("the autotune did not end")
            return
        }
        #expect(sentence.contains("Another request"))
        #expect(!snapshot.excitation.isActive)
    }
}
