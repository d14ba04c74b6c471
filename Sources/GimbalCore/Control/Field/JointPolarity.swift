internal import CMathShim

/// Detector of a reversed motor without encoder. The motor turns opposite to its field, because two
/// of its wires are swapped or the sensor is mounted the wrong way round.
///
/// A reversed motor still holds the camera, because its observer finds an electrical angle that
/// agrees with the gyroscope's readings. The reversal is detected when the camera turns, because
/// the rotor's angle then changes in the opposite direction. With a reversed motor, the observer's
/// estimate of the hidden rate is -2 times the known rate. A rotation of the handle causes the same
/// hidden rate only if the handle turns twice as fast as the camera. The detector does not report a
/// reversal during the first two time constants, while the observer searches for the rotor.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct JointPolarity: Sendable, BitwiseCopyable {
    private var products = 0.0
    private var knownSquares = 0.0
    private var hiddenSquares = 0.0
    private var turned = 0.0
    private var seconds = 0.0

    /// Time constant of the weighted sums, s.
    private static var memory: Double { @_noLocks get { 0.5 } }
    /// Smallest rotation of the camera at which the polarity is evaluated, rad.
    private static var evidence: Double { @_noLocks get { 2 * .pi / 180 } }

    @_noLocks
    init() {}

    /// Updates the detector with the joint's rates in one control period.
    ///
    /// - Parameters:
    ///   - known: Known rate: the measured part of the joint rate, rad/s.
    ///   - hidden: Hidden rate: the part of the joint rate that is not measured but estimated by
    ///     the observer, rad/s.
    ///   - dt: Time since the previous call, s, more than 0.
    /// - Returns: True if the joint turns opposite to its field.
    @_noLocks
    mutating func step(known: Double, hidden: Double, dt: Double) -> Bool {
        let keep = 1 - min(dt / Self.memory, 1)
        products = products * keep + known * hidden
        knownSquares = knownSquares * keep + known * known
        hiddenSquares = hiddenSquares * keep + hidden * hidden
        turned = turned * keep + known * dt
        seconds += dt
        guard seconds > 2 * Self.memory, abs(turned) > Self.evidence else { return false }
        let ratio = products / knownSquares
        return ratio < -1.4 && ratio > -2.6
            && products < -0.9 * cm_sqrt(knownSquares * hiddenSquares)
    }
}
