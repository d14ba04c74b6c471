public import GimbalCore

/// Gains for an axis of known inertia and delay.
///
/// The default tuning gives the smallest response to a push with margins of 6 dB and 45° at a delay
/// of 3.5 ms. A loop that consists of an inertia and a delay has no other time constant than the
/// delay. Another axis therefore has the same margins if its gains per unit of inertia are scaled
/// in time by the ratio of the delays. If filters and other lags take additional phase, the gains
/// are reduced by a lower `speed`.
public struct GainDesign: Sendable, Equatable {
    /// Moment of inertia, kg·m².
    public var inertia: Double
    /// Gain from attitude error to rate, 1/s.
    public var attitudeGain: Double
    /// Gain from rate error to acceleration, 1/s.
    public var rateGain: Double
    /// Gain from integrated rate error to acceleration, 1/s².
    public var rateIntegralGain: Double
    /// Gain from measured to commanded angular acceleration, 1.
    public var rateDerivativeGain: Double
    /// Corner of the derivative's low-pass, Hz.
    public var derivativeCutoffHz: Double
    /// Margins of the gains.
    public var margins: LoopMargins

    /// Creates gains with a gain margin of 6 dB and a phase margin of 45°.
    ///
    /// - Parameters:
    ///   - inertia: Moment of inertia, kg·m².
    ///   - delay: Delay from torque to rate, including half a period, s.
    ///   - filter: Filter of the rate.
    ///   - speed: Speed of the loop relative to the optimum; a value below 1 gives softer gains.
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

    /// Creates gains for a motor without encoder: the default tuning, slowed down in proportion to
    /// the delay. The disturbance observer, which replaces the integral term, is slowed down too.
    ///
    /// - Parameters:
    ///   - field: The tuning in force; values that are common to all axes are kept.
    ///   - inertia: Moment of inertia, kg·m².
    ///   - delay: Delay from torque to rate, including half a period, s.
    ///   - filter: Filter of the rate.
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

    /// Applies the gains to one axis of a controller; the derivative's corner is common to all
    /// axes.
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
    /// Frequency response of the controller from rate to moment, with inverted sign; the open loop
    /// is this response times the plant's.
    public func response(omega: Double) -> Complex {
        let s = Complex(0, omega)
        let damping = s * rateDerivativeGain / Complex(1, omega / (2 * .pi * derivativeCutoffHz))
        let path = Complex(rateGain) + Complex(rateIntegralGain) / s
        return (path * (Complex(1) + Complex(attitudeGain) / s) + damping) * inertia
    }
}
