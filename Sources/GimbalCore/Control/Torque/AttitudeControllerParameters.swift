extension AttitudeController {
    /// What the user tunes. Axis values act about the camera's own axes: yaw about z, roll about x, pitch about y.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Attitude error to rate, 1/s.
        public var attitudeGain = AxisVector(repeating: 73)
        /// Rate error to acceleration, 1/s.
        public var rateGain = AxisVector(repeating: 162)
        /// Integrated rate error to acceleration, 1/s².
        public var rateIntegralGain = AxisVector(repeating: 7760)
        /// Angular acceleration to acceleration, 1.
        public var rateDerivativeGain = AxisVector(repeating: 0.455)
        /// Corner of the derivative's low-pass, Hz.
        public var derivativeCutoffHz = 80.0
        /// Inertia of camera and carried parts about the camera's axes, kg·m²; where the search for it starts, if
        /// `findsInertia`.
        public var inertia = AxisVector(repeating: 2.5e-3)
        /// Whether the inertia is looked for by a small probe whenever the outputs come on; without it `inertia` is taken
        /// as true.
        public var findsInertia = false
        /// Whether a given `inertia` is checked by the same probe, and left where the probe finds another camera.
        public var checksInertia = false
        /// Whether gains go down, and the inertia is looked for again, where the motors make the camera oscillate.
        public var watchesOscillation = true
        /// Largest torque of each motor, N·m.
        public var torqueLimit = AxisVector(repeating: 0.25)
        /// Largest rate that an attitude error may command, rad/s.
        public var maxRate = 2 * Double.pi
        /// Deceleration that a large attitude error plans with, rad/s².
        public var maxAcceleration = 40.0
        /// Share of the commanded rate and acceleration that is fed forward, 0...1.
        public var feedForward = 1.0
        /// From the camera's motion to the torque that answers it, s: sensor filter, bus, actuator.
        public var loopDelay = 0.0035
        /// How far the attitude that the controller is given looks ahead of the sensor, s.
        public var attitudeLead = 0.003
        /// How fast the joints' friction is learned for its compensation, 1/s; 0 = no compensation.
        public var frictionLearningRate = 0.5
        /// Largest friction that is compensated, N·m; never more than half of a motor's torque.
        public var frictionLimit = 0.1
        /// Largest noise of the feedback above 50 Hz, RMS, as a share of each motor's torque limit, 0...1: an axis with more becomes less
        /// stiff; 0 = no bound.
        public var noiseLimit = 0.03

        /// The defaults: for the default plant with 3.5 ms of delay the smallest answer to a push that leaves 6 dB and
        /// 45°, which `LoopMargins` computes.
        public init() {}
    }
}
