import Configuration
import GimbalCore
import Links
import Policy
import Port

/// The links' way to the gimbal: motion goes to the Commander, settings to `Tuning`.
struct DaemonPort: GimbalPort {
    let commander: Commander
    let tuning: Tuning
    let calibration: CalibrationService

    func request(
        _ request: MotionRequest, from source: CommandSource, now: Instant
    ) throws(Refusal) {
        try commander.request(request, from: source, now: now)
    }

    func left(_ source: CommandSource, now: Instant) {
        commander.disconnected(source, now: now)
        calibration.disconnected(source)
    }

    var settings: Settings { tuning.settings }

    func keep(_ update: SettingUpdate, by who: String, _ done: @escaping Later<Void>) {
        tuning.keep(update, by: who, done)
    }
}
