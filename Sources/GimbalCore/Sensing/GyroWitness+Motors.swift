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

        @_noLocks
        init(
            acceleration: Vector3, exerted: Vector3?,
            planned: (rate: Vector3, acceleration: Vector3) = (.zero, .zero), strongest: Double
        ) {
            self.acceleration = acceleration
            self.exerted = exerted
            self.planned = planned
            self.strongest = strongest
        }
    }
}
