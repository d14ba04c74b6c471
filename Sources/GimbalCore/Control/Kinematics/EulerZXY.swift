internal import CMathShim

/// Conversion between an attitude and the Euler angles of `q = Rz(yaw) * Rx(roll) * Ry(pitch)`.
/// This sequence (Z-X-Y) applies to joints, set-points, limits and the monitor. The conversion is
/// regular at pitch ±90° and singular at roll ±90°.
public enum EulerZXY {
    /// The attitude with the given angles.
    ///
    /// - Parameter angles: Yaw, roll and pitch, rad, any number of turns.
    /// - Returns: Unit quaternion, body to earth (camera to handle for joint angles).
    ///
    /// Any thread can call this function; it takes constant time.
    @_noLocks @_noAllocation
    public static func quaternion(_ angles: AxisVector) -> Quaternion {
        let z = cm_sincos(angles.yaw / 2)
        let x = cm_sincos(angles.roll / 2)
        let y = cm_sincos(angles.pitch / 2)
        return Quaternion(
            w: z.cos * x.cos * y.cos - z.sin * x.sin * y.sin,
            x: z.cos * x.sin * y.cos - z.sin * x.cos * y.sin,
            y: z.cos * x.cos * y.sin + z.sin * x.sin * y.cos,
            z: z.cos * x.sin * y.sin + z.sin * x.cos * y.cos)
    }

    /// Angles of an attitude, rad: yaw and pitch in -π...π, roll in -π/2...π/2.
    ///
    /// Within 0.03° of roll ±90°, only the sum or the difference of yaw and pitch is defined. Near
    /// roll ±90°, the function returns the sum or difference as yaw, and zero as pitch.
    ///
    /// - Parameter q: Unit quaternion.
    /// - Returns: Yaw, roll and pitch, rad.
    ///
    /// Any thread can call this function; it takes constant time.
    @_noLocks @_noAllocation
    public static func angles(_ q: Quaternion) -> AxisVector {
        let sineOfRoll = 2 * (q.y * q.z + q.w * q.x)
        if sineOfRoll > 0.999_999_9 || sineOfRoll < -0.999_999_9 {
            let yaw = cm_atan2(
                2 * (q.x * q.y + q.w * q.z), 1 - 2 * (q.y * q.y + q.z * q.z))
            return AxisVector(yaw: yaw, roll: sineOfRoll > 0 ? .pi / 2 : -.pi / 2, pitch: 0)
        }
        return AxisVector(
            yaw: cm_atan2(
                2 * (q.w * q.z - q.x * q.y), 1 - 2 * (q.x * q.x + q.z * q.z)),
            roll: cm_asin(sineOfRoll),
            pitch: cm_atan2(
                2 * (q.w * q.y - q.x * q.z), 1 - 2 * (q.x * q.x + q.y * q.y)))
    }
}
