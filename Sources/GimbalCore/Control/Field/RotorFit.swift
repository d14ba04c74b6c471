internal import CMathShim

/// Measurement of a rotor's electrical angle, and of the inertia that turns with it, from the motion
/// of a camera that fell during the search for the rotors.
///
/// The rotor's angle is the measured motion of its joint plus an unknown constant `a`. Therefore the
/// motor's torque `pull * sin(field - motion - a)` is the sum of two known signals, with the factors
/// `cos(a)` and `sin(a)`. Divided by the inertia, these factors are the coefficients of a linear
/// regression of the camera's rate on the integrals of the two signals (least squares with
/// exponential forgetting; Söderström & Stoica: System Identification, 1989, chapter 4). The
/// regression needs no assumption about angle or inertia. High-passes remove slow motion, because
/// gravity and the hand cause it.
///
/// Runs on the loop thread only, in constant time.
struct RotorFit: Sendable, BitwiseCopyable {
    /// Input of one control period.
    struct Sample: Sendable, BitwiseCopyable {
        /// Rate of the camera about the joint's axis, rad/s.
        var cameraRate: Double
        /// Motion of the rotor in this period, electrical rad.
        var moved: Double
        /// Angle of the field at the sampling instant of the gyroscope, electrical rad.
        var field: Double
        /// Torque at a load angle of 90 electrical degrees at this instant, N·m.
        var pull: Double
    }

    /// Corner frequency of the high-passes, rad/s.
    private static var corner: Double { @_noLocks get { 2 * .pi * 2.5 } }
    /// Time constant of the means, s.
    private static var memory: Double { @_noLocks get { 0.3 } }
    /// Fraction of the rate's mean square that the torque must explain.
    private static var leastExplained: Double { @_noLocks get { 0.8 } }
    /// Smallest RMS rate with a result, rad/s.
    private static var leastRate: Double { @_noLocks get { 0.15 } }
    /// Smallest determinant of the correlation matrix of the two signals, 0...1.
    private static var leastDeterminant: Double { @_noLocks get { 0.3 } }
    /// Duration for which the conditions must be met, s.
    private static var patience: Double { @_noLocks get { 0.12 } }

    /// Angle through which the rotor has moved, electrical rad.
    private var motion = 0.0
    private var rateFilter = HighPass()
    private var sineFilter = HighPass()
    private var cosineFilter = HighPass()
    // Means of products of the filtered rate and the two filtered integrals.
    private var rateSquare = 0.0
    private var sineSquare = 0.0
    private var cosineSquare = 0.0
    private var sineCosine = 0.0
    private var rateSine = 0.0
    private var rateCosine = 0.0
    /// Time for which the torque has explained the rate, s.
    private var evidence = 0.0

    @_noLocks
    init() {}

    /// Advances the measurement by one control period of `dt` seconds.
    ///
    /// - Returns: Angle of the rotor, electrical rad, up to whole turns, and inertia about the joint,
    ///   kg·m², when both are known; nil before.
    @_noLocks
    mutating func step(_ sample: Sample, dt: Double) -> (electrical: Double, inertia: Double)? {
        motion += sample.moved
        let share = Self.corner * dt / (1 + Self.corner * dt)
        let load = cm_sincos(sample.field - motion)
        let rate = rateFilter.pass(sample.cameraRate, share: share)
        let sine = sineFilter.passIntegral(
            sample.pull * load.sin / Self.corner, share: share)
        let cosine = cosineFilter.passIntegral(
            -sample.pull * load.cos / Self.corner, share: share)
        let fade = dt / (Self.memory + dt)
        rateSquare += (rate * rate - rateSquare) * fade
        sineSquare += (sine * sine - sineSquare) * fade
        cosineSquare += (cosine * cosine - cosineSquare) * fade
        sineCosine += (sine * cosine - sineCosine) * fade
        rateSine += (rate * sine - rateSine) * fade
        rateCosine += (rate * cosine - rateCosine) * fade
        let product = sineSquare * cosineSquare
        let determinant = product - sineCosine * sineCosine
        guard rateSquare > Self.leastRate * Self.leastRate,
            determinant > Self.leastDeterminant * product
        else {
            evidence = 0
            return nil
        }
        let x = (rateSine * cosineSquare - rateCosine * sineCosine) / determinant
        let y = (rateCosine * sineSquare - rateSine * sineCosine) / determinant
        // The coefficients are cos(a) / inertia and sin(a) / inertia.
        let isExplained = x * rateSine + y * rateCosine > Self.leastExplained * rateSquare
        evidence = isExplained ? evidence + dt : 0
        guard evidence > Self.patience else { return nil }
        return (motion + cm_atan2(y, x), 1 / cm_sqrt(x * x + y * y))
    }
}
