internal import CMathShim

/// A complex number, for frequency responses.
public struct Complex: Sendable, BitwiseCopyable, Equatable {
    /// Real part.
    public var real: Double
    /// Imaginary part.
    public var imaginary: Double

    /// The number `real + j imaginary`.
    public init(_ real: Double, _ imaginary: Double = 0) {
        self.real = real
        self.imaginary = imaginary
    }

    /// Creates the number of magnitude 1 with the given phase, rad.
    public init(phase: Double) { self.init(cm_cos(phase), cm_sin(phase)) }

    /// Square of the magnitude.
    public var squaredMagnitude: Double { real * real + imaginary * imaginary }
    /// Magnitude.
    public var magnitude: Double { cm_sqrt(squaredMagnitude) }
    /// Phase, rad, -π...π.
    public var phase: Double { cm_atan2(imaginary, real) }
    /// The complex conjugate.
    public var conjugate: Complex { Complex(real, -imaginary) }

    /// The sum of two numbers.
    public static func + (a: Complex, b: Complex) -> Complex {
        Complex(a.real + b.real, a.imaginary + b.imaginary)
    }
    /// The difference of two numbers.
    public static func - (a: Complex, b: Complex) -> Complex {
        Complex(a.real - b.real, a.imaginary - b.imaginary)
    }
    /// The product of two numbers.
    public static func * (a: Complex, b: Complex) -> Complex {
        Complex(
            a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real
        )
    }
    /// The number multiplied by a real number.
    public static func * (a: Complex, s: Double) -> Complex {
        Complex(a.real * s, a.imaginary * s)
    }
    /// The quotient of two numbers; not finite if the divisor is zero.
    public static func / (a: Complex, b: Complex) -> Complex {
        a * b.conjugate * (1 / b.squaredMagnitude)
    }
}
