internal import CMathShim
internal import GimbalCore

/// Rotation of the sensor from one still pose to the next.
struct GravityTurn: Sendable {
    /// Rotation of the sensor during a few milliseconds.
    struct Part: Sendable {
        /// Integral of the measured rate, sensor frame, rad.
        var angle: Vector3
        /// Duration, s.
        var seconds: Double
    }

    /// Direction of the specific force before the turn, sensor frame, unit vector.
    var from: Vector3
    /// Direction of the specific force after the turn, sensor frame, unit vector.
    var to: Vector3
    /// Mean rate measured in the two still poses, which is the gyroscope's offset, rad/s.
    var bias: Vector3
    /// The rotation, in the order of time.
    var parts: [Part]

    /// Angle by which the sensor has turned about an axis in its own frame, rad; a full turn has 2π.
    func swept(_ axis: Vector3) -> Double {
        abs(parts.reduce(0) { $0 + ($1.angle - bias * $1.seconds).dot(axis) })
    }

    /// Angle between the attitudes before and after the turn, rad, 0...π.
    var angle: Double {
        parts.reduce(Quaternion.identity) {
            $0 * Quaternion(rotationVector: $1.angle - bias * $1.seconds)
        }.normalized.rotationVector.norm
    }

    /// Difference between the direction of gravity after the turn and the direction that the
    /// corrected gyroscope predicts, sensor frame; for small errors, an angle in rad.
    func error(_ matrix: SensorCorrection.Affine) -> Vector3 { to - prediction(matrix).up }

    /// Direction of gravity after the turn that the corrected gyroscope predicts, sensor frame, and
    /// its derivatives with respect to the elements of the matrix, by rows.
    func prediction(
        _ matrix: SensorCorrection.Affine
    ) -> (up: Vector3, derivatives: [Vector3]) {
        var rotation = Quaternion.identity
        // Rotation that one unit of each element adds, frame before the turn, rad.
        var added = [Vector3](repeating: .zero, count: 9)
        for part in parts {
            let angle = part.angle - bias * part.seconds
            let half = Quaternion(rotationVector: matrix.apply(angle) * 0.5)
            let middle = rotation * half
            rotation = middle * half
            let x = middle.rotate(Vector3(1, 0, 0))
            let y = middle.rotate(Vector3(0, 1, 0))
            let z = x.cross(y)
            added[0] += x * angle.x
            added[1] += x * angle.y
            added[2] += x * angle.z
            added[3] += y * angle.x
            added[4] += y * angle.y
            added[5] += y * angle.z
            added[6] += z * angle.x
            added[7] += z * angle.y
            added[8] += z * angle.z
        }
        rotation = rotation.normalized
        let up = rotation.inverseRotate(from)
        return (up, added.map { up.cross(rotation.inverseRotate($0)) })
    }
}

/// Fit of the gyroscope's matrix (scale and cross-axis sensitivity) to turns between still poses.
///
/// The fit determines nine unknowns by Gauss–Newton, each with a prior. An unknown that the turns
/// do not determine keeps its prior value. The loop must not use this type, because the fit
/// allocates memory.
struct GyroMatrixFit: Sendable {
    /// Prior of the unknowns, and accuracy of the measurements.
    struct Prior: Sendable, Equatable {
        /// Standard deviation of each relative scale error.
        var scaleSigma: Double
        /// Standard deviation of each cross-axis term, dimensionless.
        var crossSigma: Double
        /// Standard deviation of the direction after a turn, rad.
        var directionSigma: Double
    }

    /// Correction of the gyroscope: a matrix, and an offset of zero.
    let correction: SensorCorrection.Affine
    /// Standard deviation of the least certain cross-axis term, dimensionless.
    let crossSigma: Double
    /// RMS angle between the measured and the predicted directions of gravity, rad.
    let residual: Double

    /// Fits the turns; nil if the fit does not converge.
    init?(_ turns: [GravityTurn], prior: Prior) {
        let sigmas = (0..<9).map { $0 % 4 == 0 ? prior.scaleSigma : prior.crossSigma }
        let weight = 1 / (prior.directionSigma * prior.directionSigma)
        var state = [Double](repeating: 0, count: 9)
        var normal = NormalEquations(size: 9)
        var isConverged = false
        // Each step reduces the error by a factor of more than ten.
        for _ in 0..<20 where !isConverged {
            normal = NormalEquations(size: 9)
            for index in 0..<9 {
                normal.addPrior(
                    index, residual: -state[index], weight: 1 / (sigmas[index] * sigmas[index]))
            }
            for turn in turns { Self.add(turn, at: state, weight: weight, to: &normal) }
            guard let step = normal.solve() else { return nil }
            for index in 0..<9 { state[index] += step[index] }
            let largest = zip(step, sigmas).map { abs($0) / $1 }.max() ?? 0
            guard largest.isFinite else { return nil }
            isConverged = largest < 1e-6
        }
        guard isConverged, let variance = normal.inverseDiagonal() else { return nil }
        let result = Self.correction(state)
        correction = result
        crossSigma = cm_sqrt((0..<9).filter { $0 % 4 != 0 }.map { variance[$0] }.max() ?? 0)
        let squares = turns.reduce(0.0) { $0 + $1.error(result).squaredNorm }
        residual = cm_sqrt(squares / Double(max(turns.count, 1)))
    }

    private static func add(
        _ turn: GravityTurn, at state: [Double], weight: Double, to normal: inout NormalEquations
    ) {
        let (up, derivatives) = turn.prediction(correction(state))
        let error = turn.to - up
        normal.add(derivatives.map(\.x), residual: error.x, weight: weight)
        normal.add(derivatives.map(\.y), residual: error.y, weight: weight)
        normal.add(derivatives.map(\.z), residual: error.z, weight: weight)
    }

    /// The correction with the given differences from the identity, by rows.
    private static func correction(_ s: [Double]) -> SensorCorrection.Affine {
        var result = SensorCorrection.Affine()
        result.rowX = Vector3(1 + s[0], s[1], s[2])
        result.rowY = Vector3(s[3], 1 + s[4], s[5])
        result.rowZ = Vector3(s[6], s[7], 1 + s[8])
        return result
    }
}
