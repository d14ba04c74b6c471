public import CMathShim

/// A vector of three Cartesian components. Frame and unit are documented at each property whose
/// type is `Vector3`.
public struct Vector3: Hashable, Sendable, BitwiseCopyable {
    /// Forward component in body frames, north in the earth frame.
    public var x: Double
    /// Right component in body frames, east in the earth frame.
    public var y: Double
    /// Down component in body frames and in the earth frame.
    public var z: Double

    /// Creates a vector from its components.
    @inlinable @inline(__always) @_noLocks
    public init(_ x: Double, _ y: Double, _ z: Double) {
        self.x = x
        self.y = y
        self.z = z
    }

    /// The zero vector.
    @inlinable
    public static var zero: Vector3 { @_noLocks @inline(__always) get { Vector3(0, 0, 0) } }

    /// True if all components are equal. The operator is hand-written, because the real-time
    /// checker rejects the synthesized operator.
    @inlinable @inline(__always) @_noLocks
    public static func == (a: Vector3, b: Vector3) -> Bool {
        a.x == b.x && a.y == b.y && a.z == b.z
    }

    /// The sum of two vectors, component by component.
    @inlinable @inline(__always) @_noLocks
    public static func + (a: Vector3, b: Vector3) -> Vector3 {
        Vector3(a.x + b.x, a.y + b.y, a.z + b.z)
    }

    /// The difference of two vectors, component by component.
    @inlinable @inline(__always) @_noLocks
    public static func - (a: Vector3, b: Vector3) -> Vector3 {
        Vector3(a.x - b.x, a.y - b.y, a.z - b.z)
    }

    /// The opposite vector.
    @inlinable @inline(__always) @_noLocks
    public static prefix func - (a: Vector3) -> Vector3 { Vector3(-a.x, -a.y, -a.z) }

    /// The vector multiplied by `s`.
    @inlinable @inline(__always) @_noLocks
    public static func * (a: Vector3, s: Double) -> Vector3 { Vector3(a.x * s, a.y * s, a.z * s) }

    /// The vector multiplied by `s`.
    @inlinable @inline(__always) @_noLocks
    public static func * (s: Double, a: Vector3) -> Vector3 { a * s }

    /// The vector divided by `s`.
    @inlinable @inline(__always) @_noLocks
    public static func / (a: Vector3, s: Double) -> Vector3 { a * (1 / s) }

    /// Adds `b` to `a` in place.
    @inlinable @inline(__always) @_noLocks
    public static func += (a: inout Vector3, b: Vector3) { a = a + b }

    /// Subtracts `b` from `a` in place.
    @inlinable @inline(__always) @_noLocks
    public static func -= (a: inout Vector3, b: Vector3) { a = a - b }

    /// The scalar product.
    @inlinable @inline(__always) @_noLocks
    public func dot(_ b: Vector3) -> Double { x * b.x + y * b.y + z * b.z }

    /// The vector product, right-handed.
    @inlinable @inline(__always) @_noLocks
    public func cross(_ b: Vector3) -> Vector3 {
        Vector3(y * b.z - z * b.y, z * b.x - x * b.z, x * b.y - y * b.x)
    }

    /// The sum of the squared components.
    @inlinable
    public var squaredNorm: Double { @_noLocks @inline(__always) get { dot(self) } }

    /// The Euclidean length.
    @inlinable
    public var norm: Double { @_noLocks @inline(__always) get { cm_sqrt(squaredNorm) } }

    /// True if no component is NaN or infinite.
    @inlinable
    public var isFinite: Bool {
        @_noLocks @inline(__always) get { x.isFinite && y.isFinite && z.isFinite }
    }

    /// This vector, with its length limited to `limit`, which must not be negative.
    @inlinable @inline(__always) @_noLocks
    public func limited(to limit: Double) -> Vector3 {
        let length = norm
        return length > limit ? self * (limit / length) : self
    }
}
