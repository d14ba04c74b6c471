extension Stabilizer {
    /// All parameters of the stabilizer.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Thresholds of the sensor faults.
        public var screen = SampleScreen.Parameters()
        /// The attitude estimator's noise model.
        public var estimator = AttitudeEstimator.Parameters()
        /// Torque control.
        public var controller = AttitudeController.Parameters()
        /// Servo control.
        public var servo = ServoController.Parameters()
        /// Control of brushless motors without encoders.
        public var field = FieldController.Parameters()
        /// Continuous torque limits of the motors.
        public var motors = ThermalBudget.Parameters()
        /// Filters of the controller's rate.
        public var rateFilter = RateFilter.Parameters()
        /// Limits of the set-point's motion.
        public var setpoint = SetpointGenerator.Parameters()
        /// Parameters of the modes.
        public var modes = ModeParameters()
        /// Durations of the output ramps.
        public var supervisor = Supervisor.Parameters()
        /// Mechanical range of the joints.
        public var jointRange = JointRange()
        /// Calibration and mounting of the sensors.
        public var correction = SensorCorrection()
        /// Whether a calibration is in progress. The outputs then stay off, because the camera must
        /// be still, or a person turns it by hand.
        public var isCalibrating = false
        /// Type of the motors. This value is read only at the start.
        public var motorType = MotorType.torque
        /// Mode at the start. This value is read only at the start.
        public var bootMode = Mode.locked

        /// The defaults, for the default plant of the simulation; the camera's inertia is
        /// identified.
        public init() {
            controller.findsInertia = true
            controller.checksInertia = true
        }

        /// The estimator's parameters, with the calibrated gyroscope bias at this temperature, °C
        /// or NaN.
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
