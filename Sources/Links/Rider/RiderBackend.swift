public import GimbalCore
public import Wire

/// What the daemon does for a rider's remote control. Thread airframed-rider.
public protocol RiderBackend: Sendable {
    /// Silence after which the wheels stop, s.
    var deadManSeconds: Double { get }
    /// Carries a command out.
    ///
    /// - Parameters:
    ///   - command: What is wanted.
    ///   - source: Number of the remote control.
    ///   - now: When it was received.
    /// - Returns: Why it was refused; nil when it was not.
    func carryOut(_ command: RiderCommand, from source: UInt64, now: Instant) -> String?
    /// What the wheels do now, per cent, by name, for the status.
    var speeds: [String: Int] { get }
}
