public import GimbalCore

/// Lets so many things happen at once, and so many per second in the long run. Time is an argument.
public struct TokenBucket: Sendable {
    private let burst: Double
    private let perSecond: Double
    private var tokens: Double
    private var last: Instant?

    /// A full bucket.
    ///
    /// - Parameters:
    ///   - burst: At once, at least 1.
    ///   - perSecond: In the long run.
    public init(burst: Double, perSecond: Double) {
        self.burst = burst
        self.perSecond = perSecond
        tokens = burst
    }

    /// Asks for one.
    ///
    /// - Parameter now: Not before the last call.
    /// - Returns: Whether it may happen.
    public mutating func take(now: Instant) -> Bool {
        if let last { tokens = min(burst, tokens + max(0, now.seconds(since: last)) * perSecond) }
        last = now
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}
