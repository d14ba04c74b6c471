extension Stabilizer {
    /// Everything a user can tune.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// What counts as a sensor fault.
        public var screen = SampleScreen.Parameters()
        /// The attitude estimator's noise model.
        public var estimator = AttitudeEstimator.Parameters()
        /// Torque control.
        public var controller = AttitudeController.Parameters()
        /// Servo control.
        public var servo = ServoController.Parameters()
        /// Control of brushless motors without encoders.
        public var field = FieldController.Parameters()
        /// What the motors hold for ever.
        public var motors = ThermalBudget.Parameters()
        /// What the controller's rate goes through.
        public var rateFilter = RateFilter.Parameters()
        /// Limits of the set-point's motion.
        public var setpoint = SetpointGenerator.Parameters()
        /// What the modes do.
        public var modes = ModeParameters()
        /// Times of the output ramps.
        public var supervisor = Supervisor.Parameters()
        /// Mechanical range of the joints.
        public var jointRange = JointRange()
        /// What calibration knows about the sensors, and how they are mounted.
        public var correction = SensorCorrection()
        /// Somebody calibrates: the outputs stay off, because the camera must be still or is turned
        /// by hand.
        public var isCalibrating = false
        /// How the motors are driven. Read at the start only.
        public var motorType = MotorType.torque
        /// Mode at the start. Read at the start only.
        public var bootMode = Mode.locked

        /// The defaults: the default plant of the simulation, its inertia to be found.
        public init() {
            controller.findsInertia = true
            controller.checksInertia = true
        }

        /// The estimator's assumptions, with what calibration knows of the gyroscope's bias at this
        /// temperature, °C or NaN.
        @_noLocks
        func calibratedEstimator(at temperature: Double) -> AttitudeEstimator.Parameters {
            var result = estimator
            if correction.gyroBias.isKnown {
                result.initialBias = correction.mounting.rotate(correction.gyroBias.bias)
                result.initialBiasSigma = correction.gyroBias.sigma(at: temperature)
            }
            return result
        }
    }
}
