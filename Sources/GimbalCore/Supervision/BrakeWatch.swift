/// Detector of a failed brake manoeuvre: the camera accelerates during braking, because a motor
/// does not follow its commands.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct BrakeWatch: Sendable, BitwiseCopyable {
    private var seconds = 0.0
    private var firstRate = 0.0

    /// Time in addition to the loop's delay after which braking must have taken effect, s: a few
    /// samples.
    private static var patience: Double { @_noLocks get { 0.004 } }
    /// Ratio of the camera's rate to its initial rate above which the camera counts as accelerated,
    /// with the margin `noise`.
    private static var growth: Double { @_noLocks get { 1.1 } }
    /// Margin for the gyroscope's noise, rad/s.
    private static var noise: Double { @_noLocks get { 0.1 } }

    @_noLocks
    init() {}

    /// Stores the camera's rate in a period without braking.
    ///
    /// - Parameter rate: Magnitude of the camera's rate, rad/s; the initial rate of the next
    ///   braking.
    @_noLocks
    mutating func rest(rate: Double) {
        seconds = 0
        firstRate = rate
    }

    /// Checks the camera's rate in a period of braking.
    ///
    /// - Parameters:
    ///   - rate: Magnitude of the camera's rate, rad/s.
    ///   - delay: Time from a torque to the sample that contains its effect, s.
    ///   - dt: Seconds since the previous period.
    /// - Returns: True if braking accelerates the camera.
    @_noLocks
    mutating func step(rate: Double, delay: Double, dt: Double) -> Bool {
        seconds += dt
        return seconds > delay + Self.patience && rate > Self.growth * firstRate + Self.noise
    }
}
