internal import CMathShim

/// Partially compensates the lag of the sensor filter and of the current loop. The compensator has
/// two zeros, two poles at slightly higher frequencies, and a gain of 1 at zero frequency.
///
/// Compared with the PID alone, the response to a push is a fifth smaller at the same margins. The
/// disadvantage of the compensator is more gyroscope noise in the torque. The corner frequencies
/// are inversely proportional to the loop delay, so the loop keeps its shape. The filter is
/// discretised by the bilinear transform, prewarped at each corner frequency.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct LagCompensator: Sendable, BitwiseCopyable {
    /// Corner frequency of the filter's zeros times the loop delay, rad.
    static var zeroCorner: Double { @_noLocks get { 2.625 } }
    /// Damping ratio of the filter's zeros.
    static var zeroDamping: Double { @_noLocks get { 0.441 } }
    /// Corner frequency of the filter's poles times the loop delay, rad.
    static var poleCorner: Double { @_noLocks get { 4.536 } }
    /// Damping ratio of the filter's poles.
    static var poleDamping: Double { @_noLocks get { 0.593 } }

    /// Square root of the filter's largest gain at half the loop rate. If the control period is a
    /// large fraction of the delay, the corner frequencies are close to half the loop rate. Without
    /// a limit, the gain near half the loop rate would be too large.
    fileprivate static var largestLead: Double { @_noLocks get { 1.94 } }

    /// Shortest loop delay for which the filter has an effect, in control periods. At a loop rate of
    /// 400 Hz the delay is two periods; the value is below 2, so that the filter of this loop has an
    /// effect although the period varies.
    fileprivate static var leastPeriods: Double { @_noLocks get { 1.9 } }
    /// Smallest initial value of the mean control period, s: the period of the fastest loop.
    private static var shortestPeriod: Double { @_noLocks get { 1.0 / 4000 } }
    /// Time constant of the mean control period, s.
    private static var memory: Double { @_noLocks get { 0.25 } }
    /// Relative difference between the mean control period and `period` at which the coefficients
    /// are computed again. No thread wakes exactly on time, but its mean period is constant.
    private static var tolerance: Double { @_noLocks get { 0.05 } }

    /// Corner (corner frequency times loop delay, rad) and damping ratio of the filter's poles. The
    /// poles approach the zeros as the stiffness reduction `softening` (0...1, see `MotorNoise`)
    /// increases.
    @_noLocks
    fileprivate static func poles(softening: Double) -> (corner: Double, damping: Double) {
        (
            poleCorner * cm_exp(softening * cm_log(zeroCorner / poleCorner)),
            poleDamping * cm_exp(softening * cm_log(zeroDamping / poleDamping))
        )
    }

    /// Gain and phase (rad) of the compensator at the frequency `omega`, rad/s, for a loop delay,
    /// s, and a stiffness reduction `softening`, 0...1. With a delay of zero, the gain is 1. The
    /// loop thread must not call this function.
    static func response(
        omega: Double, delay: Double, softening: Double = 0
    ) -> (gain: Double, phase: Double) {
        let poles = poles(softening: softening)
        let zero = omega * delay / zeroCorner
        let pole = omega * delay / poles.corner
        let above = (real: 1 - zero * zero, imaginary: 2 * zeroDamping * zero)
        let below = (real: 1 - pole * pole, imaginary: 2 * poles.damping * pole)
        let gain =
            cm_sqrt(above.real * above.real + above.imaginary * above.imaginary)
            / cm_sqrt(below.real * below.real + below.imaginary * below.imaginary)
        return (
            gain, cm_atan2(above.imaginary, above.real) - cm_atan2(below.imaginary, below.real)
        )
    }

    private var axes = PerAxis(Biquad.Coefficients())
    private var first = Vector3.zero
    private var second = Vector3.zero
    /// Control period, loop delay (s) and stiffness reduction of the coefficients.
    private var period = 0.0
    private var delay = 0.0
    private var softening = AxisVector.zero
    /// Mean control period, s; 0 before the first step.
    private var mean = 0.0

    /// Creates a compensator in the steady state for the input 0.
    @_noLocks
    init() {}

    /// True if the filter would have an effect with the loop delay `delay`, s.
    @_noLocks
    func suits(delay: Double) -> Bool {
        AttitudeController.isCompensated(delay: delay, period: period)
    }

    /// Filters one control period (transposed direct form II).
    ///
    /// - Parameters:
    ///   - moment: Input, camera frame, N·m.
    ///   - delay: Delay of the loop, s. If the delay is shorter than `leastPeriods` mean periods, the
    ///     filter has no effect.
    ///   - softening: Stiffness reduction about each camera axis, 0...1 (see `MotorNoise`).
    ///   - dt: Time since the previous step, s, more than 0.
    /// - Returns: Output of the filter, camera frame, N·m.
    @_noLocks @_noAllocation
    mutating func step(
        _ moment: Vector3, delay: Double, softening: AxisVector, dt: Double
    ) -> Vector3 {
        // A single late tick changes the mean only a little.
        let span = min(dt, 2 * mean)
        mean =
            mean > 0
            ? mean + (span - mean) * (span / (Self.memory + span)) : max(dt, Self.shortestPeriod)
        let isOutdated = abs(mean - period) > Self.tolerance * period
        if isOutdated { period = mean }
        if isOutdated || delay != self.delay || !(softening == self.softening) {
            adopt(delay, softening)
        }
        return Vector3(
            Self.step(moment.x, axes.roll, &first.x, &second.x),
            Self.step(moment.y, axes.pitch, &first.y, &second.y),
            Self.step(moment.z, axes.yaw, &first.z, &second.z))
    }

    private static func step(
        _ moment: Double, _ c: Biquad.Coefficients, _ first: inout Double, _ second: inout Double
    ) -> Double {
        let out = moment * c.b0 + first
        first = moment * c.b1 - out * c.a1 + second
        second = moment * c.b2 - out * c.a2
        return out
    }

    private mutating func adopt(_ delay: Double, _ softening: AxisVector) {
        self.delay = delay
        self.softening = softening
        let (period, isOn) = (period, suits(delay: delay))
        axes.change {
            $0 = isOn ? .init(delay: delay, dt: period, softening: softening[$1]) : .init()
        }
    }

    /// Resets the compensator to the steady state for the input 0.
    @_noLocks @_noAllocation
    mutating func reset() {
        first = .zero
        second = .zero
    }
}

