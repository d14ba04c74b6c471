import Configuration
import GimbalCore
import Identification
import Simulation
import Testing
import Wire

@testable import Daemon

@Suite("Report of autotune") struct AutotuneReportTests {
    @Test("the sentence about proposed gains does not contain an option of the command line")
    func sentence() {
        let run = AutotuneRun(axes: [.pitch], present: Stabilizer.Parameters(), tickRate: 1000)
        var report = AutotuneReport()
        report.fill(from: run, [])
        #expect(report.sentence == "The proposed gains are not applied.")
    }

    @Test("in a slow loop with a longer delay, the settings of every axis keep the loop stable")
    func otherAxes() throws {
        var loop = SimulatedLoop(BaseMotion(.still, seed: 1)) { parameters, tuning in
            parameters.transportDelay += 0.002
            tuning.controller.checksInertia = false
        }
        loop.run(seconds: 3)
        var run = AutotuneRun(axes: [.pitch], present: loop.stabilizer.parameters, tickRate: 1000)
        for _ in 0..<120_000 where run.outcome == nil {
            loop.step()
            var action = run.take(loop.snapshot)
            if case .judge? = action { action = run.judge() }
            switch action {
            case .trial(let trial): loop.stabilizer.apply(trial)
            case .excite(let excitation): loop.ask(.excite(excitation))
            case .judge, .finish, nil: break
            }
        }
        #expect(run.results.count == 1)
        let store = ParameterStore(LoadedConfiguration())
        let changed = try store.changed(
            AutotuneProposals(of: run, present: store.settings).list)
        let parameters = changed.settings.stabilizerParameters
        for axis in GimbalAxis.allCases {
            let margins = LoopMargins(
                of: parameters.controller, axis: axis, lead: parameters.estimator.sensorDelay)
            #expect(margins.phaseDegrees > 40, "\(axis): \(margins)")
            #expect(margins.increaseDecibels > 5, "\(axis): \(margins)")
        }
    }
}
