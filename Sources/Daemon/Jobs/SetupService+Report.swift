import Calibration
import Configuration
import GimbalCore
import Links
import Persistence
import Policy
import Port
import Synchronization
import Wire

extension SetupService {
    /// The steps, with their states and results.
    func report() -> SetupReport {
        let saved = tuning.setupSteps
        let isWaiting = tuning.standing.store.hasWaitingWiring
        let calibrations = tuning.calibrations
        let running = calibration.status()
        return state.withLock { state in
            var report = SetupReport()
            report.needsRestart = isWaiting
            for name in SetupStepName.allCases {
                var step = SetupStep(name: name.rawValue, title: name.title)
                step.instruction = name.instruction
                step.state = saved[name.rawValue]?.state ?? step.state
                step.canUndo =
                    saved[name.rawValue]?.replaced.isEmpty == false
                    || name.calibration.map(calibrations.canUndo) == true
                if step.state == SetupStep.State.restart.rawValue, !isWaiting {
                    step.state = SetupStep.State.open.rawValue
                    step.sentence = "The new settings are active: run the step again to check them."
                }
                if name.isOfSensor, step.state == SetupStep.State.done.rawValue,
                    let sensor = saved[name.rawValue]?.sensor, sensor != calibrations.sensor
                {
                    step.state = SetupStep.State.open.rawValue
                    step.sentence =
                        "The step was finished with another sensor (\(sensor)): run the step again."
                }
                // `calibrate` can execute a step that has failed, and `calibrate undo` can open a
                // step that was done.
                let date = name.calibration.flatMap(calibrations.record)?.date
                if let result = state.results[name], result.failure != nil,
                    result.calibrated != date
                {
                    state.results[name] = nil
                }
                if let result = state.results[name],
                    result.failure != nil || saved[name.rawValue] != nil
                {
                    Self.fill(&step, from: result)
                }
                Self.fill(&step, name, from: state.job, running)
                report.steps.append(step)
            }
            return report
        }
    }

    private static func fill(_ step: inout SetupStep, from result: Result) {
        step.values = result.values
        step.changes = result.changes
        step.sentence = result.failure?.sentence ?? result.sentence
        guard let failure = result.failure else { return }
        step.code = failure.code
        step.state = SetupStep.State.failed.rawValue
    }

    private static func fill(
        _ step: inout SetupStep, _ name: SetupStepName, from job: Job?,
        _ calibration: CalibrationReport
    ) {
        switch job {
        case .calibration(name):
            step.instruction = calibration.instruction
            step.sentence = calibration.hint
            step.progress = calibration.progress
        case .motors(let run) where name == .motors:
            step.instruction =
                run.axis.map { "The motor of \($0.name) moves. Hold the handle still." } ?? ""
            step.sentence = ""
            step.progress = Number(run.progress)
        case .joints(let run) where name == .joints:
            step.instruction = run.instruction
            step.sentence = run.hint
            step.progress = Number(run.progress)
        case .locked(let run) where name == .locked:
            step.sentence = ""
            step.progress = Number(min(run.held / LockedSetupRun.holdSeconds, 1))
        case .saving(name): break
        case .calibration, .motors, .joints, .locked, .saving, nil: return
        }
        step.state = SetupStep.State.running.rawValue
    }
}
