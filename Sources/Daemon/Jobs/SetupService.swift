import Calibration
import Configuration
import GimbalCore
import Identification
import Links
import Policy
import Port
import Realtime
import Synchronization
import Wire

/// Service of the set-up: the steps from wired parts to a stabilised camera. The service runs one
/// step at a time, on request over the socket. Finished steps are saved, so every client can
/// continue the set-up, even after a restart.
///
/// The thread that drains the telemetry calls `feed` and `advance`; other methods can be called on
/// any ordinary thread. `feed` only computes; `advance` sends the requests.
final class SetupService: Sendable {
    enum Job {
        case calibration(SetupStepName)
        case motors(MotorSetupRun)
        case joints(JointRangeRun)
        case locked(LockedSetupRun)
        /// The result of the step is being written to the disk.
        case saving(SetupStepName)

        /// The step that is running.
        var step: SetupStepName {
            switch self {
            case .calibration(let step), .saving(let step): step
            case .motors: .motors
            case .joints: .joints
            case .locked: .locked
            }
        }
    }

    /// Results of this process, for the report.
    struct Result {
        var failure: MotorSetupRun.Failure?
        /// Date of the active calibration at the failure. A later calibration ends the failure.
        var calibrated: Double?
        var sentence = ""
        var values: [SetupValue] = []
        var changes: [SetupChange] = []
    }

    struct State {
        var job: Job?
        var owner: CommandSource?
        var who = ""
        var results: [SetupStepName: Result] = [:]
    }

    let tuning: Tuning
    private let commander: Commander
    let calibration: CalibrationService
    let hub: TelemetryHub
    let state = Mutex(State())

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - tuning: Owner of the settings, which also saves the finished steps.
    ///   - commander: Receiver of the requests for motion.
    ///   - calibration: Service of the calibrations.
    ///   - hub: Source of the newest values of the loop.
    init(
        tuning: Tuning, commander: Commander, calibration: CalibrationService, hub: TelemetryHub
    ) {
        self.tuning = tuning
        self.commander = commander
        self.calibration = calibration
        self.hub = hub
    }

    // MARK: Requests

    /// Starts a step. A finished step can be started again.
    ///
    /// - Parameters:
    ///   - step: The step.
    ///   - owner: The requesting connection; a step that moves motors ends with this connection.
    ///   - who: Description of the client, for the history.
    ///   - now: Current time on the loop's clock.
    /// - Throws: `Refusal` that states why the step cannot start.
    func start(
        _ step: SetupStepName, owner: CommandSource, who: String, now: Instant
    ) throws(Refusal) {
        guard state.withLock({ $0.job == nil }) else {
            throw Refusal(
                .busy, "A step of the set-up is running; `airframectl setup cancel` ends it.")
        }
        switch step {
        case .chips: try checkChips(who)
        case .gyro, .accelerometer, .mounting:
            if let kind = step.calibration {
                _ = try calibration.start(kind, owner: owner, by: who, now: now)
                begin(.calibration(step), step, owner, who)
            }
        case .motors:
            guard !calibration.status().isRunning else {
                throw Refusal(
                    .busy, "A calibration is running; `airframectl calibrate cancel` ends it.")
            }
            let settings = tuning.settings
            try settings.requireMeasurableWiring()
            let axes = settings.motorisedAxes
            guard !axes.isEmpty else {
                throw Refusal(
                    .refused,
                    "No motors are configured; set hardware.linux.motors and restart airframed.")
            }
            try requireEncoders()
            try commander.request(.mode(.inactive), from: owner, now: now)
            begin(.motors(MotorSetupRun(axes: axes, settings: settings)), step, owner, who)
        case .joints:
            try requireActiveWiring()
            let run = try jointRun()
            try commander.request(.mode(.inactive), from: owner, now: now)
            begin(.joints(run), step, owner, who)
        case .locked:
            try requireActiveWiring()
            try commander.request(.mode(.locked), from: owner, now: now)
            begin(.locked(LockedSetupRun(now: now)), step, owner, who)
        case .balance: try checkBalance(who)
        case .save:
            begin(.saving(step), step, owner, who)
            tuning.save(as: step.rawValue, by: who) { result in
                switch result {
                case .success(let sentence): self.finish(step, Result(sentence: sentence), who: who)
                case .failure(let refusal): self.fail(step, "not_saved", refusal.message)
                }
            }
        }
    }

