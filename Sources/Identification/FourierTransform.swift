import CMathShim

/// Discrete Fourier transform in place, radix 2; the number of samples is a power of two.
///
/// Source: Cooley, Tukey: An algorithm for the machine calculation of complex Fourier series,
/// Mathematics of Computation 19, 1965. The loop thread must not use this type, because it
/// allocates memory.
struct FourierTransform: Sendable {
    /// Number of samples, a power of two.
    let count: Int
    private let cosines: [Double]
    private let sines: [Double]

    /// Creates a transform for the given number of samples.
    ///
    /// - Parameter count: Number of samples: a power of two, at least 2.
    init(count: Int) {
        precondition(count >= 2 && count & (count - 1) == 0, "a power of two")
        self.count = count
        let angles = (0..<count / 2).map { -2 * Double.pi * Double($0) / Double(count) }
        cosines = angles.map(cm_cos)
        sines = angles.map(cm_sin)
    }

    /// Replaces samples by their transform, `X[k] = Σ x[n] exp(-2πj k n / count)`.
    func transform(_ real: inout [Double], _ imaginary: inout [Double]) {
        reorder(&real, &imaginary)
        var half = 1
        while half < count {
            let stride = count / (2 * half)
            for start in Swift.stride(from: 0, to: count, by: 2 * half) {
                for k in 0..<half {
                    let (c, s) = (cosines[k * stride], sines[k * stride])
                    let (a, b) = (start + k, start + k + half)
                    let x = real[b] * c - imaginary[b] * s
                    let y = real[b] * s + imaginary[b] * c
                    real[b] = real[a] - x
                    imaginary[b] = imaginary[a] - y
                    real[a] += x
                    imaginary[a] += y
                }
            }
            half *= 2
        }
    }

    /// Moves every sample to the index whose bits are in reverse order.
    private func reorder(_ real: inout [Double], _ imaginary: inout [Double]) {
        var reversed = 0
        for index in 1..<count {
            var bit = count >> 1
            while reversed & bit != 0 {
                reversed ^= bit
                bit >>= 1
            }
            reversed |= bit
            if index < reversed {
                real.swapAt(index, reversed)
                imaginary.swapAt(index, reversed)
            }
        }
    }
}
