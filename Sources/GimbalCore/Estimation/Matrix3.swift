/// A symmetric 3×3 matrix, stored as six elements.
struct Symmetric3: Sendable, BitwiseCopyable {
    var xx: Double
    var xy: Double
    var xz: Double
    var yy: Double
    var yz: Double
    var zz: Double

    /// Creates a matrix with `value` on the diagonal and zeros elsewhere.
    @_noLocks @_noAllocation
    init(diagonal value: Double) {
        xx = value
        xy = 0
        xz = 0
        yy = value
        yz = 0
        zz = value
    }

    /// The diagonal.
    var diagonal: Vector3 {
        @_noLocks @_noAllocation get { Vector3(xx, yy, zz) }
    }

    /// The product of the matrix and a column vector.
    @inline(always) @_noLocks @_noAllocation
    static func * (a: Symmetric3, v: Vector3) -> Vector3 {
        Vector3(
            a.xx * v.x + a.xy * v.y + a.xz * v.z,
            a.xy * v.x + a.yy * v.y + a.yz * v.z,
            a.xz * v.x + a.yz * v.y + a.zz * v.z)
    }

    /// The matrix with each element multiplied by `k`.
    @inline(always) @_noLocks @_noAllocation
    static func * (a: Symmetric3, k: Double) -> Symmetric3 {
        var result = a
        result.xx *= k
        result.xy *= k
        result.xz *= k
        result.yy *= k
        result.yz *= k
        result.zz *= k
        return result
    }

    /// Subtracts the matrix `v vᵀ s`.
    @inline(always) @_noLocks @_noAllocation
    mutating func subtractOuter(_ v: Vector3, times s: Double) {
        xx -= v.x * v.x * s
        xy -= v.x * v.y * s
        xz -= v.x * v.z * s
        yy -= v.y * v.y * s
        yz -= v.y * v.z * s
        zz -= v.z * v.z * s
    }

    /// Adds `value` to the diagonal.
    @inline(always) @_noLocks @_noAllocation
    mutating func addToDiagonal(_ value: Double) {
        xx += value
        yy += value
        zz += value
    }
}

/// A general 3×3 matrix, stored by rows.
struct Matrix3: Sendable, BitwiseCopyable {
    var rowX: Vector3
    var rowY: Vector3
    var rowZ: Vector3

    /// The matrix of zeros.
    static var zero: Matrix3 {
        @_noLocks @_noAllocation get { Matrix3(rowX: .zero, rowY: .zero, rowZ: .zero) }
    }

    /// Creates a matrix from its rows.
    @inline(always) @_noLocks @_noAllocation
    init(rowX: Vector3, rowY: Vector3, rowZ: Vector3) {
        self.rowX = rowX
        self.rowY = rowY
        self.rowZ = rowZ
    }

    /// The product of the matrix and a column vector.
    @inline(always) @_noLocks @_noAllocation
    static func * (a: Matrix3, v: Vector3) -> Vector3 {
        Vector3(a.rowX.dot(v), a.rowY.dot(v), a.rowZ.dot(v))
    }

    /// The product of the transposed matrix and a column vector.
    @inline(always) @_noLocks @_noAllocation
    func transposedTimes(_ v: Vector3) -> Vector3 { rowX * v.x + rowY * v.y + rowZ * v.z }

    /// Subtracts the matrix `a bᵀ s`.
    @inline(always) @_noLocks @_noAllocation
    mutating func subtractOuter(_ a: Vector3, _ b: Vector3, times s: Double) {
        rowX -= b * (a.x * s)
        rowY -= b * (a.y * s)
        rowZ -= b * (a.z * s)
    }
}

extension Vector3 {
    /// The element-wise product.
    @inline(always) @_noLocks @_noAllocation
    func scaled(by b: Vector3) -> Vector3 { Vector3(x * b.x, y * b.y, z * b.z) }

    /// The largest component.
    var largest: Double {
        @inline(always) @_noLocks @_noAllocation get { max(x, max(y, z)) }
    }

    /// The largest absolute component.
    var largestMagnitude: Double {
        @inline(always) @_noLocks @_noAllocation get { max(abs(x), max(abs(y), abs(z))) }
    }
}
