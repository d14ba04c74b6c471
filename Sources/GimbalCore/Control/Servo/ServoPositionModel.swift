/// Model of a servo's horn: a first-order position loop with a dead band and a rate limit. The
/// input is the servo's command.
///
/// Runs on the loop thread only, in constant time.
struct ServoPositionModel: Sendable, BitwiseCopyable {
    /// Properties of the servo.
    struct Parameters: Sendable, BitwiseCopyable {
        /// Time constant of the servo's position loop, s.
        var lag: Double
        /// Dead band, rad: the smallest difference between commanded and actual horn angle at which
        /// the motor starts.
        var deadBand: Double
        /// Largest rate, rad/s.
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

    /// Creates a servo at rest at `angle`, rad.
    @_noLocks @_noAllocation
    init(angle: Double) { self.angle = angle }

    /// Ratio of the dead band to the error at which a moving servo stops.
    private static var stopRatio: Double { @_noLocks get { 10 } }

    /// Turns the horn towards the current command for one control period.
    ///
    /// - Parameters:
    ///   - command: Commanded angle, rad.
    ///   - p: Properties of the modelled servo.
    ///   - dt: Length of the control period, s.
    /// - Returns: The horn's angle, rad.
    @_noLocks @_noAllocation
    mutating func follow(_ command: Double, _ p: Parameters, dt: Double) -> Double {
        let error = command - angle
        if abs(error) > p.deadBand { isDriving = true }
        if abs(error) < p.deadBand / Self.stopRatio { isDriving = false }
        if isDriving {
            angle += min(max(error * dt / (p.lag + dt), -p.maxRate * dt), p.maxRate * dt)
        }
        return angle
    }
}
