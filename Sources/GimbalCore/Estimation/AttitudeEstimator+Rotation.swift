extension AttitudeEstimator {
    /// Smallest value of 1 + cosine with a defined axis of rotation. Below it, the direction is
    /// opposite to the vertical, and the rotation is about x.
    private static var leastScalar: Double { @_noLocks @_noAllocation get { 1e-9 } }

    /// The shortest rotation from `direction` (unit length) to the vertical, ±1 along z.
    @_noLocks @_noAllocation
    static func levelling(_ direction: Vector3, up: Double) -> Quaternion {
        let scalar = 1 + direction.z * up
        guard scalar > Self.leastScalar else { return Quaternion(w: 0, x: 1, y: 0, z: 0) }
        return Quaternion(w: scalar, x: direction.y * up, y: -direction.x * up, z: 0).normalized
    }

    /// Largest squared angle for the power series, rad².
    private static var seriesLimit: Double { @_noLocks @_noAllocation get { 0.25 } }

    /// Rotation by a rotation vector, rad (exponential map). For the small angle of one sample, a
    /// power series is used. The error of the series is at most 1e-12 at 0.5 rad.
    @inline(always) @_noLocks @_noAllocation
    static func rotation(_ v: Vector3) -> Quaternion {
        let s = v.squaredNorm
        guard s < seriesLimit else { return Quaternion(rotationVector: v) }
        let k = 0.5 - s * (1 / 48.0 - s * (1 / 3840.0 - s * (1 / 645120.0)))
        let w = 1 - s * (1 / 8.0 - s * (1 / 384.0 - s * (1 / 46080.0 - s * (1 / 10_321_920.0))))
        return Quaternion(w: w, x: v.x * k, y: v.y * k, z: v.z * k)
    }
}
