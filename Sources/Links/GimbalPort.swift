public import Configuration
public import GimbalCore
public import Port

/// Interface of the links to the gimbal: requests for motion, settings, the newest snapshot, and
/// the end of a source's connection.
///
/// The threads of the links call the port's methods, which never wait. When a write to the disk is
/// complete, the port calls a closure of type `Later`.
public protocol GimbalPort: Sendable {
    // MARK: Motion

    /// Requests motion, or control of the gimbal. After this method returns, the request takes
    /// effect at the loop's next tick.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - source: Source of the request.
    ///   - now: Time at which the request was received, on the loop's clock.
    /// - Throws: `Refusal` if the request is refused.
    func request(
        _ request: MotionRequest, from source: CommandSource, now: Instant
    ) throws(Refusal)

    /// The request, limited to the source's permitted values; `request` applies the same limits.
    ///
    /// - Throws: `Refusal` if the request exceeds the limits.
    func limited(
        _ request: MotionRequest, for source: CommandSource
    ) throws(Refusal) -> MotionRequest

    /// Reports the end of a source's connection. A motion at a rate that the source has requested
    /// is stopped; a motion to a target continues, unless an assistant has requested the motion. If
    /// the source has started a calibration, a recording or an autotune, the task is cancelled.
    func left(_ source: CommandSource, now: Instant)

    /// State of control: the source in control and the active mode.
    var control: ControlState { get }

    /// The loop's newest snapshot; nil before its first tick.
    var newest: StabilizerSnapshot? { get }

    /// The loop's clock.
    var now: Instant { get }

    /// Port that reads and changes the settings.
    var tuning: any SettingsPort { get }

    // MARK: Calibration

    /// Takes control, switches the motors off, and starts the calibration of the gyroscope's
    /// offset.
    ///
    /// - Throws: `Refusal` if the request is refused.
    func calibrateGyro(for source: CommandSource, now: Instant) throws(Refusal)

    /// State of calibration.
    var calibration: CalibrationState { get }
}

/// Interface of the links to the settings. The threads of the links call the port's methods, which
/// never wait for a disk.
public protocol SettingsPort: Sendable {
    /// The active settings.
    var settings: Settings { get }

    /// Changes several settings together; either all settings change or none. The changes last
    /// until the process ends, unless the changes are saved. Changes that an app has made are
    /// reverted after `airos.rollback_s`. An app cannot change settings while another source is in
    /// control.
    ///
    /// - Parameters:
    ///   - updates: Function that returns the new values. Its parameter is the settings to change:
    ///     first the active settings, then those to which a temporary change will revert. A
    ///     function that changes only a part of a setting, for example one axis, therefore does not
    ///     make a temporary change of the other parts permanent.
    ///   - source: Source of the change.
    ///   - who: Name of the source for the log.
    /// - Throws: `Refusal` if another source is in control, a value is invalid, or another client's
    ///   temporary change is active. Nothing has changed.
    func change(
        _ updates: (Settings) -> [SettingUpdate], from source: CommandSource, by who: String
    ) throws(Refusal)

    /// Saves only the given settings.
    ///
    /// - Parameters:
    ///   - keys: Dotted paths of the settings.
    ///   - updates: New values for some of the settings in `keys`; the new values take effect when
    ///     they are on the disk.
    ///   - source: Source of the request.
    ///   - note: Author and description of the change, for the log.
    ///   - done: Completion handler; receives success, or the reason why nothing has changed. The
    ///     closure is not called if the method throws.
    /// - Throws: `Refusal` if another source is in control.
    func save(
        _ keys: [String], with updates: [SettingUpdate], from source: CommandSource,
        _ note: (who: String, what: String), _ done: @escaping Later<Void>
    ) throws(Refusal)

    /// Profiles between which users switch.
    var profiles: ProfileList { get }

    /// Applies the values of a profile. All values reach the loop in the same tick.
    ///
    /// - Parameters:
    ///   - name: Name of the profile.
    ///   - source: Source of the request.
    ///   - who: Name of the source for the log.
    /// - Returns: Message for the user, with the settings that were not restored.
    /// - Throws: `Refusal` if another source is in control, there is no profile of this name, or
    ///   its values would violate a rule. Nothing has changed.
    func useProfile(
        _ name: String, from source: CommandSource, by who: String
    ) throws(Refusal) -> String
}

extension SettingsPort {
    /// Changes settings to the given values, see the method with a function.
    public func change(
        _ updates: [SettingUpdate], from source: CommandSource, by who: String
    ) throws(Refusal) {
        try change({ _ in updates }, from: source, by: who)
    }
}

/// Stored profiles (baselines), and the profile that was selected last.
public struct ProfileList: Sendable, Equatable {
    /// Names of the profiles, in alphabetical order.
    public var names: [String]
    /// Name of the selected profile; nil if no profile has been selected since the start.
    public var active: String?

    /// Creates a list of profiles.
    public init(names: [String] = [], active: String? = nil) {
        self.names = names
        self.active = active
    }

    /// Number of the selected profile in `names`, from 1; 0 if no profile is selected.
    public var activeNumber: Int {
        active.flatMap { names.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
    }
}

extension GimbalPort {
    /// The active settings.
    public var settings: Settings { tuning.settings }

    /// Returns the request unchanged.
    public func limited(
        _ request: MotionRequest, for source: CommandSource
    ) throws(Refusal) -> MotionRequest { request }

    /// The loop's newest snapshot; nil before the first sample of the sensor.
    var snapshot: StabilizerSnapshot? {
        newest.flatMap { $0.samples.accepted > 0 ? $0 : nil }
    }
}

/// State of the calibration of the gyroscope, which a phone can request.
public struct CalibrationState: Sendable, Equatable {
    /// True if a calibration is running.
    public var isRunning = false
    /// Failure time of the last calibration that a phone requested, on the loop's clock; nil after
    /// the start of another calibration.
    public var failed: Instant?

    /// Creates the initial state: no calibration is running, and no calibration has failed.
    public init() {}
}
