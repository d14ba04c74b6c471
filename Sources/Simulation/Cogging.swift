internal import CMathShim
public import GimbalCore

/// Cogging torque: torque from the attraction between the magnets and the iron of a motor, even
/// without current.
///
/// The torque is a sum of sines of the joint angle. In an ideal motor, the number of periods per
/// turn of the first sine is the least common multiple of slots and poles. For 12 slots and 14
/// poles, this least common multiple is 84, which is twelve times the seven pole pairs. The highest
/// harmonic in this model has half as many periods, `6 * polePairs`. Uneven magnets and an
/// eccentric rotor add sines with `polePairs` and `2 * polePairs` periods per turn (Hanselman,
/// "Brushless Permanent Magnet Motor Design", 2003, ch. 7).
public struct Cogging: Sendable, BitwiseCopyable, Equatable {
    /// Number of pole pairs.
    public var polePairs = 7.0
    /// Amplitude of the sine with `polePairs` periods per turn, N·m.
    public var once = AxisVector.zero
    /// Amplitude of the sine with `2 * polePairs` periods per turn, N·m.
    public var twice = AxisVector.zero
    /// Amplitude of the sine with `6 * polePairs` periods per turn, N·m.
    public var sixfold = AxisVector.zero
    /// Electrical angle at joint angle zero, rad.
    public var phase = AxisVector.zero

    /// Creates motors without cogging.
    public init() {}

    var isNone: Bool { once == .zero && twice == .zero && sixfold == .zero }

    /// Compute the cogging torque.
    ///
    /// - Parameter joints: Joint angles, rad.
    /// - Returns: Torque on the camera's side of each joint, N·m.
    func torque(at joints: AxisVector) -> AxisVector {
        let angles = joints * polePairs + phase
        return AxisVector(
            yaw: pull(once.yaw, twice.yaw, sixfold.yaw, angles.yaw),
            roll: pull(once.roll, twice.roll, sixfold.roll, angles.roll),
            pitch: pull(once.pitch, twice.pitch, sixfold.pitch, angles.pitch))
    }

    private func pull(_ a: Double, _ b: Double, _ c: Double, _ angle: Double) -> Double {
        -(a * cm_sin(angle) + b * cm_sin(2 * angle) + c * cm_sin(6 * angle))
    }
}
