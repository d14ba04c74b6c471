public import Configuration
public import GimbalCore
public import Port

/// The one way from a link to the gimbal: requests for motion, settings, the newest snapshot, and that a source has left.
///
/// Called on the links' threads; nothing waits. What has to reach the disk is told to a `Later`.
public protocol GimbalPort: Sendable {
    // MARK: Motion

    /// Asks for motion, or for control of it. When it returns, the request is in force from the loop's next tick on.
    ///
    /// - Parameters:
    ///   - request: What is wanted.
    ///   - source: Who wants it.
    ///   - now: When it was received, on the loop's clock.
    /// - Throws: Why it was refused.
    func request(
        _ request: MotionRequest, from source: CommandSource, now: Instant
    ) throws(Refusal)

    /// The source's connection is gone: what it turned stands still, and what it had begun ends.
    func left(_ source: CommandSource, now: Instant)

    /// Who is in control, and the mode.
    var control: ControlState { get }

    /// The loop's newest; nil before its first tick.
    var newest: StabilizerSnapshot? { get }

    /// The loop's clock.
    var now: Instant { get }

    // MARK: Settings

    /// The settings in force.
    var settings: Settings { get }

    /// Checks that the source may change how the gimbal behaves beside the source in control.
    ///
    /// - Throws: Why not.
    func admit(_ source: CommandSource, now: Instant) throws(Refusal)

    /// Changes settings together, all or none, until the process ends or they are saved; the changes of apps revert after
    /// `airos.rollback_s`.
    ///
    /// - Parameters:
    ///   - updates: The new values.
    ///   - source: Who wants them.
    ///   - who: The same for the log.
    /// - Throws: What is wrong with a value, or that somebody else's change waits; then nothing has changed.
    func change(
        _ updates: [SettingUpdate], from source: CommandSource, by who: String
    ) throws(Refusal)

    /// Saves some settings, and no others.
    ///
    /// - Parameters:
    ///   - keys: Their dotted paths.
    ///   - updates: New values of some of them, which come into force when they are on the disk.
    ///   - source: Who wants it.
    ///   - note: Who, and what is done, for the log.
    ///   - done: Hears of it, or why nothing has changed.
    func save(
        _ keys: [String], with updates: [SettingUpdate], from source: CommandSource,
        _ note: (who: String, what: String), _ done: @escaping Later<Void>)

    // MARK: Calibration

    /// Takes control, and begins to find the gyroscope's zero with the motors off.
    ///
    /// - Throws: Why it was refused.
    func calibrateGyro(for source: CommandSource, now: Instant) throws(Refusal)

    /// Where calibration stands.
    var calibration: CalibrationState { get }
}

extension GimbalPort {
    /// The loop's newest; nil before the first sample of the sensor.
    var snapshot: StabilizerSnapshot? {
        newest.flatMap { $0.samples.accepted > 0 ? $0 : nil }
    }
}

/// Where calibration stands.
public struct CalibrationState: Sendable, Equatable {
    /// Whether something is being calibrated.
    public var isRunning = false
    /// When a phone's came to nothing, on the loop's clock; nil: none has since another began.
    public var failed: Instant?

    /// Nothing has been calibrated.
    public init() {}
}
