public import Configuration
public import GimbalCore
public import Port

/// The one way from a link to the gimbal: a request, a setting, and that a source has left.
///
/// Called on the links' threads; nothing waits. What has to reach the disk is told to a `Later`.
public protocol GimbalPort: Sendable {
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

    /// The source's connection is gone: what it turned stands still.
    func left(_ source: CommandSource, now: Instant)

    /// The settings in force.
    var settings: Settings { get }

    /// Changes one setting and saves it at once.
    ///
    /// - Parameters:
    ///   - update: The new value.
    ///   - who: For the log.
    ///   - done: Hears of it, or why nothing has changed.
    func keep(_ update: SettingUpdate, by who: String, _ done: @escaping Later<Void>)
}
