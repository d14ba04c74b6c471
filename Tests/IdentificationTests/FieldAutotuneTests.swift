import GimbalCore
import Identification
import Simulation
import Testing

@Suite("Autotune of motors without encoders")
struct FieldAutotuneTests {
    /// A gimbal with motors without encoders. `inertia` is a factor of the plant's inertia;
    /// `tuning` changes the controller's parameters.
    private static func loop(
        inertia: Double = 1, tuning change: (inout FieldController.Parameters) -> Void = { _ in }
    ) -> SimulatedLoop {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 1), motor: .field) {
            $0.plant.scale(inertia: inertia)
            $1.field.probesInertia = false
            change(&$1.field)
        }
        loop.run(seconds: 6)
        return loop
    }

    private static func found(_ loop: inout SimulatedLoop) throws -> AutotuneRun {
        let run = loop.autotune([.pitch])
        _ = try #require(run.results.first, "\(String(describing: run.outcome))")
        return run
    }

    @Test("finds inertia and delay of the default plant, and keeps its tuning")
    func defaultPlant() throws {
        var loop = Self.loop()
        let run = try Self.found(&loop)
        let model = try #require(run.results.first?.motor).model
        #expect(abs(model.inertia / 2.5e-3 - 1) < 0.1, "\(model)")
        #expect(abs(model.delay - 0.0035) < 0.0007, "\(model)")
        #expect(run.results[0].margins.areHealthy)
        let base = FieldController.Parameters()
        #expect(abs(run.proposal.field.rateGain.pitch / base.rateGain.pitch - 1) < 0.2)
    }

    /// Without a probe an inertia four times too small is too wrong: the observer loses its rotor
    /// before a run can begin.
    @Test(
        "finds the inertia of another camera, with a probe or with a wrong assumed inertia",
        arguments: [(4.0, true), (1 / 17.0, true), (2.0, false), (0.25, false), (1 / 17.0, false)])
    func stranger(factor: Double, isProbed: Bool) throws {
        var loop = Self.loop(inertia: factor) { $0.probesInertia = isProbed }
        let run = try Self.found(&loop)
        let model = try #require(run.results.first?.motor).model
        #expect(abs(model.inertia / (2.5e-3 * factor) - 1) < 0.2, "\(model)")
        #expect(abs(model.delay - 0.0035) < 0.001, "\(model)")
        #expect(run.proposal.field.inertia.pitch == model.inertia)
        #expect(!run.proposal.field.probesInertia)
    }

    @Test(
        "finds the same model from gains four times too low, and from gains at the edge of oscillation"
    )
    func mistuned() throws {
        for factor in [0.25, 2] {
            var loop = Self.loop { field in
                field.rateGain = field.rateGain * factor
                field.attitudeGain = field.attitudeGain * min(factor, 1)
            }
            let run = try Self.found(&loop)
            let tuned = run.proposal.field
            let base = FieldController.Parameters()
            #expect(abs(tuned.rateGain.pitch / base.rateGain.pitch - 1) < 0.2, "\(factor)")
            #expect(abs(tuned.inertia.pitch / 2.5e-3 - 1) < 0.2, "\(factor) \(tuned.inertia)")
        }
    }

    @Test("finds a delay that is much shorter than the configured delay")
    func faster() throws {
        var loop = Self.loop { $0 = $0.stretched(to: 0.009) }
        let run = try Self.found(&loop)
        let finding = try #require(run.results.first?.motor)
        #expect(abs(finding.model.delay - 0.0035) < 0.001, "\(finding.model)")
        #expect(finding.coulomb.isFinite)
    }

    @Test("a slower loop gets lower gains")
    func slower() throws {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 1), motor: .field) { gimbal, _ in
            gimbal.transportDelay = 0.0045
        }
        loop.run(seconds: 6)
        let run = try Self.found(&loop)
        let model = try #require(run.results.first?.motor).model
        #expect(abs(model.delay - 0.007) < 0.001, "\(model)")
        #expect(run.results[0].margins.areHealthy)
        #expect(
            run.proposal.field.rateGain.pitch < 0.62
                * loop.stabilizer.parameters.field.rateGain.pitch)
    }

    @Test("ends at the next command from any source")
    func command() {
        var loop = Self.loop()
        loop.expectYielding()
    }

    @Test("ends with an error when a disturbance exceeds the motor's torque")
    func push() {
        var loop = Self.loop()
        var endings: [Exciter.Ending] = []
        let run = loop.autotune([.yaw], seconds: 30) { loop, tick in
            if tick == 5000 { loop.gimbal.push = Vector3(0, 0, 0.25) }
            let state = loop.snapshot.excitation
            if tick > 5000, !state.isActive, endings.last != state.ending {
                endings.append(state.ending)
            }
        }
        #expect(endings.first == .error || endings.first == .saturated, "\(endings)")
        guard case .failed = run.outcome else {
            Issue.record("the autotune did not end")
            return
        }
    }
}
