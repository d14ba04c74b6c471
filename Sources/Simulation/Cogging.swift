internal import CMathShim
public import GimbalCore

/// The torque by which a motor's magnets pull its iron into place, without any current.
///
/// A sum of sines of the joint angle. In a faultless motor the first is at the least common
/// multiple of slots and poles (84 in one of 12 slots and 14 poles, six times its seven pole
/// pairs); uneven magnets and an eccentric rotor add the pole pairs and twice those (Hanselman,
/// "Brushless Permanent Magnet Motor Design", 2003, ch. 7).
public struct Cogging: Sendable, BitwiseCopyable, Equatable {
    /// Pairs of magnet poles.
    public var polePairs = 7.0
    /// Amplitude at the pole pairs, N·m.
    public var once = AxisVector.zero
    /// At twice those, N·m.
    public var twice = AxisVector.zero
    /// At six times those, N·m.
    public var sixfold = AxisVector.zero
    /// Electrical angle of the joints' zero, rad.
    public var phase = AxisVector.zero

    /// None.
    public init() {}

    var isNone: Bool { once == .zero && twice == .zero && sixfold == .zero }

    /// - Parameter joints: rad.
    /// - Returns: Torque on the outer part of each joint, N·m.
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