    private func begin(
        _ job: Job, _ step: SetupStepName, _ owner: CommandSource, _ who: String
    ) {
        state.withLock { state in
            state.job = job
            state.owner = owner
            state.who = who
            state.results[step] = Result()
        }
    }

    /// Marks a step as skipped, or as done because a person has checked the result. If a skipped
    /// step is running, the step ends first.
    ///
    /// - Throws: A refusal if the step is running and cannot be marked.
    func mark(
        _ step: SetupStepName, as result: SetupStep.State, who: String, now: Instant,
        _ done: @escaping Later<Void>
    ) throws(Refusal) {
        if result == .skipped { stop(now: now) { $0.job?.step == step } }
        try requireEnded(step)
        state.withLock { $0.results[step]?.failure = nil }
        tuning.finishSetup(step.rawValue, result.rawValue, by: who, done)
    }

    /// Restores the settings or the calibration from before a step, and marks the step as open. If
    /// the step is running, the step ends first, and the motors are switched off.
    ///
    /// - Throws: A refusal while the result of the step is being saved.
    func undo(
        _ step: SetupStepName, who: String, now: Instant, _ done: @escaping Later<Void>
    ) throws(Refusal) {
        stop(now: now) { $0.job?.step == step }
        try requireEnded(step)
        let names = [step.rawValue]
        state.withLock { $0.results[step] = nil }
        guard let kind = step.calibration, tuning.calibrations.canUndo(kind) else {
            return tuning.undoSetup(names, by: who, done)
        }
        calibration.undo(kind, by: who) { result in
            switch result {
            case .success: self.tuning.undoSetup(names, by: who, done)
            case .failure(let refusal): done(.failure(refusal))
            }
        }
    }

    /// Refuses a request about a step while the step is running.
    private func requireEnded(_ step: SetupStepName) throws(Refusal) {
        guard state.withLock({ $0.job?.step == step }) else { return }
        throw Refusal(
            .busy,
            "The step \(step.rawValue) is running; `airframectl setup cancel` ends it.")
    }

    /// Marks all steps as open, without a change of the settings. A running step ends.
    func forget(who: String, now: Instant, _ done: @escaping Later<Void>) {
        cancel(now: now)
        state.withLock { $0.results = [:] }
        tuning.forgetSetup(by: who, done)
    }

    /// Cancels the running step. The motors are switched off.
    func cancel(now: Instant) { stop(now: now) { _ in true } }

    /// Ends the step that a connection has requested, because the connection has ended.
    func disconnected(_ owner: CommandSource, now: Instant) {
        stop(now: now) { $0.owner == owner }
    }

    private func stop(now: Instant, where isMeant: (State) -> Bool) {
        let (job, owner): (Job?, CommandSource?) = state.withLock { state in
            guard let job = state.job, isMeant(state) else { return (nil, nil) }
            if case .saving = job { return (nil, nil) }
            if case .calibration = job, calibration.isSaving { return (nil, nil) }
            state.job = nil
            return (job, state.owner)
        }
        switch job {
        case .calibration: _ = calibration.cancel()
        case .motors, .joints, .locked:
            if let owner { try? commander.request(.mode(.inactive), from: owner, now: now) }
        case .saving, nil: break
        }
    }

    // MARK: Progress

    /// Passes a tick to the running step. Without a running step, the call returns immediately.
    func feed(_ record: TelemetryRecord) {
        state.withLock { state in
            switch state.job {
            case .motors(var run):
                run.feed(record)
                state.job = .motors(run)
            case .joints(var run):
                run.feed(record)
                state.job = .joints(run)
            case .locked(var run):
                run.feed(record)
                state.job = .locked(run)
            case .calibration, .saving, nil: break
            }
        }
    }

