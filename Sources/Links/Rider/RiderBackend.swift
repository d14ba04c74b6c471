public import GimbalCore
public import Port
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
    /// - Throws: Why it was refused.
    func carryOut(_ command: RiderCommand, from source: UInt64, now: Instant) throws(Refusal)
    /// What the wheels do now, per cent, by name, for the status.
    var speeds: [String: Int] { get }
}
