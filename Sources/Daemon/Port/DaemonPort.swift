import Calibration
import Configuration
import GimbalCore
import Hardware
import Links
import Policy
import Port
import Realtime
import Wire

/// Implementation of the links' port: motion goes to the Commander, settings to `Tuning`.
struct DaemonPort: GimbalPort {
    let commander: Commander
    let tuning: Tuning
    let calibrations: CalibrationService
    let spectra: SpectrumService
    let autotuning: AutotuneService
    /// The robot's motors; nil without them.
    let steppers: StepperMotors?
    let hub: TelemetryHub
    let clock: LoopClock

    func request(
        _ request: MotionRequest, from source: CommandSource, now: Instant
    ) throws(Refusal) {
        // A request to stop a motor is always accepted.
        if case .step(_, let wish) = request, wish != .hold, source.link == .diagnostics,
            let problem = steppers?.status.problem
        {
            throw Refusal(
                .refused,
                "the lines of the stepper motors do not work: \(problem); check robot.gpio_chip, first_line and home_line",
                field: "axis")
        }
        try commander.request(request, from: source, now: now)
    }

    func left(_ source: CommandSource, now: Instant) {
        commander.disconnected(source, now: now)
        calibrations.disconnected(source)
        spectra.disconnected(source)
        autotuning.disconnected(source)
    }

    var control: ControlState { commander.view(now: clock.now) }

    var newest: StabilizerSnapshot? { hub.view?.record.snapshot }

    var now: Instant { clock.now }

    var settings: Settings { tuning.settings }

    func change(
        _ updates: [SettingUpdate], from source: CommandSource, by who: String
    ) throws(Refusal) {
        try admit(source)
        try tuning.change(updates, from: source.link, by: who)
    }

    func save(
        _ keys: [String], with updates: [SettingUpdate], from source: CommandSource,
        _ note: (who: String, what: String), _ done: @escaping Later<Void>
    ) throws(Refusal) {
        try admit(source)
        tuning.save(keys, with: updates, from: source.link, note, done)
    }

    /// Checks that no other source is in control; apps only.
    private func admit(_ source: CommandSource) throws(Refusal) {
        if source.link == .airos { try commander.admit(source, now: clock.now) }
    }

    func calibrateGyro(for source: CommandSource, now: Instant) throws(Refusal) {
        try commander.request(.take, from: source, now: now)
        _ = try calibrations.start(.gyro, owner: source, now: now)
    }

    var calibration: CalibrationState { calibrations.progress }
}
