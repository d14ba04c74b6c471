extension GyroWitness {
    /// Effect of the motors on the camera.
    struct Motors: Sendable, BitwiseCopyable {
        /// Acceleration of the camera due to the motors at the sampling instant, camera frame,
        /// rad/s². The value is computed from commanded torques and inertia, without the gyroscope.
        var acceleration: Vector3
        /// Feedback part of the motors' acceleration, camera frame, rad/s²; nil if unknown. For
        /// motors without encoders, this vector is the whole acceleration, computed from the
        /// rotors' positions. Observers estimate the rotors' positions from the gyroscope's rate.
        var exerted: Vector3?
        /// Set-point's rate, rad/s, and acceleration, rad/s², camera frame, with the same delay as
        /// the sample.
        var planned: (rate: Vector3, acceleration: Vector3)
        /// Largest angular acceleration that is accepted without confirmation by another source,
        /// rad/s². The motors can cause this acceleration if the true inertia is about a third of
        /// the assumed inertia.
        var strongest: Double
        /// Largest sudden change of the rate that is accepted, rad/s: the jolt of a servo's horn,
        /// which does not depend on the sample interval.
        var jolt: Double

        @_noLocks
        init(
            acceleration: Vector3, exerted: Vector3?,
            planned: (rate: Vector3, acceleration: Vector3) = (.zero, .zero),
            strongest: Double = 0, jolt: Double = 0
        ) {
            self.acceleration = acceleration
            self.exerted = exerted
            self.planned = planned
            self.strongest = strongest
            self.jolt = jolt
        }
    }
}

extension GyroWitness {
    /// The camera axes on which the gyroscope measures the opposite of the motors' effect. The
    /// wrong sign can be that of the gyroscope or that of a motor; the two cases cannot be
    /// distinguished.
    var reversed: AxisSet { @_noLocks get { images.reversed } }

    /// Camera's rate while a sign is wrong, camera frame, rad/s. On each axis, the sign of the
    /// gyroscope's rate is corrected according to the responses to the motors. On axes without a
    /// clear response, the value is zero.
    ///
    /// - Parameters:
    ///   - gyro: The gyroscope's rate minus its bias, camera frame, rad/s.
    ///   - reversed: The camera axes whose response is known to be reversed.
    /// - Returns: The rate; finite if `gyro` is finite.
    @_noLocks
    func signedRate(gyro: Vector3, reversed: AxisSet) -> Vector3 {
        let sign = images.signs(reversed: reversed)
        return Vector3(gyro.x * sign.x, gyro.y * sign.y, gyro.z * sign.z)
    }
}
