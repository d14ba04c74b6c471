import CMathShim
public import GimbalCore

/// Model of one motor's load, as a frequency response from moment to rate. The load is an inertia
/// with viscous damping and a spring, in series with a delay.
///
/// `P(s) = exp(-s delay) / (s inertia + damping + stiffness / s)`
public struct PlantModel: Sendable, Equatable {
    /// Moment of inertia, kg·m².
    public var inertia: Double
    /// Damping, N·m·s/rad; it includes the equivalent of Coulomb friction at the speed of the
    /// measurement.
    public var damping: Double
    /// Stiffness due to cables, gravity and sticking bearings, N·m/rad.
    public var stiffness: Double
    /// Delay from torque to measured rate, s. The delay includes half a period of the loop, because
    /// the output is held.
    public var delay: Double

    /// Range in which `fit` searches the delay, s.
    public static let delays = 0.0005...0.03

    /// Creates a model.
    public init(inertia: Double, damping: Double, stiffness: Double, delay: Double) {
        self.inertia = inertia
        self.damping = damping
        self.stiffness = stiffness
        self.delay = delay
    }

    /// Response at `omega`, rad/s: rate per moment, rad/s per N·m.
    public func response(omega: Double) -> Complex {
        Complex(phase: -omega * delay)
            / Complex(damping, omega * inertia - stiffness / omega)
    }

    /// Find the model that fits measured points best.
    ///
    /// For a given delay, the problem of minimizing the weighted relative errors of all points is
    /// linear. A search finds the delay with the smallest error.
    ///
    /// - Parameter points: Measured points, at least 4.
    /// - Returns: The model and the root mean square of the relative error; nil if no model fits.
    public static func fit(_ points: [ResponsePoint]) -> (model: PlantModel, residual: Double)? {
        guard points.count >= 4 else { return nil }
        var best: (model: PlantModel, residual: Double)?
        var delay = delays.lowerBound
        while delay <= delays.upperBound {
            if let (model, residual) = solve(points, delay: delay), model.inertia > 0,
                residual < best?.residual ?? .infinity
            {
                best = (model, residual)
            }
            delay += 0.00005
        }
        return best
    }

    private static func solve(
        _ points: [ResponsePoint], delay: Double
    ) -> (model: PlantModel, residual: Double)? {
        // The equations are (inertia, damping, stiffness) · columns = 1, for the real and the
        // imaginary part of each point.
        var equations = NormalEquations()
        for point in points {
            let omega = point.omega
            let turned = point.response * Complex(phase: omega * delay)
            let columns = [
                turned * Complex(0, omega), turned, turned / Complex(0, omega),
            ]
            equations.add(columns.map(\.real), 1, weight: point.weight)
            equations.add(columns.map(\.imaginary), 0, weight: point.weight)
        }
        guard let x = equations.solution else { return nil }
        let model = PlantModel(inertia: x[0], damping: x[1], stiffness: x[2], delay: delay)
        return (model, equations.residual(of: x))
    }
}

/// One measured point of a frequency response.
public struct ResponsePoint: Sendable, Equatable {
    /// Frequency, rad/s.
    public var omega: Double
    /// Rate per moment, rad/s per N·m.
    public var response: Complex
    /// Coherence: fraction of the rate's mean square that the excitation explains, 0...1.
    public var coherence: Double
    /// Number of averaged periods.
    public var periods: Int

    /// Creates a measured point.
    public init(omega: Double, response: Complex, coherence: Double, periods: Int) {
        self.omega = omega
        self.response = response
        self.coherence = coherence
        self.periods = periods
    }

    /// Weight of the point: inverse of its relative variance. The variance includes the incoherent
    /// fraction, 3 % for nonlinearity, and the effect of stiction at low frequencies.
    var weight: Double {
        let share = min(max(coherence, 1e-3), 1)
        let slowness = ResponsePoint.frictionCorner / omega
        let sticking = 0.1 * slowness * slowness
        return 1 / (9e-4 + sticking * sticking + (1 - share) / (share * Double(periods)))
    }

    /// Frequency above which friction is small compared with the inertia, rad/s.
    private static let frictionCorner = 2 * Double.pi * 30
}

/// Normal equations of a least-squares problem with three unknowns.
struct NormalEquations {
    private var matrix = [Double](repeating: 0, count: 9)
    private var right = [Double](repeating: 0, count: 3)
    private var square = 0.0
    private var weights = 0.0

    mutating func add(_ row: [Double], _ value: Double, weight: Double) {
        for i in 0..<3 {
            for j in 0..<3 { matrix[3 * i + j] += weight * row[i] * row[j] }
            right[i] += weight * row[i] * value
        }
        square += weight * value * value
        weights += weight
    }

    /// Solution by Cramer's rule with scaled columns; nil if the rows do not determine the
    /// unknowns.
    var solution: [Double]? {
        let scales = (0..<3).map { cm_sqrt(matrix[4 * $0]) }
        guard scales.allSatisfy({ $0 > 0 }) else { return nil }
        let a = (0..<9).map { matrix[$0] / (scales[$0 / 3] * scales[$0 % 3]) }
        let b = (0..<3).map { right[$0] / scales[$0] }
        let whole = Self.determinant(a)
        guard abs(whole) > 1e-12 else { return nil }
        return (0..<3).map { column in
            var replaced = a
            for row in 0..<3 { replaced[3 * row + column] = b[row] }
            return Self.determinant(replaced) / whole / scales[column]
        }
    }

    /// Root of the weighted mean square error of the solution `x`. Each measured point contributes
    /// two rows to the system of equations.
    func residual(of x: [Double]) -> Double {
        var rest = square
        for i in 0..<3 {
            rest -= 2 * x[i] * right[i]
            for j in 0..<3 { rest += x[i] * x[j] * matrix[3 * i + j] }
        }
        return cm_sqrt(max(rest, 0) * 2 / max(weights, 1e-300))
    }

    private static func determinant(_ m: [Double]) -> Double {
        m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6])
            + m[2] * (m[3] * m[7] - m[4] * m[6])
    }
}
