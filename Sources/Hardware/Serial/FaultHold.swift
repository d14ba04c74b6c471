internal import GimbalCore

/// Timer that keeps a motor's fault active after the motor no longer reports it. Some servos clear
/// an overload as soon as they are switched off. During the hold time, users can see the fault, and
/// a motor with a short circuit is not switched on repeatedly.
struct FaultHold: Sendable, BitwiseCopyable {
    private var since: Instant?
    private var firstOfMinute = Instant(nanoseconds: .min / 2)
    private var count = 0

    /// Hold times of a fault, s; after three faults within a minute, the longer time is used.
    private static let seconds = (short: 1.0, long: 60.0)
    private static let most = 3

    /// Evaluates a report of a motor.
    ///
    /// - Parameters:
    ///   - fault: Present fault code; 0 means that there is no fault.
    ///   - now: Time of the report.
    /// - Returns: True if an earlier fault is still reported, although the motor no longer reports
    ///   a fault.
    mutating func holds(fault: UInt32, now: Instant) -> Bool {
        if fault != 0 {
            guard since == nil else { return false }
            since = now
            if now.seconds(since: firstOfMinute) >= Self.seconds.long {
                firstOfMinute = now
                count = 0
            }
            count += 1
            return false
        }
        guard let since else { return false }
        let time = count > Self.most ? Self.seconds.long : Self.seconds.short
        if now.seconds(since: since) < time { return true }
        self.since = nil
        return false
    }
}
