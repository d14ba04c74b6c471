internal import CMathShim

/// Seeded stream of pseudo-random numbers. The same seed gives the same numbers on every machine.
///
/// The generator is SplitMix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014). SplitMix64 has a period of 2^64, and its quality is sufficient for
/// noise models.
public struct RandomSource: Sendable {
    private var state: UInt64
    private var spare = 0.0
    private var hasSpare = false

    /// Creates the stream of numbers for a seed.
    public init(seed: UInt64) { state = seed }

    /// Creates a separate stream for one part of a model. A change of one part therefore does not
    /// affect the numbers of another part.
    ///
    /// - Parameters:
    ///   - seed: Seed of the whole run.
    ///   - stream: Number of the random stream; each part of the model has its own stream.
    public init(seed: UInt64, stream: UInt64) {
        self.init(seed: seed)
        state = next() &+ stream &* 0xD1B5_4A32_D192_ED03
        state = next()
    }

    /// The next 64 uniformly distributed bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// The next number, uniformly distributed in [0, 1).
    public mutating func uniform() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// The next number, normally distributed with mean 0 and standard deviation 1 (Box–Muller).
    public mutating func gaussian() -> Double {
        if hasSpare {
            hasSpare = false
            return spare
        }
        let radius = cm_sqrt(-2 * cm_log(1 - uniform()))
        let angle = 2 * Double.pi * uniform()
        spare = radius * cm_sin(angle)
        hasSpare = true
        return radius * cm_cos(angle)
    }
}
