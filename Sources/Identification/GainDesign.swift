public import GimbalCore

/// Design of the gains for an axis of known inertia and delay.
///
/// For a delay of 3.5 ms, the default tuning gives the smallest response to a push among all gains
/// with margins of 6 dB and 45°. The plant is an inertia with a delay, and the delay is its only
/// time constant. The margins do not depend on the delay if the gains in 1/s are inversely
/// proportional to the delay, and the gains in 1/s² are inversely proportional to the square of the
/// delay. If filters and other lags reduce the phase margin, a `speed` below 1 gives lower gains.
public struct GainDesign: Sendable, Equatable {
    /// Moment of inertia, kg·m².
    public var inertia: Double
    /// Gain from attitude error (rad) to commanded rate (rad/s), 1/s.
    public var attitudeGain: Double
    /// Gain from rate error (rad/s) to commanded angular acceleration (rad/s²), 1/s.
    public var rateGain: Double
    /// Gain from integrated rate error (rad) to commanded angular acceleration (rad/s²), 1/s².
    public var rateIntegralGain: Double
    /// Gain from measured to commanded angular acceleration, dimensionless.
    public var rateDerivativeGain: Double
    /// Corner frequency of the derivative's low-pass filter, Hz.
    public var derivativeCutoffHz: Double
    /// Stability margins of the loop with the designed gains.
    public var margins: LoopMargins

    /// Controller with the designed gains for its pitch axis.
    private enum Controller: Sendable, Equatable {
        case torque(AttitudeController.Parameters)
        case field(FieldController.Parameters)
    }

    private var controller: Controller
    /// Look-ahead of the attitude relative to the rate, s.
    private let lead: Double
    /// Filters of the rate, of which only the pitch axis is used.
    private var filters = RateFilter.Parameters()

    /// Creates gains with a gain margin of 6 dB and a phase margin of 45°.
    ///
    /// - Parameters:
    ///   - inertia: Moment of inertia, kg·m².
    ///   - delay: Delay from torque to measured rate, including half a period of the loop, s.
    ///   - lead: Look-ahead of the attitude relative to the rate, s.
    ///   - filter: Filter of the rate.
    ///   - speed: Speed of the loop relative to the optimum; a value below 1 gives softer gains.
    ///   - cutoffHz: Corner frequency of the derivative's low-pass filter that another axis has
    ///     determined, Hz; nil if the design determines this frequency.
    public init(
        inertia: Double, delay: Double, lead: Double,
        filter: RateFilter.Axis = RateFilter.Axis(), speed: Double = 1, cutoffHz: Double? = nil
    ) {
        let base = AttitudeController.Parameters()
        var factor = min(base.loopDelay / max(delay, 1e-4), 2.2) * speed
        self.inertia = inertia
        self.lead = lead
        filters.pitch = filter
        while true {
            attitudeGain = base.attitudeGain.pitch * factor
            rateGain = base.rateGain.pitch * factor
            rateIntegralGain = base.rateIntegralGain.pitch * factor * factor
            rateDerivativeGain = base.rateDerivativeGain.pitch
            derivativeCutoffHz = cutoffHz ?? base.derivativeCutoffHz * factor
            var controller = base
            controller.attitudeGain.pitch = attitudeGain
            controller.rateGain.pitch = rateGain
            controller.rateIntegralGain.pitch = rateIntegralGain
            controller.rateDerivativeGain.pitch = rateDerivativeGain
            controller.derivativeCutoffHz = derivativeCutoffHz
            controller.inertia.pitch = inertia
            controller.loopDelay = delay
            self.controller = .torque(controller)
            margins = LoopMargins(of: controller, axis: .pitch, lead: lead, filter: filter)
            if margins.areHealthy || factor < 0.05 { return }
            factor *= 0.97
        }
    }

    /// Creates gains for a motor without encoder. All time constants of the default tuning are
    /// scaled in proportion to the delay. The disturbance observer, which replaces the integral
    /// term, is scaled in the same way.
    ///
    /// - Parameters:
    ///   - inertia: Moment of inertia, kg·m².
    ///   - delay: Delay from torque to measured rate, including half a period of the loop, s.
    ///   - lead: Look-ahead of the attitude relative to the rate, s.
    ///   - filter: Filter of the rate.
    public init(
        field inertia: Double, delay: Double, lead: Double,
        filter: RateFilter.Axis = RateFilter.Axis()
    ) {
        var tuned = FieldController.Parameters().stretched(to: delay)
        tuned.inertia.pitch = inertia
        self.inertia = inertia
        self.lead = lead
        filters.pitch = filter
        controller = .field(tuned)
        attitudeGain = tuned.attitudeGain.pitch
        rateGain = tuned.rateGain.pitch
        rateIntegralGain = 0
        rateDerivativeGain = 0
        derivativeCutoffHz = AttitudeController.Parameters().derivativeCutoffHz
        margins = LoopMargins(of: tuned, axis: .pitch, lead: lead, filter: filter)
    }

    /// Applies the gains to one axis of a controller; the corner frequency of the derivative is
    /// common to all axes.
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
    /// Frequency response of the controller from rate to moment, with inverted sign. The response
    /// of the open loop is the product of the controller's and the plant's response. The response
    /// includes all parts of the controller that affect `margins`.
    public func response(omega: Double) -> Complex {
        let open: (gain: Double, phase: Double)
        let delay: Double
        switch controller {
        case .torque(let torque):
            open = LoopMargins.response(
                of: torque, axis: .pitch, omega: omega, lead: lead, filter: filters.pitch)
            delay = torque.loopDelay
        case .field(let field):
            open = LoopMargins.response(
                of: field, axis: .pitch, omega: omega, lead: lead, filter: filters.pitch)
            delay = field.loopDelay
        }
        // The plant of the margins is a free inertia and the delay.
        let plant = PlantModel(inertia: inertia, damping: 0, stiffness: 0, delay: delay)
        return Complex(phase: open.phase) * open.gain / plant.response(omega: omega)
    }
}
