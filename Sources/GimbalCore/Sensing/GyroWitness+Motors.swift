extension GyroWitness {
    /// Effect of the motors on the camera.
    struct Motors: Sendable, BitwiseCopyable {
        /// Acceleration of the camera by its motors at the time of the sample, computed from
        /// commanded torques and inertia without the gyroscope, camera frame, rad/s².
        var acceleration: Vector3
        /// Part of the motors' acceleration that corrects the camera's errors, camera frame,
        /// rad/s²; nil if unknown. For motors without encoders, this vector is the whole
        /// acceleration. The acceleration of these motors is computed from the rotors' positions,
        /// which observers estimate from the gyroscope.
        var exerted: Vector3?
        /// Rate, rad/s, and acceleration, rad/s², of the set-point, with the same delay as the
        /// sample, camera frame.
        var planned: (rate: Vector3, acceleration: Vector3)
        /// Largest change of the rate per time that is accepted without confirmation by another
        /// source, rad/s². The value is the largest acceleration that the motors can give a camera
        /// with about a third of the configured inertia.
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
