/// Detects a brake that makes the camera faster: its motor does not do what it is told.
///
/// Loop thread only; constant time, no allocation.
struct BrakeWatch: Sendable, BitwiseCopyable {
    private var seconds = 0.0
    private var firstRate = 0.0

    /// How much longer than the loop's delay a brake may take to show, s: some samples.
    private static var patience: Double { @_noLocks get { 0.004 } }
    /// Share of the rate at the beginning, and noise on top, rad/s, beyond which the camera is
    /// faster.
    private static var growth: Double { @_noLocks get { 1.1 } }
    private static var noise: Double { @_noLocks get { 0.1 } }

    @_noLocks
    init() {}

    /// One period without a brake.
    ///
    /// - Parameter rate: Camera's rate, rad/s.
    @_noLocks
    mutating func rest(rate: Double) {
        seconds = 0
        firstRate = rate
    }

    /// One period of a brake.
    ///
    /// - Parameters:
    ///   - rate: Camera's rate, rad/s.
    ///   - delay: From a torque to the sample that shows it, s.
    ///   - dt: Seconds since the previous period.
    /// - Returns: Whether the brake makes the camera faster.
    @_noLocks
    mutating func step(rate: Double, delay: Double, dt: Double) -> Bool {
        seconds += dt
        return seconds > delay + Self.patience && rate > Self.growth * firstRate + Self.noise
    }
}