    /// Sends the requests of the running step, and ends a complete step.
    func advance(now: Instant) {
        var request: MotionRequest?
        var refusal: Refusal?
        let (job, owner, who): (Job?, CommandSource?, String) = state.withLock { state in
            switch state.job {
            case .motors(var run):
                request = run.next(now: now)
                state.job = .motors(run)
            case .joints(var run):
                request = run.next(now: now)
                state.job = .joints(run)
            case .calibration, .locked, .saving, nil: break
            }
            // The request is sent while the lock is held. Otherwise it could follow the request with
            // which a cancellation switches the motors off, and a motor would move again.
            if let request, let owner = state.owner {
                do throws(Refusal) {
                    try commander.request(request, from: owner, now: now)
                } catch {
                    refusal = error
                }
            }
            return (state.job, state.owner, state.who)
        }
        guard let owner else { return }
        if let refusal {
            return end(job?.step ?? .motors, "interrupted", refusal.message, owner, now)
        }
        switch job {
        case .motors(let run):
            if let failure = run.failure {
                end(.motors, failure.code, failure.sentence, owner, now)
            } else if run.isComplete, request == nil, claim(.motors) {
                conclude(run, who)
            }
        case .joints(let run):
            if let failure = run.failure {
                end(.joints, failure.code, failure.sentence, owner, now)
            } else if run.isComplete, request == nil, claim(.joints) {
                conclude(run, who)
            }
        case .locked(let run):
            if let failure = run.failure {
                end(.locked, failure.code, failure.sentence, owner, now)
            } else if run.isComplete, claim(.locked) {
                finish(
                    .locked,
                    Result(
                        sentence: "The motors held the camera for 3 s, and stay on.",
                        values: [SetupValue("largest error", run.error * 180 / .pi, "°")]),
                    who: who)
            }
        case .calibration(let step): watch(step, who)
        case .saving, nil: break
        }
    }

    /// Marks a step that has ended as being saved. Later, the step can no longer be cancelled.
    ///
    /// - Returns: False if the step was cancelled since its last tick.
    private func claim(_ step: SetupStepName) -> Bool {
        state.withLock { state in
            guard state.job?.step == step else { return false }
            state.job = .saving(step)
            return true
        }
    }

    /// Ends the step when its calibration has ended.
    private func watch(_ step: SetupStepName, _ who: String) {
        let report = calibration.status()
        guard !report.isRunning, !calibration.progress.isRunning, claim(step) else { return }
        if report.state == CalibrationReport.State.done.rawValue {
            finish(
                step,
                Result(
                    sentence: report.sentence,
                    values: [
                        SetupValue("residual", report.residual.known ?? .nan, report.residualUnit)
                    ]), who: who)
        } else {
            fail(step, report.state, report.sentence)
        }
    }

    private func conclude(_ run: MotorSetupRun, _ who: String) {
        let settings = tuning.settings
        let type = settings.motors.type
        let updates: [SettingUpdate]
        do throws(MotorProblem) {
            let right = try settings.motorAssignment.corrected(by: run.findings, type: type)
            do throws(Refusal) {
                updates = try settings.updates(to: right)
            } catch {
                return fail(.motors, "swapped_plugs", error.message)
            }
        } catch {
            return fail(.motors, error.rawValue, MotorSetupRun.sentence(error, nil))
        }
        var result = Result()
        for axis in GimbalAxis.allCases {
            guard let finding = run.findings[axis] else { continue }
            let turns = finding.direction > 0 ? 1.0 : -1.0
            result.values.append(
                SetupValue(
                    "motor \(axis.name) turns \(finding.axis.name)",
                    turns * (finding.ratio.isNaN ? 1 : finding.ratio), ""))
        }
        result.changes = changes(updates, settings)
        result.sentence =
            updates.isEmpty
            ? "All motors turn their own axis, in the right direction."
            : "The new settings are saved. Restart airframed, then run the step again to check them: sudo systemctl restart airframed."
        finish(.motors, result, updates, who: who)
    }

    private func end(
        _ step: SetupStepName, _ code: String, _ sentence: String, _ owner: CommandSource,
        _ now: Instant
    ) {
        guard claim(step) else { return }
        try? commander.request(.mode(.inactive), from: owner, now: now)
        fail(step, code, sentence)
    }

    func fail(
        _ step: SetupStepName, _ code: String, _ sentence: String, _ values: [SetupValue] = []
    ) {
        let date = step.calibration.flatMap(tuning.calibrations.record)?.date
        state.withLock { state in
            state.job = nil
            state.results[step] = Result(
                failure: MotorSetupRun.Failure(code: code, sentence: sentence), calibrated: date,
                values: values)
        }
    }

    func finish(
        _ step: SetupStepName, _ result: Result, _ updates: [SettingUpdate] = [],
        isChecked: Bool = false, who: String
    ) {
        state.withLock { state in
            state.job = .saving(step)
            state.results[step] = result
        }
        let ending: SetupStep.State = updates.isEmpty || isChecked ? .done : .restart
        tuning.finishSetup(step.rawValue, ending.rawValue, updates, by: who) { outcome in
            switch outcome {
            case .success: self.state.withLock { $0.job = nil }
            case .failure(let refusal): self.fail(step, "not_saved", refusal.message)
            }
        }
    }
}
