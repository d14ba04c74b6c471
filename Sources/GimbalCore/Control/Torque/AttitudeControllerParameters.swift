extension AttitudeController {
    /// Tuning of the torque motors' controller. Gains and inertia apply to the camera's axes: yaw
    /// is z, roll is x, pitch is y. The torque limits apply to the motors.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Gain from attitude error to commanded rate, 1/s.
        public var attitudeGain = AxisVector(repeating: 73)
        /// Gain from rate error to commanded acceleration, 1/s.
        public var rateGain = AxisVector(repeating: 162)
        /// Gain from integrated rate error to commanded acceleration, 1/s².
        public var rateIntegralGain = AxisVector(repeating: 7760)
        /// Gain from measured to commanded angular acceleration, dimensionless.
        public var rateDerivativeGain = AxisVector(repeating: 0.455)
        /// Corner frequency of the derivative's low-pass, Hz.
        public var derivativeCutoffHz = 80.0
        /// Inertia of the camera and the parts that turn with it, about the camera's axes, kg·m².
        /// If `findsInertia` is set, `inertia` is the initial value of the identification.
        public var inertia = AxisVector(repeating: 2.5e-3)
        /// True if a small probe identifies the inertia whenever the outputs are switched on; false
        /// if the controller uses the configured `inertia`.
        public var findsInertia = false
        /// True if the probe also checks a configured `inertia`. If the measured inertia
        /// contradicts the configured one, the measured inertia is used.
        public var checksInertia = false
        /// True if the controller responds to an oscillation: the gains are reduced, and the
        /// inertia is identified again.
        public var watchesOscillation = true
        /// Largest torque of each motor, N·m.
        public var torqueLimit = AxisVector(repeating: 0.25)
        /// Largest rate that an attitude error can command, rad/s.
        public var maxRate = 2 * Double.pi
        /// Deceleration from which the limit of the commanded rate is computed, rad/s², for large
        /// attitude errors (see `RateCommand`).
        public var maxAcceleration = 40.0
        /// Fraction of the set-point's rate and acceleration that is fed forward, 0...1.
        public var feedForward = 1.0
        /// Loop delay from the camera's motion to the responding torque, s: sensor filter, bus,
        /// actuator.
        public var loopDelay = 0.0035
        /// Part of `loopDelay` that assumes old samples, s: half the period of a slow loop beyond 1
        /// ms. If the samples are newer, the loop is faster by the difference; 0 if `loopDelay` was
        /// configured or measured.
        public var assumedWait = 0.0
        /// Learning rate of the joints' friction compensation, 1/s; 0 disables it.
        public var frictionLearningRate = 0.5
        /// Largest friction torque that is compensated, N·m; limited to half of the smallest torque
        /// limit.
        public var frictionLimit = 0.1
        /// Limit of the RMS feedback torque above 50 Hz, as a fraction of each motor's torque
        /// limit, 0...1. If the noise of an axis exceeds the limit, the axis's gains are reduced; 0
        /// disables the reduction.
        public var noiseLimit = 0.03

        /// Creates the default parameters. The default values minimise the response to a push at
        /// margins of 6 dB and 45° (see `LoopMargins`), for the simulated default gimbal with a
        /// delay of 3.5 ms.
        public init() {}
    }
}
