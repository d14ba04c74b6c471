internal import CMathShim

/// The numbers p, i and d of one axis, as an AirOS app shows and sends them.
///
/// Their unit is that of the firmware they were made for (servo degrees per degree of error), which says nothing about
/// another gimbal; what counts is their ratio to the app's defaults, see `AirOSScale`.
public struct PIDTriple: Sendable, BitwiseCopyable, Equatable {
    /// Proportional, 0...5.
    public var p: Double
    /// Integral, 0...1.
    public var i: Double
    /// Derivative, 0...0.5.
    public var d: Double

    /// These three numbers.
    public init(p: Double, i: Double, d: Double) {
        self.p = p
        self.i = i
        self.d = d
    }

    /// The app's defaults for pitch and roll.
    public static var tilt: PIDTriple { PIDTriple(p: 1.2, i: 0.1, d: 0.05) }
    /// The app's defaults for yaw.
    public static var pan: PIDTriple { PIDTriple(p: 0.8, i: 0.05, d: 0.02) }
}

/// What a PID triple means, on every kind of motor: three factors on the axis's own tuning.
///
/// At the app's default each factor is exactly 1. It rises strictly with its value: below the default along a straight
/// line that ends above zero, above it along a curve that approaches a bound. So every point of the app's sliders is
/// another tuning, and no point leaves the margins of the loop. A loop that has less than 6 dB to spare is given
/// less room, down to none.
///
/// | motors | p | i | d |
/// | --- | --- | --- | --- |
/// | torque | attitude and rate gain | integral gain | derivative gain |
/// | servo | corner of the prediction's low-pass | gain of the loop | share of the look-ahead |
///
/// Source of the bounds: with all three at any of their ends, the default tuning keeps 3.5 dB and 25°
/// (`LoopMargins`; the whole grid is in the tests).
public struct AirOSScale: Sendable, BitwiseCopyable, Equatable {
    /// How far a loop may be changed: 1 where it keeps 6 dB, 0 where it has nothing to spare.
    public struct Room: Sendable, BitwiseCopyable, Equatable {
        /// For factors above 1.
        public var increase: Double
        /// For factors below 1.
        public var decrease: Double

        /// Room for everything.
        public static var full: Room { Room(increase: 1, decrease: 1) }

        /// Room of 0...1 each way.
        public init(increase: Double, decrease: Double) {
            self.increase = increase
            self.decrease = decrease
        }

        /// The room of a loop with these margins.
        public init(_ margins: LoopMargins) {
            let phase = margins.phaseDegrees / 45
            increase = min(max(min(margins.increaseDecibels / 6, phase), 0), 1)
            decrease = min(max(min(margins.decreaseDecibels / 6, phase), 0), 1)
        }
    }

    /// On the proportional path, 0.7...1.3.
    public var proportional: Double
    /// On the integral, 0.1...1.3.
    public var integral: Double
    /// On the derivative, 0.5...1.4.
    public var derivative: Double

    /// Nothing is changed.
    public static var one: AirOSScale {
        AirOSScale(PIDTriple.tilt, relativeTo: PIDTriple.tilt)
    }

    /// The factors of a triple.
    ///
    /// - Parameters:
    ///   - triple: As written; negative and not finite count as zero.
    ///   - reference: The app's defaults of the axis.
    ///   - room: How far the axis may be changed.
    public init(_ triple: PIDTriple, relativeTo reference: PIDTriple, room: Room = .full) {
        proportional = Self.factor(triple.p / reference.p, 0.7...1.3, room)
        integral = Self.factor(triple.i / reference.i, 0.1...1.3, room)
        derivative = Self.factor(triple.d / reference.d, 0.5...1.4, room)
    }

    /// From a ratio to the default to a factor within `bounds`.
    private static func factor(
        _ ratio: Double, _ bounds: ClosedRange<Double>, _ room: Room
    ) -> Double {
        guard ratio.isFinite, ratio > 0 else { return 1 - (1 - bounds.lowerBound) * room.decrease }
        if ratio <= 1 { return 1 - (1 - bounds.lowerBound) * room.decrease * (1 - ratio) }
        let reach = (bounds.upperBound - 1) * room.increase
        guard reach > 0 else { return 1 }
        // Leaves 1 with the slope of its reach; 0.8 of the way is gone at four times the default.
        return 1 + reach * (1 - cm_exp((1 - ratio) / 2))
    }
}

extension AttitudeController.Parameters {
    /// The same tuning with the factors of each axis. Not for the loop thread: it sweeps frequencies for the room.
    public func scaled(
        yaw: PIDTriple = .pan, roll: PIDTriple = .tilt, pitch: PIDTriple = .tilt
    ) -> AttitudeController.Parameters {
        var result = self
        result.scale(.yaw, yaw, relativeTo: .pan)
        result.scale(.roll, roll, relativeTo: .tilt)
        result.scale(.pitch, pitch, relativeTo: .tilt)
        return result
    }

    private mutating func scale(
        _ axis: GimbalAxis, _ triple: PIDTriple,
        relativeTo reference: PIDTriple
    ) {
        guard triple != reference else { return }
        let margins = LoopMargins(of: self, axis: axis)
        let scale = AirOSScale(triple, relativeTo: reference, room: AirOSScale.Room(margins))
        attitudeGain[axis] *= scale.proportional
        rateGain[axis] *= scale.proportional
        rateIntegralGain[axis] *= scale.integral
        rateDerivativeGain[axis] *= scale.derivative
    }
}

extension ServoController.Parameters {
    /// The same tuning with the factors of each axis.
    public func scaled(
        yaw: PIDTriple = .pan, roll: PIDTriple = .tilt, pitch: PIDTriple = .tilt
    ) -> ServoController.Parameters {
        let y = AirOSScale(yaw, relativeTo: .pan)
        let r = AirOSScale(roll, relativeTo: .tilt)
        let p = AirOSScale(pitch, relativeTo: .tilt)
        var result = self
        result.bandwidth =
            bandwidth * AxisVector(yaw: y.proportional, roll: r.proportional, pitch: p.proportional)
        result.loopGain =
            loopGain * AxisVector(yaw: y.integral, roll: r.integral, pitch: p.integral)
        result.lookAhead =
            lookAhead * AxisVector(yaw: y.derivative, roll: r.derivative, pitch: p.derivative)
        return result
    }
}
