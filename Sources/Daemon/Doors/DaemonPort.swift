import Calibration
import Configuration
import GimbalCore
import Links
import Policy
import Port
import Realtime

/// The links' way to the gimbal: motion goes to the Commander, settings to `Tuning`.
struct DaemonPort: GimbalPort {
    let commander: Commander
    let tuning: Tuning
    let calibrations: CalibrationService
    let hub: TelemetryHub
    let clock: LoopClock

    func request(
        _ request: MotionRequest, from source: CommandSource, now: Instant
    ) throws(Refusal) {
        try commander.request(request, from: source, now: now)
    }

    func left(_ source: CommandSource, now: Instant) {
        commander.disconnected(source, now: now)
        calibrations.disconnected(source)
    }

    var control: ControlState { commander.view(now: clock.now) }

    var snapshot: StabilizerSnapshot? {
        guard let snapshot = hub.view?.record.snapshot, snapshot.samples.accepted > 0 else {
            return nil
        }
        return snapshot
    }

    var now: Instant { clock.now }

    var settings: Settings { tuning.settings }

    func admit(_ source: CommandSource, now: Instant) throws(Refusal) {
        try commander.admit(source, now: now)
    }

    func change(
        _ updates: [SettingUpdate], from source: CommandSource, by who: String
    ) throws(Refusal) {
        try tuning.change(updates, from: source.link, by: who)
    }

    func save(
        _ keys: [String], with updates: [SettingUpdate], from source: CommandSource,
        _ note: (who: String, what: String), _ done: @escaping Later<Void>
    ) {
        tuning.save(keys, with: updates, from: source.link, note, done)
    }

    func calibrateGyro(for source: CommandSource, now: Instant) throws(Refusal) {
        try commander.request(.take, from: source, now: now)
        _ = try calibrations.start(.gyro, owner: source, now: now)
    }

    var calibration: CalibrationState { calibrations.progress }
}
