internal import CMathShim

/// Undoes part of the lag of sensor filter and current loop: two zeros over two poles a little higher, unity at rest.
///
/// With it the answer to a push is a fifth smaller at the same margins than that of the PID alone; the price is more of the
/// gyroscope's noise in the torque. The corners follow the loop's delay, so that the shape of the loop stays.
/// Discretised by the bilinear rule.
///
/// Loop thread only; constant time, no allocation.
struct LagCompensator: Sendable, BitwiseCopyable {
    /// Corner times loop delay, and damping: of the zeros, of the poles.
    static var zeroCorner: Double { @_noLocks get { 2.617 } }
    static var zeroDamping: Double { @_noLocks get { 0.41 } }
    static var poleCorner: Double { @_noLocks get { 3.489 } }
    static var poleDamping: Double { @_noLocks get { 0.543 } }

    /// The difference equation for one delay and period.
    struct Coefficients: Sendable, BitwiseCopyable {
        private(set) var b0 = 1.0
        private(set) var b1 = 0.0
        private(set) var b2 = 0.0
        private(set) var a1 = 0.0
        private(set) var a2 = 0.0

        /// No filter.
        @_noLocks
        init() {}

        /// - Parameters:
        ///   - delay: The loop's, s. Below two periods there is nothing to undo: no filter.
        ///   - dt: Period, s.
        @_noLocks
        init(delay: Double, dt: Double) {
            guard delay >= 2 * dt, dt > 0 else { return }
            let rate = 2 / dt
            let zero = LagCompensator.zeroCorner / delay
            let pole = LagCompensator.poleCorner / delay
            // s² / corner² + 2 damping s / corner + 1 with s = rate (1 - z⁻¹) / (1 + z⁻¹).
            let z2 = rate * rate / (zero * zero)
            let z1 = 2 * LagCompensator.zeroDamping * rate / zero
            let p2 = rate * rate / (pole * pole)
            let p1 = 2 * LagCompensator.poleDamping * rate / pole
            let a0 = p2 + p1 + 1
            b0 = (z2 + z1 + 1) / a0
            b1 = (2 - 2 * z2) / a0
            b2 = (z2 - z1 + 1) / a0
            a1 = (2 - 2 * p2) / a0
            a2 = (p2 - p1 + 1) / a0
        }
    }

    private var first = Vector3.zero
    private var second = Vector3.zero

    /// A filter at rest.
    @_noLocks
    init() {}

    /// The moment with its lead, N·m (transposed direct form II).
    @_noLocks @_noAllocation
    mutating func step(_ moment: Vector3, _ c: Coefficients) -> Vector3 {
        let out = moment * c.b0 + first
        first = moment * c.b1 - out * c.a1 + second
        second = moment * c.b2 - out * c.a2
        return out
    }

    /// Back to rest.
    @_noLocks @_noAllocation
    mutating func reset() { self = LagCompensator() }
}
