public import GimbalCore

/// Gains for an axis of known inertia and delay.
///
/// The default tuning gives the smallest response to a push that 6 dB and 45° allow with a delay of
/// 3.5 ms. The delay is the only time constant of a loop of an inertia and a delay: with gains per
/// unit of inertia, scaled in time by the ratio of the delays, another axis has the same margins. A
/// slower loop compensates the phase that filters and other lags cost.
public struct GainDesign: Sendable, Equatable {
    /// Moment of inertia, kg·m².
    public var inertia: Double
    /// 1/s.
    public var attitudeGain: Double
    /// 1/s.
    public var rateGain: Double
    /// 1/s².
    public var rateIntegralGain: Double
    /// 1.
    public var rateDerivativeGain: Double
    /// Hz.
    public var derivativeCutoffHz: Double
    /// Margins of the gains.
    public var margins: LoopMargins

    /// Gains with 6 dB and 45°.
    ///
    /// - Parameters:
    ///   - inertia: kg·m².
    ///   - delay: From torque to rate, with half a period, s.
    ///   - filter: What the rate goes through.
    ///   - speed: Less than 1 is softer than the optimum.
    public init(
        inertia: Double, delay: Double, filter: RateFilter.Axis = RateFilter.Axis(),
        speed: Double = 1
    ) {
        let base = AttitudeController.Parameters()
        var factor = min(base.loopDelay / max(delay, 1e-4), 2.2) * speed
        self.inertia = inertia
        while true {
            attitudeGain = base.attitudeGain.pitch * factor
            rateGain = base.rateGain.pitch * factor
            rateIntegralGain = base.rateIntegralGain.pitch * factor * factor
            rateDerivativeGain = base.rateDerivativeGain.pitch
            derivativeCutoffHz = base.derivativeCutoffHz * factor
            var controller = base
            controller.attitudeGain.pitch = attitudeGain
            controller.rateGain.pitch = rateGain
            controller.rateIntegralGain.pitch = rateIntegralGain
            controller.rateDerivativeGain.pitch = rateDerivativeGain
            controller.derivativeCutoffHz = derivativeCutoffHz
            controller.inertia.pitch = inertia
            controller.loopDelay = delay
            margins = LoopMargins(of: controller, axis: .pitch, filter: filter)
            if margins.areHealthy || factor < 0.05 { return }
            factor *= 0.97
        }
    }

    /// Gains for a motor without encoder: the default tuning, slower by as much as the delay is
    /// longer. Its observer, which takes out lasting loads in place of an integral, follows.
    ///
    /// - Parameters:
    ///   - field: The tuning in force; what is common to all gains is kept.
    ///   - inertia: kg·m².
    ///   - delay: From torque to rate, with half a period, s.
    ///   - filter: What the rate goes through.
    public init(
        field: FieldController.Parameters, inertia: Double, delay: Double,
        filter: RateFilter.Axis = RateFilter.Axis()
    ) {
        var tuned = FieldController.Parameters().stretched(to: delay)
        tuned.attitudeLead = field.attitudeLead
        tuned.inertia.pitch = inertia
        self.inertia = inertia
        attitudeGain = tuned.attitudeGain.pitch
        rateGain = tuned.rateGain.pitch
        rateIntegralGain = 0
        rateDerivativeGain = 0
        derivativeCutoffHz = AttitudeController.Parameters().derivativeCutoffHz
        margins = LoopMargins(of: tuned, axis: .pitch, filter: filter)
    }

    /// Puts the gains into one axis of a controller; the derivative's corner is common to all axes.
    public func apply(to controller: inout AttitudeController.Parameters, _ axis: GimbalAxis) {
        controller.attitudeGain[axis] = attitudeGain
        controller.rateGain[axis] = rateGain
        controller.rateIntegralGain[axis] = rateIntegralGain
        controller.rateDerivativeGain[axis] = rateDerivativeGain
        controller.inertia[axis] = inertia
        controller.derivativeCutoffHz = derivativeCutoffHz
    }
}

extension GainDesign {
    /// From rate to moment, the controller's own frequency response, with its sign turned: times
    /// the plant it is the open loop.
    public func response(omega: Double) -> Complex {
        let s = Complex(0, omega)
        let damping = s * rateDerivativeGain / Complex(1, omega / (2 * .pi * derivativeCutoffHz))
        let path = Complex(rateGain) + Complex(rateIntegralGain) / s
        return (path * (Complex(1) + Complex(attitudeGain) / s) + damping) * inertia
    }
}
