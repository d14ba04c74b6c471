import Configuration
import GimbalCore
import Links
import Port
import Synchronization

/// A gimbal that carries out and records every request. Its mode is `locked`, its settings are the
/// defaults.
final class FakePort: GimbalPort, SettingsPort {
    struct Memory {
        var settings = Settings()
        var control = ControlState(mode: .locked)
        var snapshot = StabilizerSnapshot()
        var calibration = CalibrationState()
        var requests: [MotionRequest] = []
        var gone: [CommandSource] = []
        /// Refusal of every request; nil: requests are granted.
        var refusal: Refusal?
        /// True if only the first source is obeyed; `owner` is this source.
        var isOwned = false
        var owner: CommandSource?
        /// Receives every granted request.
        var hears: (@Sendable (MotionRequest) -> Void)?
        /// Stored profiles, and the selected one.
        var profiles = ProfileList()
        /// Saves, in the words of the log.
        var saves: [String] = []
        /// True if saves wait in `waiting`.
        var isDiskSlow = false
        var waiting: [Later<Void>] = []
        /// Number of started calibrations of the gyroscope.
        var calibrations = 0
    }

    let memory: Mutex<Memory>

    init() {
        var memory = Memory()
        memory.snapshot.mode = .locked
        memory.snapshot.samples.accepted = 1
        self.memory = Mutex(memory)
    }

    /// The requests as text.
    var asked: [String] { memory.withLock { $0.requests.map(\.words) } }

    /// The requests since the last call.
    func takeRequests() -> [MotionRequest] {
        memory.withLock { memory in
            defer { memory.requests = [] }
            return memory.requests
        }
    }

    func request(
        _ request: MotionRequest, from source: CommandSource, now: Instant
    ) throws(Refusal) {
        let refusal: Refusal? = memory.withLock { memory in
            if memory.refusal == nil { memory.owner = memory.owner ?? source }
            if memory.isOwned, memory.owner != source {
                return Refusal(.held, "another client is in control")
            }
            if memory.refusal == nil { memory.requests.append(request) }
            if memory.refusal == nil { memory.hears?(request) }
            if memory.refusal == nil, case .camera(.mode(let mode)) = request.effect {
                memory.control.mode = mode
            }
            return memory.refusal
        }
        if let refusal { throw refusal }
    }

    func left(_ source: CommandSource, now: Instant) { memory.withLock { $0.gone.append(source) } }

    var control: ControlState { memory.withLock { $0.control } }
    var newest: StabilizerSnapshot? { memory.withLock { $0.snapshot } }
    var now: Instant { Instant(nanoseconds: 0) }
    var tuning: any SettingsPort { self }
    var settings: Settings { memory.withLock { $0.settings } }

    private func admit(_ source: CommandSource) throws(Refusal) {
        if let refusal = memory.withLock({ $0.refusal }) { throw refusal }
    }

    var profiles: ProfileList { memory.withLock { $0.profiles } }

    func useProfile(
        _ name: String, from source: CommandSource, by who: String
    ) throws(Refusal) -> String {
        try admit(source)
        memory.withLock { $0.profiles.active = name }
        return "The tuning \(name) is active."
    }

    func change(
        _ make: (Settings) -> [SettingUpdate], from source: CommandSource, by who: String
    ) throws(Refusal) {
        try admit(source)
        let updates = make(settings)
        if (try? ParameterStore(LoadedConfiguration()).changed(updates)) == nil {
            throw Refusal(.outOfRange, "out of range")
        }
        memory.withLock { $0.settings.adopt(updates) }
    }

    func save(
        _ keys: [String], with updates: [SettingUpdate], from source: CommandSource,
        _ note: (who: String, what: String), _ done: @escaping Later<Void>
    ) throws(Refusal) {
        if source.link == .airos { try admit(source) }
        let isSlow = memory.withLock { memory in
            memory.settings.adopt(updates)
            memory.saves.append("\(note.who) \(note.what)")
            if memory.isDiskSlow { memory.waiting.append(done) }
            return memory.isDiskSlow
        }
        if !isSlow { done(.success(())) }
    }

    func calibrateGyro(for source: CommandSource, now: Instant) throws(Refusal) {
        memory.withLock { $0.calibrations += 1 }
    }

    var calibration: CalibrationState { memory.withLock { $0.calibration } }
}

extension Settings {
    /// Writes new values without a range check.
    fileprivate mutating func adopt(_ updates: [SettingUpdate]) {
        for update in updates {
            guard let setting = Schema.setting(update.key) else { continue }
            setting.write(&self, update.value ?? setting.defaultValue)
        }
    }
}

extension MotionRequest {
    /// The effect as text, which is comparable even if values are NaN.
    var words: String {
        if case .camera(let command) = effect { "\(command)" } else { "\(effect)" }
    }
}
