internal import CMathShim

/// Demodulator of two signals at one frequency: the torque impulse and the change of the camera's
/// rate.
struct Demodulator: Sendable, BitwiseCopyable {
    private var impulseCosine = 0.0
    private var impulseSine = 0.0
    private var changeCosine = 0.0
    private var changeSine = 0.0

    init() {}

    mutating func add(impulse: Double, change: Double, weight: Double, angle: Double) {
        let circle = cm_sincos(angle)
        let cosine = weight * circle.cos
        let sine = weight * circle.sin
        impulseCosine += impulse * cosine
        impulseSine += impulse * sine
        changeCosine += change * cosine
        changeSine += change * sine
    }

    var changeNorm: Double {
        cm_sqrt(
            changeCosine * changeCosine + changeSine * changeSine)
    }

    /// Cosine and sine parts of the torque impulse, N·m·s, delayed by the phase `lag`, rad.
    private func delayed(_ lag: Double) -> (cosine: Double, sine: Double) {
        let c = cm_cos(lag)
        let s = cm_sin(lag)
        return (impulseCosine * c - impulseSine * s, impulseSine * c + impulseCosine * s)
    }

    /// Complex ratio of the torque impulse, delayed by the phase `lag`, rad, to the change of the
    /// camera's rate, kg·m². The part `inQuadrature` leads the part `inPhase` by 90°.
    func ratio(lag: Double) -> (inPhase: Double, inQuadrature: Double) {
        let square = changeNorm * changeNorm
        guard square > 0 else { return (0, 0) }
        let m = delayed(lag)
        return (
            (m.cosine * changeCosine + m.sine * changeSine) / square,
            (m.cosine * changeSine - m.sine * changeCosine) / square
        )
    }

    /// Squared residual of the torque impulse, (N·m·s)²: the torque impulse minus inertia times the
    /// change of the camera's rate.
    func residual(inertia: Double, lag: Double) -> Double {
        let m = delayed(lag)
        let c = inertia * changeCosine - m.cosine
        let s = inertia * changeSine - m.sine
        return c * c + s * s
    }
}
