/// Detector of failed braking: a motor does not follow its commands, and the camera accelerates.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct BrakeWatch: Sendable, BitwiseCopyable {
    private var seconds = 0.0
    private var firstRate = 0.0

    /// Time after the loop delay, s, at which braking must have taken effect: a few samples.
    private static var patience: Double { @_noLocks get { 0.004 } }
    /// Threshold for an accelerated camera: ratio of the camera's rate, minus `noise`, to its
    /// initial rate.
    private static var growth: Double { @_noLocks get { 1.1 } }
    /// Margin for the gyroscope's noise, rad/s.
    private static var noise: Double { @_noLocks get { 0.1 } }

    @_noLocks
    init() {}

    /// Stores the camera's rate in a period without braking.
    ///
    /// - Parameter rate: Magnitude of the camera's rate, rad/s. The last stored rate is the initial
    ///   rate of the braking.
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
