public import GimbalCore

/// Hand-eye calibration (A X = Y B) of a camera and a phone that is mounted on the camera. The
/// results are the rotation between the two bodies and the rotation between their world frames.
public struct HandEye: Sendable, Equatable {
    /// Simultaneous attitudes of camera and phone.
    public struct Pair: Sendable, Equatable {
        /// Attitude of the gimbal's camera: rotation from body to earth.
        public var camera: Quaternion
        /// Attitude of the phone: rotation from the axes of its picture to its world frame.
        public var phone: Quaternion

        /// Creates a pair of attitudes.
        public init(camera: Quaternion, phone: Quaternion) {
            self.camera = camera
            self.phone = phone
        }
    }

    /// Reason why the recorded attitudes are not sufficient.
    public enum Failure: Error, Sendable, Equatable {
        /// There are fewer than 4 pairs of attitudes.
        case tooFew
        /// All rotations have the same axis, so the angle about this axis cannot be determined.
        case oneAxis
        /// The phone is not rigidly mounted on the camera, or one of the two attitudes is wrong.
        /// The associated value is `residual`, rad.
        case inconsistent(Double)
    }

    /// Rotation from the axes of the phone's picture to the camera's body.
    public var mounting: Quaternion
    /// Rotation from the phone's world frame to the earth frame.
    public var world: Quaternion
    /// Residual of the calibration: root mean square of the angles between the attitudes of camera
    /// and phone, rad.
    public var residual: Double

    /// Largest permitted `residual`, rad.
    public static let limit = 0.05
    /// Smallest permitted mean square of the rotation angles about a second axis, rad².
    static let smallestTurn = 0.005

    /// Computes the rotations `mounting` and `world`. Between two pairs, the camera rotates by `a`
    /// and the phone by `b`. The two rotations have the same angle, and the mounting rotation `q`
    /// maps the axis of `b` to the axis of `a`. Therefore `a q - q b = 0`, an equation that is
    /// linear in the quaternion `q`.
    ///
    /// - Parameter pairs: Pairs of attitudes, with rotations of at least 20° about each of two or
    ///   more axes.
    /// - Throws: The reason why the attitudes are not sufficient.
    public init(_ pairs: [Pair]) throws(Failure) {
        guard pairs.count >= 4 else { throw .tooFew }
        var sum = SymmetricMatrix4()
        for (index, first) in pairs.enumerated() {
            for second in pairs[(index + 1)...] {
                let a = (first.camera.conjugate * second.camera).normalized
                let b = (first.phone.conjugate * second.phone).normalized
                sum.add(Self.difference(a.w < 0 ? a.negated : a, b.w < 0 ? b.negated : b))
            }
        }
        let (values, vectors) = sum.eigenvectors()
        // If all rotations have the same axis, the second smallest eigenvalue is also small.
        let turns = Double(pairs.count * (pairs.count - 1) / 2)
        guard values[1] - values[0] > Self.smallestTurn * turns else { throw .oneAxis }
        let q = vectors[0]
        let mounting = Quaternion(w: q[0], x: q[1], y: q[2], z: q[3]).normalized
        let worlds = pairs.map { ($0.camera * mounting * $0.phone.conjugate).normalized }
        let world = Self.mean(worlds)
        self.mounting = mounting
        self.world = world
        let squares = worlds.map { (world.conjugate * $0).normalized.rotationVector.squaredNorm }
        residual = (squares.reduce(0, +) / Double(squares.count)).squareRoot()
        guard residual <= Self.limit else { throw .inconsistent(residual) }
    }

    /// Matrix of the linear function `q ↦ a q - q b`.
    private static func difference(_ a: Quaternion, _ b: Quaternion) -> [[Double]] {
        [
            [a.w - b.w, b.x - a.x, b.y - a.y, b.z - a.z],
            [a.x - b.x, a.w - b.w, -a.z - b.z, a.y + b.y],
            [a.y - b.y, a.z + b.z, a.w - b.w, -a.x - b.x],
            [a.z - b.z, -a.y - b.y, a.x + b.x, a.w - b.w],
        ]
    }

    private static func mean(_ rotations: [Quaternion]) -> Quaternion {
        let first = rotations[0]
        var sum = Quaternion(w: 0, x: 0, y: 0, z: 0)
        for q in rotations {
            let dot = q.w * first.w + q.x * first.x + q.y * first.y + q.z * first.z
            let p = dot < 0 ? q.negated : q
            sum = Quaternion(w: sum.w + p.w, x: sum.x + p.x, y: sum.y + p.y, z: sum.z + p.z)
        }
        return sum.normalized
    }
}

extension Quaternion {
    /// Quaternion with the opposite sign; both quaternions describe the same rotation.
    fileprivate var negated: Quaternion { Quaternion(w: -w, x: -x, y: -y, z: -z) }
}

/// Symmetric matrix of 4 × 4 numbers. The eigenvectors are computed with Jacobi's method.
struct SymmetricMatrix4 {
    private(set) var m = [[Double]](repeating: [Double](repeating: 0, count: 4), count: 4)

    /// Adds the product `dᵀ d` to the matrix; `d` has 4 × 4 numbers.
    mutating func add(_ d: [[Double]]) {
        for i in 0..<4 {
            for j in 0..<4 {
                for k in 0..<4 { m[i][j] += d[k][i] * d[k][j] }
            }
        }
    }

    /// Eigenvalues in ascending order, each with its eigenvector of length 1.
    func eigenvectors() -> (values: [Double], vectors: [[Double]]) {
        var a = m
        var v = (0..<4).map { i in (0..<4).map { $0 == i ? 1.0 : 0 } }
        for _ in 0..<32 {
            for p in 0..<3 {
                for q in (p + 1)..<4 where abs(a[p][q]) > 1e-300 {
                    let theta = (a[q][q] - a[p][p]) / (2 * a[p][q])
                    let t = (theta < 0 ? -1 : 1) / (abs(theta) + (theta * theta + 1).squareRoot())
                    let c = 1 / (t * t + 1).squareRoot()
                    let s = t * c
                    for k in 0..<4 {
                        (a[k][p], a[k][q]) = (c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q])
                    }
                    for k in 0..<4 {
                        (a[p][k], a[q][k]) = (c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k])
                        (v[k][p], v[k][q]) = (c * v[k][p] - s * v[k][q], s * v[k][p] + c * v[k][q])
                    }
                }
            }
        }
        let order = (0..<4).sorted { a[$0][$0] < a[$1][$1] }
        return (order.map { a[$0][$0] }, order.map { i in (0..<4).map { v[$0][i] } })
    }
}
