import GimbalCore

/// The camera's inertia about its three axes, including products of inertia.
struct InertiaTensor: Sendable {
    private let diagonal: Vector3
    /// Products of inertia xy, xz, yz, kg·m².
    private let products: Vector3
    private let inverseDiagonal: Vector3
    private let inverseProducts: Vector3
    private let isDiagonal: Bool

    /// Creates the tensor from the plant's parameters; the tensor must be positive definite.
    init(_ parameters: GimbalPlant.Parameters) {
        let d = Vector3(
            parameters.inertia.roll, parameters.inertia.pitch, parameters.inertia.yaw)
        let p = parameters.inertiaProducts
        diagonal = d
        products = p
        isDiagonal = p.squaredNorm == 0
        let determinant =
            d.x * (d.y * d.z - p.z * p.z) - p.x * (p.x * d.z - p.z * p.y)
            + p.y * (p.x * p.z - d.y * p.y)
        precondition(determinant > 0)
        inverseDiagonal =
            Vector3(d.y * d.z - p.z * p.z, d.x * d.z - p.y * p.y, d.x * d.y - p.x * p.x)
            * (1 / determinant)
        inverseProducts =
            Vector3(p.y * p.z - p.x * d.z, p.x * p.z - p.y * d.y, p.x * p.y - p.z * d.x)
            * (1 / determinant)
    }

    /// Product of the tensor and a vector. For a rate (rad/s), the product is the angular momentum
    /// (N·m·s); for an angular acceleration (rad/s²), it is the moment (N·m).
    func momentum(_ rate: Vector3) -> Vector3 {
        let along = Vector3(diagonal.x * rate.x, diagonal.y * rate.y, diagonal.z * rate.z)
        return isDiagonal ? along : along + Self.crossed(products, rate)
    }

    /// Angular acceleration (rad/s²) that a moment (N·m) causes.
    func acceleration(_ moment: Vector3) -> Vector3 {
        guard !isDiagonal else {
            return Vector3(
                moment.x / diagonal.x, moment.y / diagonal.y, moment.z / diagonal.z)
        }
        let i = inverseDiagonal
        return Vector3(i.x * moment.x, i.y * moment.y, i.z * moment.z)
            + Self.crossed(inverseProducts, moment)
    }

    private static func crossed(_ p: Vector3, _ v: Vector3) -> Vector3 {
        Vector3(p.x * v.y + p.y * v.z, p.x * v.x + p.z * v.z, p.y * v.x + p.z * v.y)
    }
}
