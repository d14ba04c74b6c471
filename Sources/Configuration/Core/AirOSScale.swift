internal import CMathShim
public import GimbalCore
public import Port

/// Scale of an app's numbers p, i and d: the numbers of an axis give three factors, which multiply
/// the tuning of the configured motors. The table lists the parameters that each factor multiplies.
///
/// At the app's default values each factor is exactly 1. A larger value always gives a larger
/// factor. Below the app's default, the factor decreases linearly to a lower bound above zero.
/// Above the app's default, the factor increases along a curve towards an upper bound. Therefore
/// every slider position gives a different tuning, and the loop is stable with every tuning. If the
/// loop's margins are below 6 dB or 45°, the ranges of the factors are smaller. For a loop without
/// stability margins, each factor is 1.
///
/// | motors | p | i | d |
/// | --- | --- | --- | --- |
/// | torque | attitude gain, rate gain | integral gain | derivative gain |
/// | servo | corner of the prediction's low-pass | gain of the loop | fraction of the look-ahead |
/// | field | attitude gain (stiffness) | bandwidth of the rotor's observer | rate gain (damping) |
///
/// The controller of motors without encoders has no integral term. Instead, the rotor's observer
/// compensates constant loads; a larger bandwidth makes the observer faster. For motors without
/// encoders, p changes the stiffness (the product of attitude gain and rate gain), and d changes
/// only the damping.
///
/// With the bounds for torque motors, the default tuning has margins of at least 3.3 dB and 25°
/// (`LoopMargins`) for every combination of extreme factors. A test checks all combinations. For
/// servos and for motors without encoders, the simulated gimbal comes to rest after a step with
/// every tested combination of the factors (`airframe-bench gains`).
public enum AirOSScale {
    /// Multiplies the tuning of the configured motors (`motorType`) by the factors of each axis. Do
    /// not call this function on the loop thread, because the computation of the margins is slow.
    ///
    /// - Parameters:
    ///   - pid: The app's numbers of each axis. Negative, infinite and NaN values count as 0.
    ///   - parameters: Parameters with the tuning that the app's default values leave unchanged.
    public static func apply(
        _ pid: PerAxis<PIDTriple>, to parameters: inout Stabilizer.Parameters
    ) {
        let tuning = parameters.controller
        for axis in GimbalAxis.allCases where pid[axis] != PIDTriple.defaults[axis] {
            let (numbers, reference) = (pid[axis], PIDTriple.defaults[axis])
            let bounds: [ClosedRange<Double>]
            // Permitted fractions of the factors' ranges above and below 1.
            var (increase, decrease) = (1.0, 1.0)
            switch parameters.motorType {
            case .torque:
                bounds = [0.7...1.3, 0.1...1.3, 0.5...1.4]
                let margins = LoopMargins(
                    of: tuning, axis: axis, lead: parameters.estimator.sensorDelay,
                    filter: parameters.rateFilter[axis])
                let phase = margins.phaseDegrees / 45
                increase = min(max(min(margins.increaseDecibels / 6, phase), 0), 1)
                decrease = min(max(min(margins.decreaseDecibels / 6, phase), 0), 1)
            case .servo:
                // With a gain of the loop (i) far below the default, the camera oscillates across
                // the servo's dead band, because errors inside the dead band persist.
                bounds = [0.7...1.3, 0.6...1.3, 0.5...1.4]
            case .field:
                // The bounds are narrow, because a faster observer and higher gains both reduce the
                // phase margin.
                bounds = [0.7...1.3, 0.7...1.2, 0.75...1.25]
            }
            let ratios = [
                numbers.p / reference.p, numbers.i / reference.i, numbers.d / reference.d,
            ]
            let factors = zip(ratios, bounds).map { ratio, range in
                let fall = (1 - range.lowerBound) * decrease
                guard ratio.isFinite, ratio > 0 else { return 1 - fall }
                if ratio <= 1 { return 1 - fall * (1 - ratio) }
                let reach = (range.upperBound - 1) * increase
                guard reach > 0 else { return 1.0 }
                // At the default (`ratio` = 1), the slope of the factor is half of `reach`. At four
                // times the default, the factor is 1 plus 78 % of `reach`.
                return 1 + reach * (1 - cm_exp((1 - ratio) / 2))
            }
            switch parameters.motorType {
            case .torque:
                parameters.controller.attitudeGain[axis] *= factors[0]
                parameters.controller.rateGain[axis] *= factors[0]
                parameters.controller.rateIntegralGain[axis] *= factors[1]
                parameters.controller.rateDerivativeGain[axis] *= factors[2]
            case .servo:
                parameters.servo.bandwidth[axis] *= factors[0]
                parameters.servo.loopGain[axis] *= factors[1]
                parameters.servo.lookAhead[axis] *= factors[2]
            case .field:
                parameters.field.attitudeGain[axis] *= factors[0] / factors[2]
                parameters.field.rateGain[axis] *= factors[2]
                parameters.field.observerBandwidth[axis] *= factors[1]
            }
        }
    }
}
