public import GimbalCore
internal import CMathShim

/// Fit of an offset and a symmetric matrix to a set of vectors of equal true length: `|matrix · (v
/// − offset)| = length`.
///
/// The fit determines nine unknowns by Gauss–Newton, each with a prior. If the vectors do not
/// determine an unknown, the prior prevents divergence: the unknown keeps its prior value and a
/// large standard deviation. For example, six poses along the axes do not determine the cross-axis
/// terms. The matrix is symmetric, because the lengths of vectors contain no information about a
/// rotation. The loop must not use this type, because the fit allocates memory.
public struct NormFit: Sendable, Equatable {
    /// Prior of the unknowns: their expected values and standard deviations before any measurement.
    public struct Prior: Sendable, Equatable {
        /// Most likely offset, in the unit of the vectors.
        public var offset = Vector3.zero
        /// Standard deviation of the offset, in the unit of the vectors.
        public var offsetSigma: Double
        /// Standard deviation of each relative scale error.
        public var scaleSigma: Double
        /// Standard deviation of each cross-axis term, dimensionless.
        public var crossSigma: Double
        /// Standard deviation of the error of a vector's length, in the unit of the vectors.
        public var lengthSigma: Double

        /// Creates a prior.
        public init(
            offset: Vector3 = .zero, offsetSigma: Double, scaleSigma: Double, crossSigma: Double,
            lengthSigma: Double
        ) {
            self.offset = offset
            self.offsetSigma = offsetSigma
            self.scaleSigma = scaleSigma
            self.crossSigma = crossSigma
            self.lengthSigma = lengthSigma
        }
    }

    /// The fitted correction.
    public var correction: SensorCorrection.Affine
    /// Standard deviation of the offset on each axis.
    public var offsetSigma: Vector3
    /// RMS error of the vectors' lengths after the correction, in the unit of the vectors.
    public var residual: Double

    /// Fits the vectors; nil if the fit does not converge.
    ///
    /// - Parameters:
    ///   - vectors: Measured vectors, sensor frame.
    ///   - length: True length of the vectors, in their unit.
    ///   - prior: Prior of the unknowns.
    public init?(_ vectors: [Vector3], length: Double, prior: Prior) {
        var state = [prior.offset.x, prior.offset.y, prior.offset.z, 1, 1, 1, 0, 0, 0]
        let mean = state
        let sigma =
            [Double](repeating: prior.offsetSigma, count: 3)
            + [Double](repeating: prior.scaleSigma, count: 3)
            + [Double](repeating: prior.crossSigma, count: 3)
        let weight = 1 / (prior.lengthSigma * prior.lengthSigma)
        var converged = false
        var normal = NormalEquations(size: 9)
        for _ in 0..<50 {
            normal = NormalEquations(size: 9)
            for index in 0..<9 {
                let inverse = 1 / (sigma[index] * sigma[index])
                normal.addPrior(index, residual: mean[index] - state[index], weight: inverse)
            }
            let correction = Self.affine(state)
            for vector in vectors {
                let corrected = correction.apply(vector)
                let norm = corrected.norm
                guard norm > 1e-9 * length else { return nil }
                normal.add(
                    Self.gradient(vector - correction.offset, corrected / norm, correction),
                    residual: length - norm, weight: weight)
            }
            guard let step = normal.solve() else { return nil }
            var largest = 0.0
            for index in 0..<9 {
                state[index] += step[index]
                largest = max(largest, abs(step[index]) / sigma[index])
            }
            guard largest.isFinite else { return nil }
            if largest < 1e-9 {
                converged = true
                break
            }
        }
        guard converged, let variance = normal.inverseDiagonal() else { return nil }
        let result = Self.affine(state)
        correction = result
        offsetSigma = Vector3(cm_sqrt(variance[0]), cm_sqrt(variance[1]), cm_sqrt(variance[2]))
        let squares = vectors.reduce(0.0) { sum, vector in
            let error = result.apply(vector).norm - length
            return sum + error * error
        }
        residual = cm_sqrt(squares / Double(max(vectors.count, 1)))
    }

    /// Converts the unknowns (offset x y z, diagonal xx yy zz, cross-axis xy xz yz) to a
    /// correction.
    private static func affine(_ s: [Double]) -> SensorCorrection.Affine {
        var result = SensorCorrection.Affine()
        result.offset = Vector3(s[0], s[1], s[2])
        result.rowX = Vector3(s[3], s[6], s[7])
        result.rowY = Vector3(s[6], s[4], s[8])
        result.rowZ = Vector3(s[7], s[8], s[5])
        return result
    }

    /// Derivative of the corrected length with respect to each unknown. `d` is the measured vector
    /// minus the offset; `u` is the direction of the corrected vector.
    private static func gradient(
        _ d: Vector3, _ u: Vector3, _ correction: SensorCorrection.Affine
    ) -> [Double] {
        let offset = -(correction.rowX * u.x + correction.rowY * u.y + correction.rowZ * u.z)
        return [
            offset.x, offset.y, offset.z, u.x * d.x, u.y * d.y, u.z * d.z,
            u.x * d.y + u.y * d.x, u.x * d.z + u.z * d.x, u.y * d.z + u.z * d.y,
        ]
    }
}

/// Weighted least-squares problem; Cholesky decomposition solves its symmetric positive definite
/// system.
struct NormalEquations {
    private let size: Int
    private var matrix: [[Double]]
    private var right: [Double]

    init(size: Int) {
        self.size = size
        matrix = Array(repeating: Array(repeating: 0, count: size), count: size)
        right = Array(repeating: 0, count: size)
    }

    /// Adds one equation: `gradient · step = residual`.
    mutating func add(_ gradient: [Double], residual: Double, weight: Double) {
        for row in 0..<size {
            right[row] += gradient[row] * residual * weight
            for column in 0..<size {
                matrix[row][column] += gradient[row] * gradient[column] * weight
            }
        }
    }

    /// Adds a prior for one unknown. `residual` is the prior's value minus the current estimate,
    /// and `weight` is the reciprocal of the prior's variance.
    mutating func addPrior(_ index: Int, residual: Double, weight: Double) {
        matrix[index][index] += weight
        right[index] += residual * weight
    }

    /// The solution; nil if the matrix is not positive definite.
    func solve() -> [Double]? { decomposed.map { solve($0, right) } }

    /// Variances of the unknowns: the diagonal of the inverse matrix. The result is nil if the
    /// matrix is not positive definite.
    func inverseDiagonal() -> [Double]? {
        guard let lower = decomposed else { return nil }
        return (0..<size).map { index in
            var unit = [Double](repeating: 0, count: size)
            unit[index] = 1
            return solve(lower, unit)[index]
        }
    }

    private var decomposed: [[Double]]? {
        var lower = matrix
        for row in 0..<size {
            for column in 0...row {
                var sum = matrix[row][column]
                for k in 0..<column { sum -= lower[row][k] * lower[column][k] }
                if row == column {
                    guard sum > 0, sum.isFinite else { return nil }
                    lower[row][row] = cm_sqrt(sum)
                } else {
                    lower[row][column] = sum / lower[column][column]
                }
            }
        }
        return lower
    }

    private func solve(_ lower: [[Double]], _ right: [Double]) -> [Double] {
        var x = right
        for row in 0..<size {
            for k in 0..<row { x[row] -= lower[row][k] * x[k] }
            x[row] /= lower[row][row]
        }
        for row in (0..<size).reversed() {
            for k in stride(from: row + 1, to: size, by: 1) { x[row] -= lower[k][row] * x[k] }
            x[row] /= lower[row][row]
        }
        return x
    }
}
