import GimbalCore
import Identification
import Simulation
import Testing

@Suite("Autotune of motors without encoders")
struct FieldAutotuneTests {
    /// A gimbal with such motors, whose inertia is believed as `tuning` says.
    private static func rig(
        inertia: Double = 1, tuning change: (inout FieldController.Parameters) -> Void = { _ in }
    ) -> AutotuneTests.Rig {
        var gimbal = SimulatedGimbal.Parameters()
        gimbal.motor = .field
        gimbal.plant.scale(inertia: inertia)
        var tuning = Stabilizer.Parameters()
        tuning.motorType = .field
        tuning.field.probesInertia = false
        change(&tuning.field)
        var rig = AutotuneTests.Rig(gimbal, tuning)
        for _ in 0..<6000 { rig.step() }
        return rig
    }

    private static func found(_ rig: inout AutotuneTests.Rig) throws -> AutotuneRun {
        let run = rig.autotune([.pitch])
        _ = try #require(run.results.first, "\(String(describing: run.outcome))")
        return run
    }

    @Test("finds inertia and delay of the default plant, and leaves its tuning as it is")
    func defaultPlant() throws {
        var rig = Self.rig()
        let run = try Self.found(&rig)
        let model = try #require(run.results.first?.motor).model
        #expect(abs(model.inertia / 2.5e-3 - 1) < 0.1, "\(model)")
        #expect(abs(model.delay - 0.0035) < 0.0007, "\(model)")
        #expect(run.results[0].margins.areHealthy)
        let base = FieldController.Parameters()
        #expect(abs(run.proposal.field.rateGain.pitch / base.rateGain.pitch - 1) < 0.2)
    }

    /// Without a probe four times too little is too wrong: the observer loses its rotor before a run could begin.
    @Test(
        "finds the inertia of another camera, whether there was a probe or it was believed wrongly",
        arguments: [(4.0, true), (1 / 17.0, true), (2.0, false), (0.25, false), (1 / 17.0, false)])
    func stranger(factor: Double, isProbed: Bool) throws {
        var rig = Self.rig(inertia: factor) { $0.probesInertia = isProbed }
        let run = try Self.found(&rig)
        let model = try #require(run.results.first?.motor).model
        #expect(abs(model.inertia / (2.5e-3 * factor) - 1) < 0.2, "\(model)")
        #expect(abs(model.delay - 0.0035) < 0.001, "\(model)")
        #expect(run.proposal.field.inertia.pitch == model.inertia)
        #expect(!run.proposal.field.probesInertia)
    }

    @Test("finds the same from gains four times too low, and from the edge of oscillation")
    func mistuned() throws {
        for factor in [0.25, 2] {
            var rig = Self.rig { field in
                field.rateGain = field.rateGain * factor
                field.attitudeGain = field.attitudeGain * min(factor, 1)
            }
            let run = try Self.found(&rig)
            let tuned = run.proposal.field
            let base = FieldController.Parameters()
            #expect(abs(tuned.rateGain.pitch / base.rateGain.pitch - 1) < 0.2, "\(factor)")
            #expect(abs(tuned.inertia.pitch / 2.5e-3 - 1) < 0.2, "\(factor) \(tuned.inertia)")
        }
    }

    @Test("a slower loop gets slower gains")
    func slower() throws {
        var gimbal = SimulatedGimbal.Parameters()
        gimbal.motor = .field
        gimbal.transportDelay = 0.0045
        var tuning = Stabilizer.Parameters()
        tuning.motorType = .field
        var rig = AutotuneTests.Rig(gimbal, tuning)
        for _ in 0..<6000 { rig.step() }
        let run = try Self.found(&rig)
        let model = try #require(run.results.first?.motor).model
        #expect(abs(model.delay - 0.007) < 0.001, "\(model)")
        #expect(run.results[0].margins.areHealthy)
        #expect(run.proposal.field.rateGain.pitch < 0.62 * tuning.field.rateGain.pitch)
    }

    @Test("ends at the next command of anybody")
    func command() {
        var rig = Self.rig()
        rig.expectYielding()
    }

    @Test("ends when something pushes harder than the motor, after another attempt with soft gains")
    func push() {
        var rig = Self.rig()
        var endings: [Exciter.Ending] = []
        let run = rig.autotune([.yaw], seconds: 30) { rig, tick in
            if tick == 5000 { rig.gimbal.push = Vector3(0, 0, 0.25) }
            let state = rig.stabilizer.snapshot.excitation
            if tick > 5000, !state.isActive, endings.last != state.ending {
                endings.append(state.ending)
            }
        }
        #expect(endings.first == .error || endings.first == .saturated, "\(endings)")
        guard case .failed = run.outcome else {
            Issue.record("did not end")
            return
        }
    }
}
