/// Slow turn of one motor without encoder to the end of its joint, and back to the middle.
///
/// The motor reverses as soon as the camera no longer follows the command: at the joint's end, at
/// the end of a servo's travel, or if a hand blocks the camera. The command is then at most 6°
/// ahead of the camera, so a servo presses against the end only briefly, and a rotor does not slip
/// to another pole pair. Runs on the loop thread only.
struct MotorTurn: Sendable, BitwiseCopyable {
    /// Commanded angle from the middle, rad.
    private(set) var angle = 0.0
    /// True if the camera does not follow on the way back; the motor must then be switched off.
    private(set) var isStuck = false
    private var isReturning = false
    /// Duration of the motion in the present direction, s.
    private var elapsed = 0.0
    /// The camera's rate in the direction of the command, smoothed, rad/s.
    private var rate = 0.0
    /// Angle by which the camera lags behind the command since the last reversal, rad.
    private var lag = 0.0

    /// Rate of the command, rad/s.
    private static var speed: Double { @_noLocks get { 12 * Double.pi / 180 } }
    /// Time constant of the smoothed rate, s.
    private static var smoothing: Double { @_noLocks get { 0.2 } }
    /// Time after the start in which the camera's rate is not checked, s.
    private static var grace: Double { @_noLocks get { 0.5 } }
    /// Smallest rate of a camera that follows the command, as a fraction of the command's rate.
    private static var share: Double { @_noLocks get { 0.3 } }
    /// Largest lag on the way to the end, rad.
    private static var largestLag: Double { @_noLocks get { 6 * Double.pi / 180 } }
    /// Largest lag on the way back, rad: the lag on the way to the end, the play and a margin.
    private static var returnLag: Double { @_noLocks get { 15 * Double.pi / 180 } }
    /// Largest commanded angle, for a joint without an end, rad.
    private static var endless: Double { @_noLocks get { 365 * Double.pi / 180 } }

    @_noLocks
    init() {}

    /// Advances the command by one tick.
    ///
    /// - Parameters:
    ///   - isUp: True for a turn to the positive end.
    ///   - turn: The camera's rate about the joint's axis, rad/s.
    ///   - dt: Duration of the tick, s.
    @_noLocks
    mutating func step(isUp: Bool, rate turn: Double, dt: Double) {
        guard !isStuck, !(isReturning && angle == 0) else { return }
        let sign = isUp != isReturning ? 1.0 : -1.0
        let step = Self.speed * dt
        elapsed += dt
        rate += (turn * sign - rate) * (dt / (Self.smoothing + dt))
        lag = max(lag + step - turn * sign * dt, 0)
        guard isReturning else {
            angle += sign * step
            let isLost = elapsed > Self.grace && rate < Self.share * Self.speed
            if isLost || lag > Self.largestLag || abs(angle) > Self.endless {
                isReturning = true
                elapsed = 0
                lag = 0
            }
            return
        }
        angle = abs(angle) <= step ? 0 : angle + sign * step
        if lag > Self.returnLag { isStuck = true }
    }
}
