internal import CMathShim

/// A vector that comes back with every turn of a phase: twelve harmonics of it, learned from what they leave.
///
/// Each harmonic is a resonator as narrow as it is learned slowly (Fourier linear combiner: C. Vaz, X. Kong & N. Thakor,
/// "An adaptive estimation of periodic signals using a Fourier linear combiner", IEEE Trans. Signal Processing 42(1), 1994).
/// Loop thread only, constant time, no allocation.
struct HarmonicSeries: Sendable, BitwiseCopyable {
    private struct Harmonic: Sendable, BitwiseCopyable {
        var cosine = Vector3.zero
        var sine = Vector3.zero

        @_noLocks @_noAllocation
        init() {}
    }

    private static var count: Int { @_noLocks @inline(__always) get { 12 } }

    private var harmonics = InlineArray<12, Harmonic>(repeating: Harmonic())

    /// Nothing.
    @_noLocks
    init() {}

    /// The series and its slope over the phase.
    ///
    /// - Parameter phase: rad.
    /// - Returns: The vector, its slope per rad, and the mean square of the slope.
    @_noLocks @_noAllocation
    func value(at phase: Double) -> (value: Vector3, slope: Vector3, steepness: Double) {
        let (c1, s1) = (cm_cos(phase), cm_sin(phase))
        var (c, s) = (c1, s1)
        var value = Vector3.zero
        var slope = Vector3.zero
        var steepness = 0.0
        var k = 0
        while k < Self.count {
            let order = Double(k + 1)
            let (a, b) = (harmonics[k].cosine, harmonics[k].sine)
            value += a * c + b * s
            slope += (b * c - a * s) * order
            steepness += 0.5 * order * order * (a.dot(a) + b.dot(b))
            (c, s) = (c * c1 - s * s1, c * s1 + s * c1)
            k += 1
        }
        return (value, slope, steepness)
    }

    /// Mean square over a turn.
    @_noLocks @_noAllocation
    func power() -> Double {
        var sum = 0.0
        var k = 0
        while k < Self.count {
            let (a, b) = (harmonics[k].cosine, harmonics[k].sine)
            sum += 0.5 * (a.dot(a) + b.dot(b))
            k += 1
        }
        return sum
    }

    /// Learns from what the series leaves.
    ///
    /// - Parameters:
    ///   - residual: What it should be less what it is at `phase`.
    ///   - phase: rad.
    ///   - orders: How many harmonics learn.
    ///   - share: The rate of learning times the period, both per second.
    @_noLocks @_noAllocation
    mutating func learn(_ residual: Vector3, at phase: Double, orders: Int, share: Double) {
        let (c1, s1) = (cm_cos(phase), cm_sin(phase))
        var (c, s) = (c1, s1)
        let part = residual * (2 * share)
        var k = 0
        while k < min(orders, Self.count) {
            harmonics[k].cosine += part * c
            harmonics[k].sine += part * s
            (c, s) = (c * c1 - s * s1, c * s1 + s * c1)
            k += 1
        }
    }

    /// Makes all of it smaller.
    @_noLocks @_noAllocation
    mutating func fade(to share: Double) {
        var k = 0
        while k < Self.count {
            harmonics[k].cosine = harmonics[k].cosine * share
            harmonics[k].sine = harmonics[k].sine * share
            k += 1
        }
    }
}
