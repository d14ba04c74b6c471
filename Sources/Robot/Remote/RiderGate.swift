public import GimbalCore

/// Gate between one remote control and the wheels. A new remote control must first send speeds of
/// zero (a centred stick) before it can move the wheels. A remote control that was silent for too
/// long must also send speeds of zero first. The gate reads no clock; callers pass the time as an
/// argument.
public struct RiderGate: Sendable {
    private var lastAccepted: Instant?
    private var needsZero = true

    /// Creates a gate for a new remote control.
    public init() {}

    /// Checks whether a request can be sent to the `Commander`.
    ///
    /// - Parameters:
    ///   - isStanding: True if the requested speeds of both wheels are zero.
    ///   - now: Time at which the request was received.
    ///   - deadMan: Dead-man time of the wheels, s.
    /// - Returns: True if the request can be sent; false until a request with both speeds zero has
    ///   arrived.
    public mutating func admits(isStanding: Bool, now: Instant, deadMan: Double) -> Bool {
        if let lastAccepted, now.seconds(since: lastAccepted) > deadMan { needsZero = true }
        return isStanding || !needsZero
    }

    /// Records that the `Commander` has accepted the request.
    public mutating func accepted(isStanding: Bool, now: Instant) {
        lastAccepted = now
        if isStanding { needsZero = false }
    }

    /// Records that the `Commander` has refused the request; the stick must then be centred again.
    public mutating func refused() { needsZero = true }
}
