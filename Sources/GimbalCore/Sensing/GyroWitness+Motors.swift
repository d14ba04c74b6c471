extension GyroWitness {
    /// Effect of the motors on the camera.
    struct Motors: Sendable, BitwiseCopyable {
        /// Acceleration of the camera by its motors at the time of the sample, without any part
        /// that depends on the gyroscope, camera frame, rad/s².
        var acceleration: Vector3
        /// Part of the acceleration that corrects the camera's errors, camera frame, rad/s²; nil if
        /// unknown. Without encoders it is the whole acceleration, computed from the rotors'
        /// positions, which the observers estimate from the gyroscope.
        var exerted: Vector3?
        /// Rate and acceleration of the set-point, delayed like the sample, camera frame, rad/s and
        /// rad/s².
        var planned: (rate: Vector3, acceleration: Vector3)
        /// Largest change of the rate per time that is accepted without a witness, rad/s²: the
        /// largest acceleration of a camera with a third of the assumed inertia by its motors.
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
