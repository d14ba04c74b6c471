/// What of a camera's error comes back with every stride of whoever carries it, and what to command against it.
///
/// Motors that answer late leave most of what a walker's steps do, and the same with every stride. Its harmonics up to 9 Hz
/// are learned from the error and taken out in advance, as far as one stride is like the other (adaptive feed-forward
/// cancellation: M. Bodson, A. Sacks & P. Khosla, "Harmonic generation in adaptive feedforward cancellation schemes",
/// IEEE Trans. Automatic Control 39(9), 1994). The phase follows the handle's own motion, so strides may differ in length.
/// Motion that does not come back, and the margins of the loop, are left as they are.
/// Loop thread only, constant time, no allocation.
struct StrideCompensator: Sendable, BitwiseCopyable {
    /// How fast the error's harmonics are learned, 1/s.
    private static var learning: Double { @_noLocks @inline(__always) get { 1 } }
    /// How fast the handle's are while strangers, 1/s: fast, but each harmonic must stay narrower than the next is far.
    private static var meeting: Double { @_noLocks @inline(__always) get { 1.5 } }
    /// How fast the handle's are once they are known, 1/s.
    private static var watching: Double { @_noLocks @inline(__always) get { 0.7 } }
    /// How fast the phase follows the handle, 1/s.
    private static var following: Double { @_noLocks @inline(__always) get { 12 } }
    /// How fast all is forgotten where strides are not alike, 1/s.
    private static var forgetting: Double { @_noLocks @inline(__always) get { 2 } }
    /// Beyond it sensitivity has its peak, and learning would have no margins, rad/s.
    private static var highest: Double { @_noLocks @inline(__always) get { 2 * .pi * 9 } }
    /// Strides of 1.8 and 0.6 s, rad/s.
    private static var slowest: Double { @_noLocks @inline(__always) get { 2 * .pi / 1.8 } }
    private static var fastest: Double { @_noLocks @inline(__always) get { 2 * .pi / 0.6 } }
    /// Largest error that is learned from, and largest correction, rad.
    private static var largest: Double { @_noLocks @inline(__always) get { 0.05 } }

    private var stride = StrideEstimator()
    /// Of the stride, rad/s.
    private var omega = 2 * Double.pi
    /// Of the stride, rad, -π...π.
    private var phase = 0.0
    /// The handle's rate, rad/s.
    private var gait = HarmonicSeries()
    /// Mean square of what the gait does not explain, (rad/s)².
    private var novelty = 0.0
    /// Mean square of the handle's rate lately, (rad/s)².
    private var power = 0.0
    /// What the camera lacks, rad.
    private var lack = HarmonicSeries()
    /// How much of it is commanded, 0...1.
    private var share = 0.0
    /// What was still commanded for another period of the stride, fading.
    private var rest = Vector3.zero

    @_noLocks
    init() {}

    /// One period.
    ///
    /// - Parameters:
    ///   - error: From attitude to set-point, handle frame, rad.
    ///   - lead: How long after the sample `error` holds, s.
    ///   - horizon: How long after the sample a command takes effect, s.
    ///   - handleRate: Handle frame, rad/s.
    ///   - isLearning: Whether the error is the handle's doing.
    ///   - dt: Seconds since the previous call, more than 0.
    /// - Returns: What to turn the set-point by, handle frame, rad.
    @_noLocks @_noAllocation
    mutating func step(
        error: Vector3, lead: Double, horizon: Double, handleRate: Vector3, isLearning: Bool,
        dt: Double
    ) -> Vector3 {
        stride.update(rate: handleRate, dt: dt)
        if share < 0.3 { search(horizon: horizon, dt: dt) }
        let orders = Int(Self.highest / omega)
        follow(handleRate, orders: orders, dt: dt)
        if isLearning {
            lack.learn(
                bounded(error), at: phase + omega * lead, orders: orders, share: Self.learning * dt)
        }
        lack.fade(to: 1 / (1 + Self.forgetting * (1 - share) * dt))
        rest = rest * (1 / (1 + dt / 0.1))
        return bounded(rest + lack.value(at: phase + omega * horizon).value * share)
    }

    /// Takes the strides' period from what the handle does over some seconds.
    private mutating func search(horizon: Double, dt: Double) {
        guard let period = stride.period else {
            gait.fade(to: 1 / (1 + Self.forgetting * dt))
            return
        }
        let found = 2 * Double.pi / period
        // Harmonics of another period are of no use.
        if abs(found - omega) > 0.03 * omega {
            rest += lack.value(at: phase + omega * horizon).value * share
            lack = HarmonicSeries()
            gait = HarmonicSeries()
        }
        omega = found
    }

    /// Takes the phase on, and learns how the handle moves.
    private mutating func follow(_ rate: Vector3, orders: Int, dt: Double) {
        phase = wrapped(phase + omega * dt)
        let present = gait.value(at: phase)
        let residual = rate - present.value
        let pace = share * Self.watching + (1 - share) * Self.meeting
        gait.learn(residual, at: phase, orders: orders, share: pace * dt)
        // A phase-locked loop, once the gait is known.
        if share > 0.3, present.steepness > 0 {
            let late = residual.dot(present.slope) / present.steepness
            let turn = min(max(late, -0.5), 0.5) * share * Self.following * dt
            phase = wrapped(phase + turn)
            omega = min(max(omega + 0.25 * Self.following * turn, Self.slowest), Self.fastest)
        }
        share = shared(rate: rate, residual: residual, dt: dt)
    }

    /// How much of what was learned is commanded next: none at once where a walker stops, more by and by where steps are as
    /// foreseen.
    private mutating func shared(rate: Vector3, residual: Vector3, dt: Double) -> Double {
        // A swing that is missed has moments without any rate.
        let new = residual.squaredNorm
        novelty += (new - novelty) * (dt / ((new > novelty ? 0.1 : 0.5) + dt))
        power += (rate.squaredNorm - power) * (dt / (0.25 + dt))
        let known = gait.power()
        // All harmonics together forget the moment faster than the stride: standing still is soon nothing new.
        guard known > 1e-4, power > 0.2 * known else { return share / (1 + dt / 0.05) }
        let foreseen = min(max((1 - novelty / known) / 0.75, 0), 1)
        return share + (foreseen - share) * (dt / ((foreseen < share ? 0.05 : 0.3) + dt))
    }

    private func bounded(_ vector: Vector3) -> Vector3 {
        vector * min(1, Self.largest / max(vector.norm, 1e-9))
    }

    private func wrapped(_ angle: Double) -> Double {
        angle > .pi ? angle - 2 * .pi : angle < -.pi ? angle + 2 * .pi : angle
    }
}
