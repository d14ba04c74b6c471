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
        guard delay(now: now) == nil else { return false }
        tokens -= 1
        return true
    }

    /// Computes the time until a token is available, and takes no token.
    ///
    /// - Parameter now: Present time, not earlier than in the last call.
    /// - Returns: Time until a token is available, s; nil if a token is available now.
    public mutating func delay(now: Instant) -> Double? {
        tokens = level(now: now)
        last = now
        return tokens >= 1 ? nil : (1 - tokens) / perSecond
    }

    /// True if the bucket is full at the given time, not earlier than in the last call.
    public func isFull(now: Instant) -> Bool { level(now: now) >= burst }

    private func level(now: Instant) -> Double {
        guard let last else { return tokens }
        return min(burst, tokens + max(0, now.seconds(since: last)) * perSecond)
    }
}
