/// What the motors are to do until the next output arrives.
public struct MotorOutput: Sendable, BitwiseCopyable {
    /// Whether the power stages are on. When false, everything else is to be ignored.
    public var enabled: Bool
    /// Torque on the outer part of each joint in the joint's positive direction, N·m; zero when not
    /// enabled.
    public var torque: AxisVector
    /// Absolute joint angle, rad: where position actuators are to go; with torques where the joints
    /// are.
    public var angle: AxisVector
    /// Electrical angle of the stator's field for open-loop brushless motors, rad, not wrapped.
    public var field: AxisVector
    /// Strength of that field, 0...1 of what the power stage can give; with torques 1 when encoders
    /// see the joints, else 0: nobody can say where the field belongs. With angles 1, or 0 for an
    /// actuator that is to let go.
    public var power: AxisVector

    /// An output with these values; what a kind of motor does not use is zero.
    @inlinable @_noLocks
    public init(
        enabled: Bool, torque: AxisVector = .zero, angle: AxisVector = .zero,
        field: AxisVector = .zero, power: AxisVector = .zero
    ) {
        self.enabled = enabled
        self.torque = torque
        self.angle = angle
        self.field = field
        self.power = power
    }

    /// Whether motors may be given this: finite, no torque beyond its limit (N·m), no power beyond
    /// all there is.
    @_noLocks
    func isSound(torqueLimit: AxisVector) -> Bool {
        guard enabled else { return true }
        return torque.isFinite && angle.isFinite && field.isFinite && power.isFinite
            && torque.isWithin(torqueLimit) && power.isWithin(AxisVector(repeating: 1))
    }

    /// Power stages off.
    @inlinable
    public static var off: MotorOutput {
        @_noLocks get {
            MotorOutput(enabled: false)
        }
    }
}

/// How the motors are driven.
public enum MotorType: UInt8, Sendable, BitwiseCopyable {
    /// Brushless motor with encoder: the output is a torque.
    case torque
    /// Hobby servo: the output is an angle.
    case servo
    /// Brushless motor without encoder: the output is the angle and the strength of its field.
    case field

    /// Whether it pushes, and can be held back; a servo goes where it is told.
    var exertsTorque: Bool { @_noLocks get { if case .servo = self { false } else { true } } }
}
