internal import CMathShim
public import GimbalCore
public import Port

/// Three factors that scale the tuning of an axis, computed from an app's numbers p, i and d. The
/// table lists the parameters that each factor multiplies.
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
public struct AirOSScale: Sendable, BitwiseCopyable, Equatable {
    /// Permitted fraction of the factors' full range, which depends on the loop's stability
    /// margins. The permitted fraction is 1 for margins of at least 6 dB and 45°, and 0 without a
    /// gain or phase margin.
    public struct Room: Sendable, BitwiseCopyable, Equatable {
        /// Permitted fraction of the factors' range above 1, 0...1.
        public var increase: Double
        /// Permitted fraction of the factors' range below 1, 0...1.
        public var decrease: Double

        /// Full range of the factors, above and below 1.
        public static var full: Room { Room(increase: 1, decrease: 1) }

        /// Permitted fractions for a loop with the given stability margins.
        public static func within(_ margins: LoopMargins) -> Room {
            let phase = margins.phaseDegrees / 45
            return Room(
                increase: min(max(min(margins.increaseDecibels / 6, phase), 0), 1),
                decrease: min(max(min(margins.decreaseDecibels / 6, phase), 0), 1))
        }
    }

    /// Bounds of the factors. Every range contains 1.
    public struct Bounds: Sendable, Equatable {
        /// Range of the proportional factor.
        public var proportional: ClosedRange<Double>
        /// Range of the integral factor.
        public var integral: ClosedRange<Double>
        /// Range of the derivative factor.
        public var derivative: ClosedRange<Double>

        /// Bounds of the factors for torque motors.
        public static var torque: Bounds {
            Bounds(proportional: 0.7...1.3, integral: 0.1...1.3, derivative: 0.5...1.4)
        }
        /// Bounds of the factors for servos. With a much lower gain, the camera oscillates across
        /// the servo's dead band, because errors inside the dead band persist.
        public static var servo: Bounds {
            Bounds(proportional: 0.7...1.3, integral: 0.6...1.3, derivative: 0.5...1.4)
        }
        /// Bounds of the factors for motors without encoders. The bounds are narrow, because a
        /// faster observer and higher gains both reduce the phase margin.
        public static var field: Bounds {
            Bounds(proportional: 0.7...1.3, integral: 0.7...1.2, derivative: 0.75...1.25)
        }
    }

    /// Proportional factor, computed from the app's number p.
    public var proportional: Double
    /// Integral factor, computed from the app's number i.
    public var integral: Double
    /// Derivative factor, computed from the app's number d.
    public var derivative: Double

    /// Computes the factors of one axis from an app's numbers.
    ///
    /// - Parameters:
    ///   - triple: The app's numbers p, i and d. Negative, infinite and NaN values count as 0.
    ///   - reference: The app's defaults of the axis.
    ///   - bounds: Bounds of the factors for the kind of motor.
    ///   - room: Permitted fractions of the factors' full range.
    public init(
        _ triple: PIDTriple, relativeTo reference: PIDTriple, bounds: Bounds = .torque,
        room: Room = .full
    ) {
        let factors = [
            (triple.p / reference.p, bounds.proportional),
            (triple.i / reference.i, bounds.integral),
            (triple.d / reference.d, bounds.derivative),
        ].map { ratio, range in
            let fall = (1 - range.lowerBound) * room.decrease
            guard ratio.isFinite, ratio > 0 else { return 1 - fall }
            if ratio <= 1 { return 1 - fall * (1 - ratio) }
            let reach = (range.upperBound - 1) * room.increase
            guard reach > 0 else { return 1 }
            // At the default (`ratio` = 1), the slope of the factor is half of `reach`. At four
            // times the default, the factor is 1 plus 78 % of `reach`.
            return 1 + reach * (1 - cm_exp((1 - ratio) / 2))
        }
        (proportional, integral, derivative) = (factors[0], factors[1], factors[2])
    }
}

extension AttitudeController.Parameters {
    /// This tuning, multiplied by the factors of each axis. Do not call this method on the loop
    /// thread, because the computation of the margins is slow.
    public func scaled(by pid: PerAxis<PIDTriple>) -> AttitudeController.Parameters {
        var result = self
        for axis in GimbalAxis.allCases where pid[axis] != PIDTriple.defaults[axis] {
            let scale = AirOSScale(
                pid[axis], relativeTo: PIDTriple.defaults[axis],
                room: .within(LoopMargins(of: self, axis: axis)))
            result.attitudeGain[axis] *= scale.proportional
            result.rateGain[axis] *= scale.proportional
            result.rateIntegralGain[axis] *= scale.integral
            result.rateDerivativeGain[axis] *= scale.derivative
        }
        return result
    }
}

extension ServoController.Parameters {
    /// This tuning, multiplied by the factors of each axis.
    public func scaled(by pid: PerAxis<PIDTriple>) -> ServoController.Parameters {
        var result = self
        for axis in GimbalAxis.allCases {
            let scale = AirOSScale(
                pid[axis], relativeTo: PIDTriple.defaults[axis], bounds: .servo)
            result.bandwidth[axis] *= scale.proportional
            result.loopGain[axis] *= scale.integral
            result.lookAhead[axis] *= scale.derivative
        }
        return result
    }
}

extension FieldController.Parameters {
    /// This tuning, multiplied by the factors of each axis.
    public func scaled(by pid: PerAxis<PIDTriple>) -> FieldController.Parameters {
        var result = self
        for axis in GimbalAxis.allCases {
            let scale = AirOSScale(
                pid[axis], relativeTo: PIDTriple.defaults[axis], bounds: .field)
            result.attitudeGain[axis] *= scale.proportional / scale.derivative
            result.rateGain[axis] *= scale.derivative
            result.observerBandwidth[axis] *= scale.integral
        }
        return result
    }
}
