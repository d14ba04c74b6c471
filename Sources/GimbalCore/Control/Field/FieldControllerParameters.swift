extension FieldController {
    /// Tuning of the controller of motors without encoders. The values of attitude gain, rate gain
    /// and inertia apply to the camera's own axes.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Number of pole pairs of each rotor.
        public var polePairs = 7.0
        /// Power of the motors without load, as a fraction of the power stage's maximum, 0...1. The
        /// controller uses less for a light camera (see `FieldPower`).
        public var power = 0.5
        /// Largest power of a motor under load, as a fraction of the power stage's maximum, 0...1.
        public var maxPower = 1.0
        /// Torque of each motor at full power and 90 electrical degrees, N·m.
        public var peakTorque = AxisVector(repeating: 0.25)
        /// Inertia of the camera and the parts that turn with it, about the camera's axes, kg·m².
        /// If `probesInertia` is set, this value is the initial estimate.
        public var inertia = AxisVector(repeating: 2.5e-3)
        /// True if a tremor of the camera measures the inertia and the loop delay when the motors
        /// are switched on for the first time.
        public var probesInertia = true
        /// True if the controller reduces the assumed inertia, and thus the gains, after an
        /// oscillation.
        public var watchesOscillation = true
        /// Gain from attitude error to commanded rate, about the camera's axes, 1/s.
        public var attitudeGain = AxisVector(repeating: 30)
        /// Gain from rate error to commanded acceleration, about the camera's axes, 1/s.
        public var rateGain = AxisVector(repeating: 110)
        /// Natural frequency of the rotors' observers, rad/s. With a higher natural frequency,
        /// unmodelled loads are compensated faster.
        public var observerBandwidth = AxisVector(repeating: 100)
        /// Largest rate that an attitude error can command, rad/s.
        public var maxRate = 2 * Double.pi
        /// Deceleration, rad/s², that limits the commanded rate at large attitude errors (see
        /// `RateCommand`).
        public var maxAcceleration = 15.0
        /// Loop delay from the camera's motion to the responding torque, s: sensor filter, bus,
        /// power stage.
        public var loopDelay = 0.0035
        /// Largest load angle between field and rotor, electrical rad. A rotor slips at 90°.
        public var loadLimit = 65 * Double.pi / 180

        /// Default parameters of the controller, tuned for the simulation's default gimbal.
        public init() {}

        /// Factor that adapts all corner frequencies to a loop with the given delay, s, 0...1.
        @_noLocks
        func stretch(to delay: Double) -> Double { min(loopDelay / max(delay, 1e-4), 1) }

        /// Copy of this tuning for a loop with the given delay, s. If the delay is longer than
        /// `loopDelay`, the gains are reduced; a shorter delay does not change the gains.
        @_noLocks
        public func stretched(to delay: Double) -> Parameters {
            var result = self
            let stretch = self.stretch(to: delay)
            result.attitudeGain = attitudeGain * stretch
            result.rateGain = rateGain * stretch
            result.observerBandwidth = observerBandwidth * stretch
            result.loopDelay = delay
            return result
        }

        /// Copy of this tuning with every corner frequency multiplied by `bandwidthFactor`, 0...1.
        @_noLocks
        func narrowed(_ bandwidthFactor: Double) -> Parameters {
            var result = self
            result.attitudeGain = attitudeGain * bandwidthFactor
            result.rateGain = rateGain * bandwidthFactor
            result.observerBandwidth = observerBandwidth * bandwidthFactor
            return result
        }
    }
}
