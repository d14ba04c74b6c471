/// A PID rate controller for one axis. The derivative acts on the measured rate. The output is a
/// torque: a commanded acceleration times the inertia.
///
/// The control law is `torque = inertia * (kp * e + ∫ ki * e dt - kd * d(rate)/dt)`.
/// Because of the factor `inertia`, a phone and a heavy camera can have the same gains. The error
/// is multiplied by `ki` before it is integrated, so a change of `ki` does not cause a jump of the
/// output.
public struct PIDController: Sendable, BitwiseCopyable {
    /// Tuning of the controller.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Gain from rate error to commanded acceleration, 1/s.
        public var kp: Double = 120
        /// Gain from integrated rate error to commanded acceleration, 1/s².
        public var ki: Double = 1200
        /// Gain from measured to commanded angular acceleration, dimensionless.
        public var kd: Double = 0
        /// Corner frequency of the derivative's first-order low-pass, Hz.
        public var derivativeCutoffHz: Double = 80
        /// Inertia of the load, kg·m².
        public var inertia: Double = 2.5e-3
        /// Limit of the controller's output, N·m.
        public var limit: Double = 0.25

        /// Creates the default values.
        @_noLocks
        public init() {}
    }

    /// State of the controller between two steps.
    struct State: Sendable, BitwiseCopyable {
        var integral = 0.0
        var previousRate = 0.0
        var filteredDerivative = 0.0
        var hasPrevious = false
    }

    /// Coefficients derived from the parameters and the sample period.
    struct Coefficients: Sendable, BitwiseCopyable {
        var dt = 0.0
        /// Weight of a new derivative sample in the filtered derivative.
        var derivativeShare = 0.0
        /// Fraction of the excess torque that one step removes from the integral.
        var windupShare = 0.0

        init() {}

        init(_ parameters: Parameters, dt: Double) {
            self.dt = dt
            let corner = 2 * Double.pi * parameters.derivativeCutoffHz * dt
            derivativeShare = corner / (1 + corner)
            // The anti-windup has the time constant of the proportional path. A faster anti-windup
            // would lose the integrated load during every short saturation. With a slower
            // anti-windup, the output would overshoot after a long saturation.
            windupShare = min(parameters.kp * dt, 1)
        }
    }

    /// Tuning of the controller. A change of a gain or of the inertia does not change the
    /// integrated torque.
    public var parameters: Parameters {
        @_noLocks get { tuning }
        @_noLocks set {
            if newValue.inertia > 0, tuning.inertia > 0 {
                state.integral *= tuning.inertia / newValue.inertia
            }
            tuning = newValue
            coefficients = Coefficients(newValue, dt: coefficients.dt)
        }
    }
    private var tuning: Parameters
    var state = State()
    var coefficients = Coefficients()

    /// Creates a controller at rest.
    public init(parameters: Parameters = Parameters()) { tuning = parameters }

    /// Torque of the integral term, N·m.
    @inlinable
    public var integralTorque: Double { integral * parameters.inertia }

    @usableFromInline var integral: Double { state.integral }

    /// Computes the torque of one control period before any limit. The caller limits the torque to
    /// the actuator's range, then calls `unwind`.
    ///
    /// - Parameters:
    ///   - error: Commanded minus measured rate, rad/s. All arguments must be finite.
    ///   - rate: Measured rate, rad/s, from which the derivative is computed.
    ///   - dt: Seconds since the previous call, more than 0, at most 0.1.
    ///   - integrate: Fraction of the error that is integrated, 0...1.
    /// - Returns: Torque, N·m.
    ///
    /// Runs on the loop thread only, in constant time.
    @_noLocks @_noAllocation
    mutating func demand(error: Double, rate: Double, dt: Double, integrate: Double) -> Double {
        if dt != coefficients.dt { coefficients = Coefficients(parameters, dt: dt) }
        if state.hasPrevious {
            let derivative = (rate - state.previousRate) / dt
            state.filteredDerivative +=
                coefficients.derivativeShare * (derivative - state.filteredDerivative)
        }
        state.previousRate = rate
        state.hasPrevious = true
        state.integral += parameters.ki * error * dt * integrate
        return parameters.inertia
            * (parameters.kp * error + state.integral - parameters.kd * state.filteredDerivative)
    }

    /// Anti-windup by back-calculation: corrects the integral if the actuator could not exert the
    /// demanded torque.
    ///
    /// The integral decreases until the demanded torque is at the limit. The torque of the integral
    /// alone never exceeds the limit of the actuator.
    ///
    /// - Parameter excess: Demanded minus applied torque, N·m.
    @_noLocks @_noAllocation
    mutating func unwind(excess: Double) {
        guard excess != 0, parameters.inertia > 0 else { return }
        state.integral -= coefficients.windupShare * excess / parameters.inertia
        let bound = parameters.limit / parameters.inertia
        state.integral = min(max(state.integral, -bound), bound)
    }

    /// Subtracts `torque`, N·m, from the integral. From now on, another component compensates this
    /// torque.
    @_noLocks @_noAllocation
    mutating func release(_ torque: Double) {
        if parameters.inertia > 0 { state.integral -= torque / parameters.inertia }
    }

    /// Sets the integral to the load `torque`, N·m.
    @_noLocks @_noAllocation
    mutating func hold(_ torque: Double) {
        if parameters.inertia > 0 { state.integral = torque / parameters.inertia }
    }

    /// Resets the integral to zero after the actuator was off. The derivative's history does not
    /// change.
    @_noLocks @_noAllocation
    mutating func clearIntegral() { state.integral = 0 }

    /// Resets the integral and the derivative's history.
    @_noLocks @_noAllocation
    public mutating func reset() { state = State() }
}
