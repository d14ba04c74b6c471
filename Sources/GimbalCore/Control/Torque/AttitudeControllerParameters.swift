extension AttitudeController {
    /// Tuning of the torque motors' controller. Axis values act about the camera's own axes: yaw
    /// about z, roll about x, pitch about y.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Gain from attitude error to rate, 1/s.
        public var attitudeGain = AxisVector(repeating: 73)
        /// Gain from rate error to acceleration, 1/s.
        public var rateGain = AxisVector(repeating: 162)
        /// Gain from integrated rate error to acceleration, 1/s².
        public var rateIntegralGain = AxisVector(repeating: 7760)
        /// Gain from measured to commanded angular acceleration, dimensionless.
        public var rateDerivativeGain = AxisVector(repeating: 0.455)
        /// Corner of the derivative's low-pass, Hz.
        public var derivativeCutoffHz = 80.0
        /// Inertia of camera and carried parts about the camera's axes, kg·m²; the initial value of
        /// its identification if `findsInertia` is set.
        public var inertia = AxisVector(repeating: 2.5e-3)
        /// Whether the inertia is identified by a small probe whenever the outputs come on.
        /// Otherwise `inertia` counts as true.
        public var findsInertia = false
        /// Whether a configured `inertia` is checked by the same probe, and replaced if the probe
        /// contradicts it.
        public var checksInertia = false
        /// Whether the gains are reduced and the inertia is identified again when the motors make
        /// the camera oscillate.
        public var watchesOscillation = true
        /// Largest torque of each motor, N·m.
        public var torqueLimit = AxisVector(repeating: 0.25)
        /// Largest rate that an attitude error can command, rad/s.
        public var maxRate = 2 * Double.pi
        /// Deceleration that limits the rate for a large attitude error, rad/s².
        public var maxAcceleration = 40.0
        /// Fraction of the commanded rate and acceleration that is fed forward, 0...1.
        public var feedForward = 1.0
        /// Time from the camera's motion to the torque that responds to it, s: sensor filter, bus,
        /// actuator.
        public var loopDelay = 0.0035
        /// Time from the gyroscope's sample to the instant for which the estimated attitude is
        /// valid, s.
        public var attitudeLead = 0.003
        /// Learning rate of the joints' friction compensation, 1/s; 0 disables it.
        public var frictionLearningRate = 0.5
        /// Largest compensated friction, N·m; at most half of a motor's torque.
        public var frictionLimit = 0.1
        /// Largest RMS noise of the feedback above 50 Hz, as a fraction of each motor's torque
        /// limit, 0...1. An axis with more noise becomes less stiff; 0 means no limit.
        public var noiseLimit = 0.03

        /// Default parameters. For the simulation's default gimbal with 3.5 ms of delay they give
        /// the smallest response to a push with margins of 6 dB and 45°, as computed by
        /// `LoopMargins`.
        public init() {}
    }
}
