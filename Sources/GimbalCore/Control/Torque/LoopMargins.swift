internal import CMathShim

/// Stability margins of the attitude loop of one axis, modelled as a free inertia and a delay.
///
/// The loop is cut at the motor. The open loop has the response `L(s) = C(s) / s² * e^(-s delay)`,
/// where C is the sum of the controller's attitude and rate paths. The model excludes friction and
/// cables, which add damping. The loop thread must not use this type, because it sweeps
/// frequencies.
public struct LoopMargins: Sendable, Equatable {
    /// Crossover frequency, rad/s: the lowest frequency at which the gain of the open loop falls
    /// below 1.
    public let crossover: Double
    /// Phase margin, degrees: the smallest angle between the open loop and -1 at all frequencies
    /// where its gain is 1. The value is negative if the loop is unstable.
    public let phaseDegrees: Double
    /// Upper gain margin, dB: the largest gain increase at which the loop is still stable.
    public let increaseDecibels: Double
    /// Lower gain margin, dB: the largest gain decrease at which the loop is still stable. At a
    /// lower gain, the integral makes the loop unstable.
    public let decreaseDecibels: Double

    /// True if the loop meets the usual requirements: both gain margins are at least 6 dB, and the
    /// phase margin is at least 45°.
    public var areHealthy: Bool {
        increaseDecibels >= Self.healthyDecibels && decreaseDecibels >= Self.healthyDecibels
            && phaseDegrees >= Self.healthyDegrees
    }

    /// Smallest gain margin of a healthy loop, dB: a usual requirement.
    public static let healthyDecibels = 6.0
    /// Smallest phase margin of a healthy loop, degrees: a usual requirement.
    public static let healthyDegrees = 45.0
    /// Number of frequencies of the sweep, less one: neighbours differ by 0.2 %.
    private static let frequencies = 4000
    /// Natural logarithm of the sweep's highest frequency, rad/s: 3000 rad/s. The lowest frequency
    /// is 1 rad/s.
    private static let highestFrequency = 8.006
    /// Sample period of the derivative at the usual loop rate of 1 kHz, s.
    private static let usualPeriod = 0.001

    /// Properties of the loop in addition to the gains of the attitude and rate controllers.
    public struct Shape: Sendable {
        /// Look-ahead of the attitude relative to the rate, s.
        public var attitudeLead = 0.0
        /// Delay that the lag compensator is designed for, s; 0 means no compensator.
        public var compensatedDelay = 0.0
        /// Stiffness reduction of the axis, 0...1 (see `MotorNoise`).
        public var softening = 0.0
        /// Sample period of the derivative, s; 0 means a continuous derivative.
        public var period = 0.0
        /// Filter of the measured rate.
        public var filter = RateFilter.Axis()

        /// Creates the shape of a loop that consists only of gains, inertia and delay.
        public init() {}
    }

    /// Computes the margins of one axis.
    ///
    /// - Parameters:
    ///   - attitudeGain: Gain from attitude error to commanded rate, 1/s.
    ///   - rate: Parameters of the rate controller, including its assumed inertia.
    ///   - inertia: True inertia, kg·m².
    ///   - delay: Time from motion to torque, s, including half a control period for the
    ///     zero-order hold of the output.
    ///   - shape: Properties of the loop in addition to the gains.
    public init(
        attitudeGain: Double, rate: PIDController.Parameters, inertia: Double, delay: Double,
        shape: Shape = Shape()
    ) {
        self.init { omega in
            let loop = LoopMargins.response(
                omega: omega, attitudeGain: attitudeGain, rate: rate, delay: delay, shape: shape)
            return (loop.gain * rate.inertia / inertia, loop.phase)
        }
    }

    /// Computes the margins of an open loop from its frequency response.
    ///
    /// - Parameter response: Function that returns gain and phase (rad, -π...π) at a frequency,
    ///   rad/s.
    init(of response: (Double) -> (gain: Double, phase: Double)) {
        var lastGain = 0.0
        var lastPhase = 0.0
        var previousRaw = 0.0
        var phase = 0.0
        var crossover = 0.0
        var margin = 180.0
        var increase = Double.infinity
        var decrease = Double.infinity
        // Nyquist criterion: the loop is stable only if the crossings of -180° at gains above 1
        // cancel in pairs. A crossing of -540° would be a further encirclement.
        let levels = [-Double.pi, -3 * .pi]
        var encircled = 0
        var highest = -Double.infinity
        var lowest = Double.infinity
        var i = 0
        while i <= Self.frequencies {
            // The frequencies are logarithmically spaced.
            let omega = cm_exp(Double(i) / Double(Self.frequencies) * Self.highestFrequency)
            let loop = response(omega)
            let gain = loop.gain
            if i == 0 {
                // At low frequency, the loop is a triple integrator with a phase of -270°; `atan2`
                // returns +90°.
                phase = loop.phase > 0 ? loop.phase - 2 * .pi : loop.phase
                if phase <= -.pi { encircled = 1 }
            } else {
                var change = loop.phase - previousRaw
                if change > .pi { change -= 2 * .pi }
                if change < -.pi { change += 2 * .pi }
                phase += change
                if lastGain > 1, gain <= 1, crossover == 0 { crossover = omega }
                if (lastGain > 1) != (gain > 1) {
                    let turns = (phase + .pi) / (2 * .pi)
                    let distance = abs(turns - cm_floor(turns + 0.5)) * 360
                    margin = min(margin, distance)
                }
                let decibels = 20 * cm_log(gain) / cm_log(10)
                for level in levels where (lastPhase > level) != (phase > level) {
                    let falls = phase <= level
                    if gain > 1 {
                        encircled += falls ? 1 : -1
                        decrease = min(decrease, decibels)
                    } else {
                        increase = min(increase, -decibels)
                    }
                    // For an unstable loop, the gains at the crossings of -180° determine the gain
                    // change that would stabilise the loop.
                    if falls {
                        highest = max(highest, decibels)
                    } else {
                        lowest = min(lowest, decibels)
                    }
                }
            }
            previousRaw = loop.phase
            lastGain = gain
            lastPhase = phase
            i += 1
        }
        self.crossover = crossover
        let isStable = encircled == 0
        phaseDegrees = isStable ? margin : -margin
        increaseDecibels = isStable ? increase : -highest
        decreaseDecibels = isStable ? decrease : lowest
    }

