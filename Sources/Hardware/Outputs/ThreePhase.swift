public import GimbalCore
internal import Glibc

/// Computes the duty cycles of three half bridges that drive a star-connected brushless motor. The
/// functions have no side effects.
enum ThreePhase {
    /// Space-vector modulation adds a common voltage to three sine voltages 120° apart. The highest
    /// and the lowest voltage then have the same distance from the supply rails. The common voltage
    /// does not change the voltages between the terminals. The voltages between the terminals can
    /// then be 2/√3 times the voltages of sines alone (Zhou, Wang: Relationship between
    /// space-vector modulation and three-phase carrier-based PWM, IEEE Transactions on Industrial
    /// Electronics 49(1), 2002).
    ///
    /// - Parameters:
    ///   - angle: Electrical angle of the field, rad, not wrapped.
    ///   - amplitude: Strength of the field; 1 is the greatest strength that the supply voltage
    ///     permits. A negative strength rotates the field by half an electrical turn.
    /// - Returns: Fraction of the PWM period for which each of the three outputs is high, 0...1. If
    ///   an argument is not finite, the three fractions are equal, so the motor has no field.
    static func duties(angle: Double, amplitude: Double) -> (a: Double, b: Double, c: Double) {
        guard angle.isFinite, amplitude.isFinite else { return (0.5, 0.5, 0.5) }
        let strength = min(max(amplitude, -1), 1) / 3.0.squareRoot()
        let third = 2 * Double.pi / 3
        let (a, b, c) = (
            strength * cos(angle), strength * cos(angle - third), strength * cos(angle + third)
        )
        let middle = 0.5 - (max(a, b, c) + min(a, b, c)) / 2
        return (a + middle, b + middle, c + middle)
    }
}

/// Wiring and properties of one brushless motor on three half bridges.
public struct PhaseMotor: Sendable, BitwiseCopyable, Equatable {
    /// Number of pole pairs of the motor.
    public var polePairs: Double
    /// Direction of the motor; 1, or -1 if the joint turns opposite to the field.
    public var direction: Double
    /// Electrical angle of the field at joint angle zero, rad; used only for a motor with encoder.
    public var zero: Double
    /// Torque of a field of full strength that is 90 electrical degrees ahead of the rotor, N·m;
    /// used only for a motor with encoder.
    public var peakTorque: Double

    /// Creates the properties of a motor.
    public init(polePairs: Double, direction: Double = 1, zero: Double = 0, peakTorque: Double = 1)
    {
        self.polePairs = polePairs
        self.direction = direction
        self.zero = zero
        self.peakTorque = peakTorque
    }

    /// Computes the magnetic field that exerts a torque at the measured rotor angle. The field is
    /// 90 electrical degrees ahead of the rotor.
    ///
    /// - Parameters:
    ///   - torque: Torque on the joint, N·m.
    ///   - joint: Angle of the joint, rad.
    ///   - share: Factor by which the strength is multiplied, 0...1; 0 if the joint's angle is
    ///     unknown.
    /// - Returns: Angle of the field, rad, and its strength, -1...1.
    func commutate(
        torque: Double, joint: Double, share: Double
    ) -> (angle: Double, amplitude: Double) {
        guard torque.isFinite, joint.isFinite, peakTorque > 0 else { return (0, 0) }
        return (
            direction * polePairs * joint + zero + .pi / 2,
            direction * min(max(torque / peakTorque, -1), 1) * share
        )
    }
}

/// Properties of the three motors, one for each joint.
public typealias PhaseMotors = PerAxis<PhaseMotor>
