internal import CMathShim

/// Whether a motor without encoder turns the other way than its field: two of its wires are
/// swapped, or the sensor is mounted the wrong way round.
///
/// Such a motor holds the camera all the same, because its observer finds whatever electrical angle
/// explains the gyroscope; but when the camera turns, the rotor's angle goes the other way, and the
/// observer sees a hidden rate of minus twice the known one. A hand would have to turn the handle
/// twice as fast as the camera turns to look like that. Nothing is judged for twice its memory:
/// what the camera did while the observer looked for its rotor is no hidden rate.
///
/// Loop thread only; constant time, no allocation.
struct MirroredJoint: Sendable, BitwiseCopyable {
    private var products = 0.0
    private var knownSquares = 0.0
    private var hiddenSquares = 0.0
    private var turned = 0.0
    private var seconds = 0.0

    /// Memory, s.
    private static var memory: Double { @_noLocks get { 0.5 } }
    /// How far the camera must have turned, rad.
    private static var evidence: Double { @_noLocks get { 2 * .pi / 180 } }

    @_noLocks
    init() {}

    /// One period.
    ///
    /// - Parameters:
    ///   - known: Rate of the joint as far as a sensor shows it, rad/s.
    ///   - hidden: Rate that the observer adds to it, rad/s.
    ///   - dt: Seconds since the previous call, more than 0.
    /// - Returns: Whether the joint turns the other way.
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