    /// Computes the margins of one axis of a complete controller, with the controller's assumed
    /// inertia and delay.
    ///
    /// - Parameters:
    ///   - controller: Parameters of the attitude controller.
    ///   - axis: Axis of the camera.
    ///   - lead: Look-ahead of the attitude relative to the rate, s.
    ///   - filter: Filter of the measured rate.
    public init(
        of controller: AttitudeController.Parameters, axis: GimbalAxis, lead: Double,
        filter: RateFilter.Axis = RateFilter.Axis()
    ) {
        self.init(
            of: controller, axis: axis, inertia: controller.inertia[axis],
            delay: controller.loopDelay, lead: lead, filter: filter)
    }

    /// Computes the margins of one axis of a complete controller.
    ///
    /// - Parameters:
    ///   - controller: Parameters of the attitude controller.
    ///   - axis: Axis of the camera.
    ///   - inertia: True inertia, kg·m².
    ///   - delay: Time from motion to torque, s, including half a control period for the
    ///     zero-order hold of the output.
    ///   - lead: Look-ahead of the attitude relative to the rate, s.
    ///   - filter: Filter of the measured rate.
    public init(
        of controller: AttitudeController.Parameters, axis: GimbalAxis,
        inertia: Double, delay: Double, lead: Double,
        filter: RateFilter.Axis = RateFilter.Axis()
    ) {
        var shape = LoopMargins.shape(of: controller, lead: lead)
        shape.filter = filter
        self.init(
            attitudeGain: controller.attitudeGain[axis],
            rate: LoopMargins.rate(of: controller, axis: axis), inertia: inertia, delay: delay,
            shape: shape)
    }

    /// Open-loop gain and phase (rad, -π...π) of one axis of a complete controller, with the
    /// assumed inertia and delay.
    ///
    /// - Parameters:
    ///   - controller: Parameters of the attitude controller.
    ///   - axis: Axis of the camera.
    ///   - omega: Frequency, rad/s.
    ///   - lead: Look-ahead of the attitude relative to the rate, s.
    ///   - filter: Filter of the measured rate.
    /// - Returns: Gain and phase, including the phase of the delay.
    public static func response(
        of controller: AttitudeController.Parameters, axis: GimbalAxis, omega: Double,
        lead: Double, filter: RateFilter.Axis = RateFilter.Axis()
    ) -> (gain: Double, phase: Double) {
        var shape = LoopMargins.shape(of: controller, lead: lead)
        shape.filter = filter
        return response(
            omega: omega, attitudeGain: controller.attitudeGain[axis],
            rate: rate(of: controller, axis: axis), delay: controller.loopDelay, shape: shape)
    }

    private static func shape(
        of controller: AttitudeController.Parameters, lead: Double
    ) -> Shape {
        var shape = Shape()
        shape.attitudeLead = lead
        shape.compensatedDelay = controller.loopDelay
        shape.period = usualPeriod
        return shape
    }

    private static func rate(
        of controller: AttitudeController.Parameters, axis: GimbalAxis
    ) -> PIDController.Parameters {
        var rate = PIDController.Parameters()
        rate.kp = controller.rateGain[axis]
        rate.ki = controller.rateIntegralGain[axis]
        rate.kd = controller.rateDerivativeGain[axis]
        rate.derivativeCutoffHz = controller.derivativeCutoffHz
        rate.inertia = controller.inertia[axis]
        return rate
    }

    /// Gain and phase (rad, -π...π) of the open loop with the assumed inertia.
    static func response(
        omega: Double, attitudeGain: Double, rate: PIDController.Parameters, delay: Double,
        shape: Shape
    ) -> (gain: Double, phase: Double) {
        // Attitude and rate path: (kp + ki / s) (s filter + ka (1 + lead s)), with s = jω.
        let s = Complex(0, omega)
        let filter = shape.filter.response(omega: omega)
        let angle = Complex(attitudeGain, omega * attitudeGain * shape.attitudeLead)
        let path = (Complex(rate.kp) + Complex(rate.ki) / s) * (s * filter + angle)
        // Derivative path: kd s² / (1 + s / corner); the derivative is the difference of two
        // samples.
        let corner = cm_atan2(omega, 2 * .pi * rate.derivativeCutoffHz)
        let turned = .pi - corner - omega * shape.period / 2
        let damping =
            Complex(phase: turned) * filter * (rate.kd * omega * omega * cm_cos(corner))
        let (real, imaginary) = (path.real + damping.real, path.imaginary + damping.imaginary)
        // The double integration 1 / s² changes the sign.
        let lead = LagCompensator.response(
            omega: omega, delay: shape.compensatedDelay, softening: shape.softening)
        let gain =
            lead.gain * cm_sqrt(real * real + imaginary * imaginary) / (omega * omega)
        let raw = cm_atan2(-imaginary, -real) + lead.phase - omega * delay
        let turns = cm_floor(raw / (2 * .pi) + 0.5)
        return (gain, raw - turns * 2 * .pi)
    }
}
