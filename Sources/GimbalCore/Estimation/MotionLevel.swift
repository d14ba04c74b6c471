import CMathShim

/// How much the sensor moves about: the mean square of the horizontal velocity that tilt and bias
/// do not explain.
///
/// The filter's innovation, each weighed with its own variance, sums up to what the best fit leaves
/// over. So the level does not wait until the tilt is known, and a start on a slope does not look
/// like motion. It starts at the largest motion that is assumed, because a first calm second says
/// little of what comes next, and grows faster than it falls.
struct MotionLevel: Sendable, BitwiseCopyable {
    /// How much the assumption at the start counts for, s of motion seen.
    private static var priorTime: Double { @_noLocks @_noAllocation get { 1 } }
    /// How fast a livelier motion is believed, s.
    private static var riseTime: Double { @_noLocks @_noAllocation get { 1 } }
    /// How long a livelier motion is remembered, s.
    private static var memory: Double { @_noLocks @_noAllocation get { 5 } }

    /// Mean square of one horizontal axis, m²/s²; NaN = as assumed.
    private var square = Double.nan
    private var seconds = 0.0

    /// As lively as is assumed.
    @_noLocks @_noAllocation
    init() {}

    /// Takes the velocity of one filter period.
    ///
    /// - Parameters:
    ///   - velocitySquare: Mean of both axes, as far as it is not explained, m²/s².
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

    /// What velocity is assumed to be, m/s·√s, within `calmVelocityShare`...1 of
    /// `velocityNoiseDensity`.
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
