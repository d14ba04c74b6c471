extension Stabilizer {
    /// All parameters of the stabilizer.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Thresholds of the sensor's faults.
        public var screen = SampleScreen.Parameters()
        /// The attitude estimator's noise model.
        public var estimator = AttitudeEstimator.Parameters()
        /// Tuning of the torque motors' controller.
        public var controller = AttitudeController.Parameters()
        /// Tuning of the servos' controller.
        public var servo = ServoController.Parameters()
        /// Tuning of the controller of brushless motors without encoders.
        public var field = FieldController.Parameters()
        /// Thermal properties of the motors, which limit the continuous torque.
        public var motors = ThermalBudget.Parameters()
        /// Filters of the rate that the controllers use.
        public var rateFilter = RateFilter.Parameters()
        /// Limits of the set-point's motion.
        public var setpoint = SetpointGenerator.Parameters()
        /// Detection of a hand that turns the camera.
        public var push = HandPush.Parameters()
        /// Parameters of the modes.
        public var modes = ModeParameters()
        /// Durations of the output ramps.
        public var supervisor = Supervisor.Parameters()
        /// Switch of the drives' supply.
        public var motorSupply = MotorSupply.Parameters()
        /// Mechanical range of the joints.
        public var jointRange = JointRange()
        /// Calibration and mounting of the sensors.
        public var correction = SensorCorrection()
        /// Largest bias of the handle's gyroscope about each axis, rad/s. A larger rate at rest counts
        /// as motion of the handle.
        public var largestHandleBias = 0.05
        /// True if a calibration is in progress. The outputs stay off during a calibration, because
        /// the camera must be still or is turned by hand.
        public var isCalibrating = false
        /// Type of the motors. The stabilizer reads the type only at start-up.
        public var motorType = MotorType.torque
        /// Mode at start-up. The stabilizer reads the boot mode only at start-up.
        public var bootMode = Mode.locked

        /// Creates the default values for the simulation's default gimbal; the camera's inertia is
        /// identified.
        public init() {
            controller.findsInertia = true
            controller.checksInertia = true
        }

        /// The estimator's parameters, with the calibrated gyroscope bias. The sensor's temperature
        /// (°C; NaN if unknown) determines the bias's uncertainty.
        @_noLocks
        func calibratedEstimator(at temperature: Double) -> AttitudeEstimator.Parameters {
            var result = estimator
            // The correction can make a reading at full scale smaller.
            let matrix = correction.gyro
            result.gyroRange *= min(
                1, min(matrix.rowX.x, min(matrix.rowY.y, matrix.rowZ.z)))
            if correction.gyroBias.isKnown {
                result.initialBias = correction.rate(correction.gyroBias.bias)
                result.initialBiasSigma = correction.gyroBias.sigma(at: temperature)
            }
            return result
        }
    }
}
