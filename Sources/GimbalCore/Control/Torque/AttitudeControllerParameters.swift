extension AttitudeController {
    /// Tuning of the torque motors' controller. The values of gains and inertia apply to the
    /// camera's own axes: yaw is z, roll is x, pitch is y. The torque limits apply to the motors.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Gain from attitude error to commanded rate, 1/s.
        public var attitudeGain = AxisVector(repeating: 73)
        /// Gain from rate error to commanded acceleration, 1/s.
        public var rateGain = AxisVector(repeating: 162)
        /// Gain from integrated rate error to commanded acceleration, 1/s².
        public var rateIntegralGain = AxisVector(repeating: 7760)
        /// Gain from measured to commanded angular acceleration, dimensionless.
        public var rateDerivativeGain = AxisVector(repeating: 0.455)
        /// Corner of the derivative's low-pass, Hz.
        public var derivativeCutoffHz = 80.0
        /// Inertia of the camera and the parts that turn with it, about the camera's axes, kg·m².
        /// If `findsInertia` is set, `inertia` is the initial value of the identification.
        public var inertia = AxisVector(repeating: 2.5e-3)
        /// True if a small probe identifies the inertia whenever the outputs are switched on. If
        /// this property is false, the controller uses the configured `inertia`.
        public var findsInertia = false
        /// True if the probe also checks a configured `inertia`. A measured inertia that
        /// contradicts the configured inertia replaces the configured inertia.
        public var checksInertia = false
        /// True if the gains are reduced and the inertia is identified again when the motors make
        /// the camera oscillate.
        public var watchesOscillation = true
        /// Largest torque of each motor, N·m.
        public var torqueLimit = AxisVector(repeating: 0.25)
        /// Largest rate that an attitude error can command, rad/s.
        public var maxRate = 2 * Double.pi
        /// Deceleration, rad/s². When the attitude error is large, the limit on the commanded rate
        /// is computed from `maxAcceleration` (see `RateCommand`).
        public var maxAcceleration = 40.0
        /// Fraction of the commanded rate and acceleration that is fed forward, 0...1.
        public var feedForward = 1.0
        /// Time from the camera's motion to the torque that responds to it, s: sensor filter, bus,
        /// actuator.
        public var loopDelay = 0.0035
        /// Look-ahead of the attitude estimate, s: the time by which the estimated attitude is
        /// ahead of the gyroscope's sample.
        public var attitudeLead = 0.003
        /// Learning rate of the joints' friction compensation, 1/s; 0 disables it.
        public var frictionLearningRate = 0.5
        /// Largest friction torque that is compensated, N·m; limited to half of the smallest torque
        /// limit.
        public var frictionLimit = 0.1
        /// Largest RMS of the feedback torque above 50 Hz, as a fraction of each motor's torque
        /// limit, 0...1. The gains of an axis are reduced if its noise exceeds `noiseLimit`; 0
        /// disables the reduction.
        public var noiseLimit = 0.03

        /// Creates the default parameters. For the simulated default gimbal with a delay of 3.5 ms,
        /// the default parameters give the smallest response to a push among all parameters with
        /// margins of 6 dB and 45° (see `LoopMargins`).
        public init() {}
    }
}
