/// Commands to the motors until the next output.
public struct MotorOutput: Sendable, BitwiseCopyable {
    /// Whether the power stages are on. If false, all other values are ignored.
    public var enabled: Bool
    /// Torque on the outer part of each joint in the joint's positive direction, N·m; zero when not
    /// enabled.
    public var torque: AxisVector
    /// Absolute joint angle, rad: for position actuators the target, for torque motors the present
    /// angle.
    public var angle: AxisVector
    /// Electrical angle of the stator's field for open-loop brushless motors, rad, not wrapped.
    public var field: AxisVector
    /// Strength of that field, 0...1 of the power stage's maximum. For torque motors: 1 if encoders
    /// measure the joints, otherwise 0, because the field's angle is unknown. For position
    /// actuators: 1, or 0 to switch the actuator off.
    public var power: AxisVector

    /// Creates an output with these values; those that do not apply to the kind of motor are zero.
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

    /// Whether motors can receive this: finite, no torque beyond its limit (N·m), no power above 1.
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

/// Type of the motors.
public enum MotorType: UInt8, Sendable, BitwiseCopyable {
    /// Brushless motor with encoder: the output is a torque.
    case torque
    /// Hobby servo: the output is an angle.
    case servo
    /// Brushless motor without encoder: the output is the angle and the strength of its field.
    case field

    /// Whether the motor exerts a torque, so that a hand can hold the joint against it. A servo
    /// instead moves to its commanded angle.
    var exertsTorque: Bool { @_noLocks get { if case .servo = self { false } else { true } } }
}
