import CMathShim

/// Power spectrum of a signal: one-sided density, in the squared unit of the signal per Hz.
///
/// Source: P. Welch, "The use of fast Fourier transform for the estimation of power spectra", IEEE
/// Transactions on Audio and Electroacoustics 15 (1967). The method uses Hann windows that overlap
/// by half, and removes the mean of each segment.
public struct PowerSpectrum: Sendable, Equatable {
    /// Spacing of the frequencies, Hz. The first frequency is zero, the last is half the sample
    /// rate.
    public let resolution: Double
    /// Density at each frequency, in the squared unit of the signal per Hz.
    public let density: [Double]
    /// Number of averaged segments.
    public let segments: Int

    /// Computes the spectrum of evenly spaced samples; nil if the number of samples is less than
    /// one segment.
    ///
    /// - Parameters:
    ///   - samples: Samples, all finite.
    ///   - sampleRate: Sample rate, Hz.
    public init?(of samples: [Double], sampleRate: Double) {
        let length = Self.segment(sampleRate: sampleRate)
        guard samples.count >= length, sampleRate > 0 else { return nil }
        let transform = FourierTransform(count: length)
        let window = (0..<length).map {
            0.5 - 0.5 * cm_cos(2 * Double.pi * Double($0) / Double(length))
        }
        var sum = [Double](repeating: 0, count: length / 2 + 1)
        var segments = 0
        var start = 0
        while start + length <= samples.count {
            let part = samples[start..<start + length]
            let mean = part.reduce(0, +) / Double(length)
            var real = zip(part, window).map { ($0 - mean) * $1 }
            var imaginary = [Double](repeating: 0, count: length)
            transform.transform(&real, &imaginary)
            for k in sum.indices { sum[k] += real[k] * real[k] + imaginary[k] * imaginary[k] }
            segments += 1
            start += length / 2
        }
        // The one-sided density is the sum of both halves of the two-sided spectrum, except at zero
        // and at half the sample rate.
        let power = window.reduce(0) { $0 + $1 * $1 }
        let scale = 1 / (sampleRate * power * Double(segments))
        self.segments = segments
        resolution = sampleRate / Double(length)
        density = sum.indices.map {
            $0 == 0 || $0 == length / 2 ? sum[$0] * scale : sum[$0] * 2 * scale
        }
    }

    /// The largest power of two that is at most the number of samples in one second, limited to
    /// 16...4096.
    static func segment(sampleRate: Double) -> Int {
        var length = 16
        while length < 4096, Double(2 * length) <= 1.1 * sampleRate { length *= 2 }
        return length
    }

    /// Frequency of the element of `density` at an index, Hz.
    public func frequency(_ index: Int) -> Double { Double(index) * resolution }
}
