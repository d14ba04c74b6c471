import Calibration
import Configuration
import GimbalCore
import Hardware
import Links
import Policy
import Port
import Realtime
import Wire

extension Tuning: SettingsPort {
    var profiles: ProfileList { ProfileList(names: profileNames, active: profile) }
}

/// Implementation of the `GimbalPort` that the links use. The `Commander` receives requests for
/// motion, and `Tuning` receives changes of settings.
struct DaemonPort: GimbalPort {
    let commander: Commander
    let tuning: any SettingsPort
    let calibrations: CalibrationService
    let spectra: SpectrumService
    let autotuning: AutotuneService
    let setup: SetupService
    /// The robot's motors; nil without stepper motors.
    let steppers: StepperMotors?
    let hub: TelemetryHub
    let clock: LoopClock

    func request(
        _ request: MotionRequest, from source: CommandSource, now: Instant
    ) throws(Refusal) {
        // A request to stop a motor is always accepted.
        if case .stepper(_, let choice) = request.effect, choice != .hold,
            source.link == .diagnostics || source.link == .assistant,
            let problem = steppers?.status.problem
        {
            throw Refusal(
                .refused,
                "the GPIO lines of the stepper motors do not work: \(problem); check robot.gpio_chip, first_line and home_line",
                field: "axis")
        }
        try commander.request(limited(request, for: source), from: source, now: now)
    }

    func limited(
        _ request: MotionRequest, for source: CommandSource
    ) throws(Refusal) -> MotionRequest {
        guard source.link == .assistant else { return request }
        return try AssistantLimits(tuning.settings).limited(request, from: newest)
    }

    func left(_ source: CommandSource, now: Instant) {
        // The set-up switches the motors off with a request of the source. Therefore the source
        // loses control last; otherwise it would be in control again.
        setup.disconnected(source, now: now)
        calibrations.disconnected(source)
        spectra.disconnected(source)
        autotuning.disconnected(source)
        commander.disconnected(source, now: now)
    }

    var control: ControlState { commander.view(now: clock.now) }

    var newest: StabilizerSnapshot? { hub.view?.record.snapshot }

    var now: Instant { clock.now }

    func calibrateGyro(for source: CommandSource, now: Instant) throws(Refusal) {
        try commander.request(.take, from: source, now: now)
        _ = try calibrations.start(.gyro, owner: source, by: "\(source)", now: now)
    }

    var calibration: CalibrationState { calibrations.progress }
}
