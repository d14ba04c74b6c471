internal import CMathShim

/// One measurement with a probe. Torque impulses and changes of the camera's rate are demodulated
/// with a Hann window, at the probe's frequency and at two neighbouring frequencies. The
/// disturbances are estimated from the neighbouring frequencies, which have no excitation.
struct ProbeBlock: Sendable, BitwiseCopyable {
    /// Duration of the measurement, s.
    let length: Double
    /// Time since the beginning of the measurement, s.
    private(set) var time = 0.0
    private var periods = 0
    private var centre = Demodulator()
    private var below = Demodulator()
    private var above = Demodulator()

    @_noLocks
    init(length: Double) { self.length = length }

    /// True if the measurement is complete.
    var isComplete: Bool { @_noLocks get { time >= length } }
    /// Mean control period during the measurement, s.
    var period: Double { @_noLocks get { time / Double(periods) } }
    /// Weight of the current control period in the measurement, 0...1.
    var window: Double { @_noLocks get { 0.5 - 0.5 * cm_cos(2 * .pi * time / length) } }
    /// Magnitude of the demodulated changes of the rate, rad/s.
    var changeNorm: Double { @_noLocks get { centre.changeNorm } }

    /// Adds the signals of one control period.
    ///
    /// - Parameters:
    ///   - impulse: Torque impulse of the previous period (torque times length of the period),
    ///     N·m·s.
    ///   - change: Change of the rate since the previous period, rad/s.
    ///   - frequency: Frequency of the probe, Hz.
    ///   - dt: Duration of the period, s.
    @_noLocks
    mutating func add(impulse: Double, change: Double, frequency: Double, dt: Double) {
        let (window, spacing) = (window, 2 / length)
        centre.add(
            impulse: impulse, change: change, weight: window,
            angle: 2 * .pi * frequency * time)
        below.add(
            impulse: impulse, change: change, weight: window,
            angle: 2 * .pi * (frequency - spacing) * time)
        above.add(
            impulse: impulse, change: change, weight: window,
            angle: 2 * .pi * (frequency + spacing) * time)
        time += dt
        periods += 1
    }

    /// Complex ratio of the torque impulse, delayed by the phase `lag`, rad, to the change of the
    /// rate, kg·m². The part `inQuadrature` leads the part `inPhase` by 90°.
    func ratio(lag: Double) -> (inPhase: Double, inQuadrature: Double) { centre.ratio(lag: lag) }

    /// Magnitude of the disturbance at the probe's frequency, as an impulse, N·m·s. The disturbance
    /// is computed from the motion at the neighbouring frequencies, after subtraction of the
    /// torque's effect.
    func noise(inertia: Double, lag: Double, omega: Double) -> Double {
        let spacing = 4 * Double.pi / length
        return cm_sqrt(
            (below.residual(inertia: inertia, lag: lag * (omega - spacing))
                + above.residual(inertia: inertia, lag: lag * (omega + spacing))) / 4)
    }
}
