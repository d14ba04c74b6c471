/// Detector of braking that accelerates the camera, because a motor does not follow its commands.
///
/// Loop thread only; constant time, no allocation.
struct BrakeWatch: Sendable, BitwiseCopyable {
    private var seconds = 0.0
    private var firstRate = 0.0

    /// Time after the loop's delay in which braking must take effect, s: a few samples.
    private static var patience: Double { @_noLocks get { 0.004 } }
    /// Factor on the initial rate: the camera counts as accelerated if its rate exceeds this
    /// product by more than `noise`.
    private static var growth: Double { @_noLocks get { 1.1 } }
    /// Margin for the gyroscope's noise, rad/s.
    private static var noise: Double { @_noLocks get { 0.1 } }

    @_noLocks
    init() {}

    /// Advances by one period without braking.
    ///
    /// - Parameter rate: Camera's rate, rad/s.
    @_noLocks
    mutating func rest(rate: Double) {
        seconds = 0
        firstRate = rate
    }

    /// Advances by one period of braking.
    ///
    /// - Parameters:
    ///   - rate: Camera's rate, rad/s.
    ///   - delay: Time from a torque to the sample that shows it, s.
    ///   - dt: Seconds since the previous period.
    /// - Returns: Whether braking accelerates the camera.
    @_noLocks
    mutating func step(rate: Double, delay: Double, dt: Double) -> Bool {
        seconds += dt
        return seconds > delay + Self.patience && rate > Self.growth * firstRate + Self.noise
    }
}
