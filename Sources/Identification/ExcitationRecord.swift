import CMathShim
public import GimbalCore

/// Record of one axis during the excitation: one value for each tick, beginning at the start of a
/// period.
public struct ExcitationRecord: Sendable {
    /// The excited axis.
    public let axis: GimbalAxis
    /// Number of ticks in one period of the excitation.
    public let periodTicks: Int
    /// Excitation of the axis: moment on the camera about the axis, N·m, or command of a servo,
    /// rad.
    public private(set) var inputs: [Double] = []
    /// Rate of the camera about the axis, rad/s.
    public private(set) var rates: [Double] = []
    /// Angle of the joint, rad.
    private(set) var joints: [Double] = []
    /// Rate of the joint, rad/s, computed from the gyroscope under the assumption that the handle
    /// is at rest; empty without encoders.
    private(set) var turns: [Double] = []
    /// Part of the loop delay that a sensor slower than the loop causes, s; see
    /// `StabilizerSnapshot.sampleWait`.
    public var sampleWait = 0.0

    /// Creates an empty record.
    public init(axis: GimbalAxis, periodTicks: Int) {
        self.axis = axis
        self.periodTicks = periodTicks
    }

    /// Adds the values of the newest tick.
    ///
    /// - Parameters:
    ///   - input: Excitation of the axis, N·m, or rad for a servo.
    ///   - rate: The camera's rate about the axis, rad/s.
    ///   - joint: Angle of the axis's joint, rad.
    ///   - turn: Rate of the joint, computed from the gyroscope, rad/s; nil without encoders.
    public mutating func append(input: Double, rate: Double, joint: Double, turn: Double? = nil) {
        inputs.append(input)
        rates.append(rate)
        joints.append(joint)
        if let turn { turns.append(turn) }
    }

    /// Number of complete periods so far.
    public var periods: Int { inputs.count / periodTicks }

    /// Root mean square of the rate, rad/s.
    public var rateRMS: Double {
        let mean = rates.reduce(0, +) / Double(max(rates.count, 1))
        let sum = rates.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        return cm_sqrt(sum / Double(max(rates.count, 1)))
    }

    /// Compute the response from input to rate at the excited frequencies.
    ///
    /// Input and response are projected on the excitation, which is the same in every period. The
    /// feedback's response to noise therefore cancels (Ljung: System Identification, 1999, section
    /// 13.5, indirect method). The coherence is computed from the scatter of the response between
    /// the periods.
    ///
    /// - Parameter tickRate: Ticks per second, Hz.
    /// - Returns: Response at the spectral lines below one fifth of the tick rate; empty if there
    ///   are fewer than two complete periods.
    public func response(tickRate: Double) -> [ResponsePoint] {
        guard periods >= 2 else { return [] }
        return (0..<Excitation.lineCount).compactMap { line in
            let harmonic = Excitation.harmonic(line)
            guard Double(harmonic) < 0.2 * Double(periodTicks) else { return nil }
            var (input, rate) = (Complex(0), Complex(0))
            var power = 0.0
            for period in 0..<periods {
                let u = coefficient(inputs, harmonic, period)
                let y = coefficient(rates, harmonic, period)
                input = input + u
                rate = rate + y
                power += y.squaredMagnitude
            }
            let coherence = rate.squaredMagnitude / (Double(periods) * max(power, 1e-300))
            let omega = 2 * .pi * Double(harmonic) * tickRate / Double(periodTicks)
            return ResponsePoint(
                omega: omega, response: rate / input, coherence: coherence, periods: periods)
        }
    }

    /// Fourier coefficient of the values at a harmonic of the excitation, in one period.
    func coefficient(_ values: [Double], _ harmonic: Int, _ period: Int) -> Complex {
        let step = Complex(phase: -2 * .pi * Double(harmonic) / Double(periodTicks))
        var turn = Complex(1)
        var sum = Complex(0)
        for index in period * periodTicks..<(period + 1) * periodTicks {
            sum = sum + turn * values[index]
            turn = turn * step
        }
        return sum
    }

    /// Estimate the Coulomb and viscous friction of the joint: the part of the recorded moment that
    /// does not accelerate the inertia.
    ///
    /// - Parameters:
    ///   - model: Identified inertia and delay.
    ///   - tickRate: Ticks per second, Hz.
    /// - Returns: Coulomb friction, N·m, and viscous friction, N·m·s/rad; not negative.
    public func friction(
        model: PlantModel, tickRate: Double
    ) -> (coulomb: Double, viscous: Double) {
        let c = Biquad.Coefficients.lowPass(hz: 25, order: 2, sampleRate: tickRate)
        let rate = Self.filtered(rates, c)
        let joint = Self.filtered(joints, c)
        let moment = Self.filtered(inputs, c)
        let shift = Int((model.delay * tickRate).rounded())
        var equations = NormalEquations()
        // The delay is negative if the response is faster than the assumed delay.
        let end = rate.count - 1 + min(shift, 0)
        for n in stride(from: max(shift, 200) + 1, to: end, by: 3) {
            let acceleration = (rate[n + 1] - rate[n - 1]) * tickRate / 2
            let speed = (joint[n + 1] - joint[n - 1]) * tickRate / 2
            // Below 0.05 rad/s the bearing can stick, and the sample is not used.
            guard abs(speed) > 0.05 else { continue }
            equations.add(
                [speed > 0 ? 1 : -1, speed, 1],
                moment[n - shift] - model.inertia * acceleration, weight: 1)
        }
        // Over a narrow range of speeds, Coulomb friction and viscous friction cannot be
        // distinguished. The equations therefore contain a prior: the viscous friction of bearings
        // is at most 0.01 N·m·s/rad.
        equations.add([0, 1, 0], 0, weight: 500)
        guard let x = equations.solution else { return (.nan, .nan) }
        return (max(x[0], 0), max(x[1], 0))
    }

    private static func filtered(_ values: [Double], _ c: Biquad.Coefficients) -> [Double] {
        var filter = Biquad.Runner(c, from: values.first ?? 0)
        return values.map { filter.step($0) }
    }
}
