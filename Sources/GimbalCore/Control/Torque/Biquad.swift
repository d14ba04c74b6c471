internal import CMathShim

/// A second-order digital filter in transposed direct form II.
///
/// Source of the coefficients: Bristow-Johnson: Cookbook formulae for audio equalizer biquad filter
/// coefficients, W3C Working Group Note, 2021.
public struct Biquad: Sendable, BitwiseCopyable {
    /// Coefficients of the transfer function `H(z) = (b0 + b1/z + b2/z²) / (1 + a1/z + a2/z²)`.
    public struct Coefficients: Sendable, BitwiseCopyable {
        var b0 = 1.0
        var b1 = 0.0
        var b2 = 0.0
        var a1 = 0.0
        var a2 = 0.0

        /// Creates a filter that passes its input unchanged.
        @_noLocks
        public init() {}

        /// Coefficients of a low-pass with a gain of 1 at zero frequency.
        ///
        /// - Parameters:
        ///   - hz: Corner frequency (-3 dB), Hz; limited to 0.45 times the sample rate.
        ///   - order: Order of the filter: 1, or 2 (Butterworth).
        ///   - sampleRate: Sample rate, Hz.
        /// - Returns: Coefficients of the filter.
        public static func lowPass(hz: Double, order: Int, sampleRate: Double) -> Coefficients {
            let w = angle(hz, sampleRate)
            var c = Coefficients()
            if order == 1 {
                // Bilinear transform, prewarped at the corner frequency.
                let k = cm_sin(w / 2) / cm_cos(w / 2)
                c.b0 = k / (1 + k)
                c.b1 = c.b0
                c.a1 = (k - 1) / (k + 1)
                return c
            }
            let alpha = cm_sin(w) / cm_sqrt(2)
            let a0 = 1 + alpha
            c.b1 = (1 - cm_cos(w)) / a0
            c.b0 = c.b1 / 2
            c.b2 = c.b0
            c.a1 = -2 * cm_cos(w) / a0
            c.a2 = (1 - alpha) / a0
            return c
        }

        /// Coefficients of a notch of finite depth: the cookbook's peaking equaliser with a
        /// negative gain.
        ///
        /// - Parameters:
        ///   - notch: Centre, width and depth of the notch; the centre is limited to 0.45 times the
        ///     sample rate.
        ///   - sampleRate: Sample rate, Hz.
        /// - Returns: Coefficients of the filter.
        public static func notch(_ notch: Notch, sampleRate: Double) -> Coefficients {
            let w = angle(notch.hz, sampleRate)
            let amplitude = cm_exp(-notch.depth / 40 * cm_log(10))
            let alpha = cm_sin(w) / (2 * notch.q)
            let a0 = 1 + alpha / amplitude
            var c = Coefficients()
            c.b0 = (1 + alpha * amplitude) / a0
            c.b1 = -2 * cm_cos(w) / a0
            c.b2 = (1 - alpha * amplitude) / a0
            c.a1 = c.b1
            c.a2 = (1 - alpha / amplitude) / a0
            return c
        }

        /// Largest frequency of a filter, as a fraction of the sample rate. At 0.5, the filter
        /// would not be defined.
        private static var highest: Double { @_noLocks get { 0.45 } }

        private static func angle(_ hz: Double, _ sampleRate: Double) -> Double {
            2 * Double.pi * min(hz / sampleRate, highest)
        }

        /// Gain and phase of the filter at a normalised frequency.
        ///
        /// - Parameter angle: Frequency times sample period, rad, 0...π.
        /// - Returns: Gain and phase as one complex number.
        public func response(angle: Double) -> Complex {
            let z1 = Complex(phase: -angle)
            let z2 = Complex(phase: -2 * angle)
            return (Complex(b0) + z1 * b1 + z2 * b2) / (Complex(1) + z1 * a1 + z2 * a2)
        }

        /// True if two sets of coefficients are equal. The comparison is a function, because the
        /// real-time checker rejects the synthesized operator.
        @_noLocks
        static func areSame(_ a: Coefficients, _ b: Coefficients) -> Bool {
            a.b0 == b.b0 && a.b1 == b.b1 && a.b2 == b.b2 && a.a1 == b.a1 && a.a2 == b.a2
        }
    }

    private var s1 = 0.0
    private var s2 = 0.0

    /// Creates a filter in the steady state for the input 0.
    @_noLocks
    init() {}

    /// The filter's output for the next input. Runs on the loop thread, in constant time.
    @_noLocks @_noAllocation
    mutating func step(_ x: Double, _ c: Coefficients) -> Double {
        let y = c.b0 * x + s1
        s1 = c.b1 * x - c.a1 * y + s2
        s2 = c.b2 * x - c.a2 * y
        return y
    }

    /// Sets the filter to its steady state for the constant input `x`; assumes a gain of 1 at zero
    /// frequency.
    @_noLocks @_noAllocation
    mutating func settle(at x: Double, _ c: Coefficients) {
        s2 = (c.b2 - c.a2) * x
        s1 = (c.b1 - c.a1) * x + s2
    }
}

/// A notch filter: a narrow stop band for a motor's vibration or a resonance of the frame.
public struct Notch: Sendable, BitwiseCopyable, Equatable {
    /// Centre frequency of the notch, Hz.
    public var hz: Double
    /// Quality factor of the notch: its centre frequency divided by its width. For example, 3 means
    /// that the width is a third of the centre frequency.
    public var q: Double
    /// Attenuation at the centre of the notch, dB.
    public var depth: Double

    /// Creates a notch.
    public init(hz: Double, q: Double = 3, depth: Double = 20) {
        self.hz = hz
        self.q = q
        self.depth = depth
    }
}

extension Biquad {
    /// A filter with its coefficients, for signals outside the loop.
    public struct Runner: Sendable {
        private var filter = Biquad()
        private let coefficients: Coefficients

        /// Creates a filter in the steady state for the input `value`.
        public init(_ coefficients: Coefficients, from value: Double) {
            self.coefficients = coefficients
            filter.settle(at: value, coefficients)
        }

        /// The filter's output for the next input.
        public mutating func step(_ value: Double) -> Double { filter.step(value, coefficients) }
    }
}
