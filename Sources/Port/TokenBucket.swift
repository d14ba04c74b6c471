public import GimbalCore

/// Token bucket; limits the size of a burst of events, and the long-term rate of the events. The
/// type reads no clock; callers pass the time as an argument.
public struct TokenBucket: Sendable {
    private let burst: Double
    private let perSecond: Double
    private var tokens: Double
    private var last: Instant?

    /// Creates a full bucket.
    ///
    /// - Parameters:
    ///   - burst: Size of a burst, at least 1.
    ///   - perSecond: Long-term rate, 1/s.
    public init(burst: Double, perSecond: Double) {
        self.burst = burst
        self.perSecond = perSecond
        tokens = burst
    }

    /// Takes one token.
    ///
    /// - Parameter now: Present time, not earlier than in the last call.
    /// - Returns: True if a token was available.
    public mutating func take(now: Instant) -> Bool {
        if let last { tokens = min(burst, tokens + max(0, now.seconds(since: last)) * perSecond) }
        last = now
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}
