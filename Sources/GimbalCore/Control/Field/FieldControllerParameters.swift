extension FieldController {
    /// What the user tunes. Axis values of gains and inertia act about the camera's own axes.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Pairs of magnet poles on the rotors.
        public var polePairs = 7.0
        /// Power with which the motors hold, 0...1 of what the stage can give.
        public var power = 0.5
        /// Power to which a load may raise it, 0...1.
        public var maxPower = 1.0
        /// Torque of each motor at full power and 90 electrical degrees, N·m.
        public var peakTorque = AxisVector(repeating: 0.25)
        /// Inertia of camera and carried parts about the camera's axes, kg·m²: a first belief when
        /// it is probed.
        public var inertia = AxisVector(repeating: 2.5e-3)
        /// Whether the inertia is found by a small swing when the motors come on for the first
        /// time.
        public var probesInertia = true
        /// Lowers the believed inertia, and with it the gains, where the motors make the camera
        /// oscillate.
        public var watchesOscillation = true
        /// Attitude error to rate, about the camera's axes, 1/s.
        public var attitudeGain = AxisVector(repeating: 30)
        /// Rate error to acceleration, about the camera's axes, 1/s.
        public var rateGain = AxisVector(repeating: 110)
        /// Natural frequency of the rotors' observers, rad/s: how fast a load that nobody modelled
        /// is taken out.
        public var observerBandwidth = AxisVector(repeating: 100)
        /// Largest rate that an attitude error may command, rad/s.
        public var maxRate = 2 * Double.pi
        /// Deceleration that a large attitude error plans with, rad/s².
        public var maxAcceleration = 15.0
        /// From the camera's motion to the torque that answers it, s: sensor filter, bus, power
        /// stage.
        public var loopDelay = 0.0035
        /// How far the attitude that the controller is given looks ahead of its sample, s.
        public var attitudeLead = 0.003
        /// Largest load angle that the field leads the rotor by, electrical rad: below the 90° of
        /// pull-out.
        public var loadLimit = 65 * Double.pi / 180

        /// The defaults, tuned for the default plant.
        public init() {}

        /// The same tuning for a loop of another delay, s: a slower loop is slower in everything; a
        /// faster one keeps what was tuned.
        public func stretched(to delay: Double) -> Parameters {
            var result = self
            let stretch = min(loopDelay / max(delay, 1e-4), 1)
            result.attitudeGain = attitudeGain * stretch
            result.rateGain = rateGain * stretch
            result.observerBandwidth = observerBandwidth * stretch
            result.loopDelay = delay
            return result
        }

        /// The same tuning with every corner at this share, 0...1.
        @_noLocks
        func slackened(_ slack: Double) -> Parameters {
            var result = self
            result.attitudeGain = attitudeGain * slack
            result.rateGain = rateGain * slack
            result.observerBandwidth = observerBandwidth * slack
            return result
        }
    }
}
