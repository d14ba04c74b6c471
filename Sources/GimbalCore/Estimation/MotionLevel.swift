import CMathShim

/// Estimator of the sensor's motion level: the mean square of the horizontal velocity, without the
/// part due to errors of tilt and bias.
///
/// The level is computed from the squared innovations, each divided by its variance. The sum of the
/// normalised squared innovations is the residual of the best fit. Therefore the level is valid
/// before the tilt is known, and a wrong initial tilt is not mistaken for motion. The initial level
/// is that of the strongest assumed motion, because little motion in the first second does not
/// predict little motion later. The level rises faster than it falls.
struct MotionLevel: Sendable, BitwiseCopyable {
    /// Weight of the initial value, expressed as the equivalent duration of observed motion, s.
    private static var priorTime: Double { @_noLocks @_noAllocation get { 1 } }
    /// Time constant of a rising level, s.
    private static var riseTime: Double { @_noLocks @_noAllocation get { 1 } }
    /// Time constant of a falling level, s.
    private static var memory: Double { @_noLocks @_noAllocation get { 5 } }

    /// Mean square of the velocity along one horizontal axis, m²/s²; NaN means the level of the
    /// strongest assumed motion.
    private var square = Double.nan
    private var seconds = 0.0

    /// Creates an estimator with the level of the strongest assumed motion.
    @_noLocks @_noAllocation
    init() {}

    /// Updates the level with the velocity of one filter period.
    ///
    /// - Parameters:
    ///   - velocitySquare: Squared velocity, without the part due to errors of tilt and bias, mean
    ///     of both horizontal axes, m²/s².
    ///   - duration: Length of the period, s.
    ///   - parameters: The estimator's assumptions.
    @_noLocks @_noAllocation
    mutating func note(
        velocitySquare: Double, duration: Double, parameters: AttitudeEstimator.Parameters
    ) {
        if square.isNaN { square = Self.largest(parameters) }
        seconds += duration
        let time = min(
            seconds + Self.priorTime, velocitySquare > square ? Self.riseTime : Self.memory)
        square += (velocitySquare - square) * duration / (time + duration)
    }

    /// Velocity noise density for the present motion level, m/s·√s: `velocityNoiseDensity` times a
    /// factor in the range `calmVelocityShare`...1.
    @_noLocks @_noAllocation
    func noiseDensity(_ parameters: AttitudeEstimator.Parameters) -> Double {
        guard square < Self.largest(parameters) else { return parameters.velocityNoiseDensity }
        return max(
            cm_sqrt(2 * parameters.velocityCorrelationTime * square),
            parameters.calmVelocityShare * parameters.velocityNoiseDensity)
    }

    @_noLocks @_noAllocation
    private static func largest(_ parameters: AttitudeEstimator.Parameters) -> Double {
        parameters.velocityNoiseDensity * parameters.velocityNoiseDensity
            / (2 * parameters.velocityCorrelationTime)
    }
}
