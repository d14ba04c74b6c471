/// Where a servo's horn is, by what the servo was told: a first-order position loop with a dead
/// band and a rate limit.
///
/// Loop thread only; constant time.
struct ServoHorn: Sendable, BitwiseCopyable {
    /// What is known of the servo.
    struct Parameters: Sendable, BitwiseCopyable {
        /// Lag of the position loop, s.
        var lag: Double
        /// How far a command must be from the horn before the motor starts, rad.
        var deadBand: Double
        /// Fastest movement, rad/s.
        var maxRate: Double

        @_noLocks @_noAllocation
        init(lag: Double, deadBand: Double, maxRate: Double) {
            self.lag = lag
            self.deadBand = deadBand
            self.maxRate = maxRate
        }
    }

    private var angle: Double
    private var isDriving = false

    /// A servo at rest at `angle`, rad.
    @_noLocks @_noAllocation
    init(angle: Double) { self.angle = angle }

    /// One period towards the command that arrives now.
    ///
    /// - Parameters:
    ///   - command: rad.
    ///   - p: What is known of the servo.
    ///   - dt: Seconds.
    /// - Returns: The horn's angle, rad.
    @_noLocks @_noAllocation
    mutating func follow(_ command: Double, _ p: Parameters, dt: Double) -> Double {
        let error = command - angle
        if abs(error) > p.deadBand { isDriving = true }
        // What a servo leaves when it has arrived.
        if abs(error) < p.deadBand / 10 { isDriving = false }
        if isDriving {
            angle += min(max(error * dt / (p.lag + dt), -p.maxRate * dt), p.maxRate * dt)
        }
        return angle
    }
}
