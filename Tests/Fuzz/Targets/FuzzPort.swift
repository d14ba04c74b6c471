internal import Configuration
internal import GimbalCore
internal import Links
internal import Port
import Synchronization
import Wire

/// Gimbal that accepts every request, with its settings in memory.
final class FuzzPort: GimbalPort, SettingsPort {
    private let memory = Mutex(Settings())

    var tuning: any SettingsPort { self }
    var settings: Settings { memory.withLock(\.self) }

    func request(
        _ request: MotionRequest, from source: CommandSource, now: Instant
    ) throws(Refusal) {
        if case .camera(.point(let point)) = request.effect {
            for angle in [point.target.yaw, point.target.roll, point.target.pitch] {
                precondition(!angle.isInfinite, "an infinite angle")
            }
        }
    }

    func left(_ source: CommandSource, now: Instant) {}
    var control: ControlState { ControlState(mode: .locked) }
    var newest: StabilizerSnapshot? { StabilizerSnapshot() }
    var now: Instant { Instant(nanoseconds: 0) }

    var profiles: ProfileList { ProfileList() }

    func useProfile(
        _ name: String, from source: CommandSource, by who: String
    ) throws(Refusal) -> String { "" }

    func change(
        _ updates: (Settings) -> [SettingUpdate], from source: CommandSource, by who: String
    ) throws(Refusal) {
        adopt(updates(settings))
        precondition(settings.airos.pid.pitch.p.isFinite, "no number")
    }

    private func adopt(_ updates: [SettingUpdate]) {
        memory.withLock { settings in
            for update in updates {
                guard let setting = Schema.setting(update.key) else { continue }
                setting.write(&settings, update.value ?? setting.defaultValue)
            }
        }
    }

    func save(
        _ keys: [String], with updates: [SettingUpdate], from source: CommandSource,
        _ note: (who: String, what: String), _ done: @escaping Later<Void>
    ) {
        adopt(updates)
        let count = settings.rbl.name.utf8.count
        precondition((1...RBLCharacteristic.longestName).contains(count), "no name")
        done(.success(()))
    }

    func calibrateGyro(for source: CommandSource, now: Instant) throws(Refusal) {}
    var calibration: CalibrationState { CalibrationState() }
}