extension AttitudeController {
    /// True if a loop with the given delay and control period, s, is fast enough for the lag
    /// compensator. A slower loop has lower gains.
    @_noLocks
    public static func isCompensated(delay: Double, period: Double) -> Bool {
        delay >= LagCompensator.leastPeriods * period
    }
}

extension Biquad.Coefficients {
    /// Largest half phase per period of a corner, rad. At π/2, the tangent of the substitution
    /// would be infinite.
    private static var steepest: Double { @_noLocks get { 1.3 } }

    /// Creates the coefficients for a loop's delay.
    ///
    /// - Parameters:
    ///   - delay: Delay of the loop, s.
    ///   - dt: Control period, s.
    ///   - softening: Stiffness reduction, 0...1 (see `MotorNoise`). If `softening` is 1, the poles
    ///     equal the zeros, so the compensator has no effect.
    @_noLocks
    init(delay: Double, dt: Double, softening: Double = 0) {
        self.init()
        guard delay > 0, dt > 0 else { return }
        // Numerator and denominator are s² / corner² + 2 damping s / corner + 1. The substitution s
        // / corner = (1 - z⁻¹) / (1 + z⁻¹) / tan(corner dt / 2) is exact at the corner.
        let zero = min(LagCompensator.zeroCorner / delay * dt / 2, Self.steepest)
        let poles = LagCompensator.poles(softening: softening)
        let pole = min(poles.corner / delay * dt / 2, Self.steepest)
        let zeroRate = cm_cos(zero) / cm_sin(zero)
        let poleRate = max(cm_cos(pole) / cm_sin(pole), zeroRate / LagCompensator.largestLead)
        let z2 = zeroRate * zeroRate
        let z1 = 2 * LagCompensator.zeroDamping * zeroRate
        let p2 = poleRate * poleRate
        let p1 = 2 * poles.damping * poleRate
        let a0 = p2 + p1 + 1
        b0 = (z2 + z1 + 1) / a0
        b1 = (2 - 2 * z2) / a0
        b2 = (z2 - z1 + 1) / a0
        a1 = (2 - 2 * p2) / a0
        a2 = (p2 - p1 + 1) / a0
    }
}
