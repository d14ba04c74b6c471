public import CMathShim

/// A unit quaternion, Hamilton convention, order w x y z. Attitudes rotate body vectors into the
/// earth frame: `attitude.rotate(body) == earth`.
public struct Quaternion: Hashable, Sendable, BitwiseCopyable {
    /// Scalar part.
    public var w: Double
    /// First vector component.
    public var x: Double
    /// Second vector component.
    public var y: Double
    /// Third vector component.
    public var z: Double

    /// Creates a quaternion from its components, without normalisation.
    @inlinable @inline(__always) @_noLocks
    public init(w: Double, x: Double, y: Double, z: Double) {
        self.w = w
        self.x = x
        self.y = y
        self.z = z
    }

    /// The identity: no rotation.
    @inlinable
    public static var identity: Quaternion {
        @_noLocks @inline(__always) get { Quaternion(w: 1, x: 0, y: 0, z: 0) }
    }

    /// The rotation by `vector.norm` radians about `vector`: the exponential map.
    ///
    /// The result is exact for any finite vector. Below 0.05 rad, as in one control period, the
    /// rotation is computed as a series with an error below 1e-17.
    @inlinable @inline(__always) @_noLocks
    public init(rotationVector vector: Vector3) {
        let squared = vector.squaredNorm
        let scale: Double
        if squared < 0.05 * 0.05 {
            // sin(a / 2) / a and cos(a / 2), with a² = `squared`.
            scale = 0.5 - squared * (1 / 48 - squared * (1 / 3840 - squared / 645_120))
            w = 1 - squared * (1 / 8 - squared * (1 / 384 - squared / 46_080))
        } else {
            let angle = cm_sqrt(squared)
            let half = cm_sincos(angle / 2)
            scale = half.sin / angle
            w = half.cos
        }
        x = vector.x * scale
        y = vector.y * scale
        z = vector.z * scale
    }

    /// Rotation vector (inverse of the exponential map): axis times angle, rad, in the shorter
    /// direction; norm 0...π. Below 0.1 rad, as for most errors of the control loop, the vector is
    /// computed as a series with an error below 1e-17.
    @inlinable
    public var rotationVector: Vector3 {
        @_noLocks @inline(__always) get {
            let sign: Double = w < 0 ? -1 : 1
            let vector = Vector3(x, y, z) * sign
            let squared = vector.squaredNorm
            // Square of the half angle's tangent.
            let t = squared / (w * w)
            if t < 0.05 * 0.05 {
                // atan(√t) / √t
                let ratio =
                    1 - t * (1 / 3 - t * (1 / 5 - t * (1 / 7 - t * (1 / 9 - t / 11))))
                return vector * (2 * ratio / (w * sign))
            }
            let sine = cm_sqrt(squared)
            return vector * (2 * cm_atan2(sine, w * sign) / sine)
        }
    }

    /// The rotation by `radians` about the x axis.
    @inlinable @inline(__always) @_noLocks
    public static func aboutX(_ radians: Double) -> Quaternion {
        Quaternion(w: cm_cos(radians / 2), x: cm_sin(radians / 2), y: 0, z: 0)
    }

    /// The rotation by `radians` about the y axis.
    @inlinable @inline(__always) @_noLocks
    public static func aboutY(_ radians: Double) -> Quaternion {
        Quaternion(w: cm_cos(radians / 2), x: 0, y: cm_sin(radians / 2), z: 0)
    }

    /// The rotation by `radians` about the z axis.
    @inlinable @inline(__always) @_noLocks
    public static func aboutZ(_ radians: Double) -> Quaternion {
        Quaternion(w: cm_cos(radians / 2), x: 0, y: 0, z: cm_sin(radians / 2))
    }

    /// Composition: `(a * b).rotate(v) == a.rotate(b.rotate(v))`.
    @inlinable @inline(__always) @_noLocks
    public static func * (a: Quaternion, b: Quaternion) -> Quaternion {
        Quaternion(
            w: a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
            x: a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            y: a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
            z: a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w)
    }

    /// The inverse of a unit quaternion.
    @inlinable
    public var conjugate: Quaternion {
        @_noLocks @inline(__always) get { Quaternion(w: w, x: -x, y: -y, z: -z) }
    }

    /// The length of the quaternion, 1 for a rotation.
    @inlinable
    public var norm: Double {
        @_noLocks @inline(__always) get { cm_sqrt(w * w + x * x + y * y + z * z) }
    }

    /// Copy of this rotation, normalised to length 1; `identity` if the length is zero or not
    /// finite.
    @inlinable
    public var normalized: Quaternion {
        @_noLocks @inline(__always) get {
            let length = norm
            guard length > 1e-12, length.isFinite else { return .identity }
            let scale = 1 / length
            return Quaternion(w: w * scale, x: x * scale, y: y * scale, z: z * scale)
        }
    }

    /// The vector `v` rotated from the body frame into the reference frame.
    @inlinable @inline(__always) @_noLocks
    public func rotate(_ v: Vector3) -> Vector3 {
        let u = Vector3(x, y, z)
        let t = u.cross(v) * 2
        return v + t * w + u.cross(t)
    }

    /// The vector `v` rotated from the reference frame into the body frame.
    @inlinable @inline(__always) @_noLocks
    public func inverseRotate(_ v: Vector3) -> Vector3 { conjugate.rotate(v) }

    /// Rotation vector from this rotation to `target`, in the body frame of this rotation, rad. The
    /// rotation takes the shorter direction.
    @inlinable @inline(__always) @_noLocks
    public func error(to target: Quaternion) -> Vector3 {
        (conjugate * target).rotationVector
    }

    /// True if no component is NaN or infinite.
    @inlinable
    public var isFinite: Bool {
        @_noLocks get { w.isFinite && x.isFinite && y.isFinite && z.isFinite }
    }
}
