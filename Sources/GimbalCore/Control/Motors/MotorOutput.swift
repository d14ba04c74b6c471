/// Commands to the motors, valid until the next output.
public struct MotorOutput: Sendable, BitwiseCopyable {
    /// True if the power stages are on. If false, all other values are ignored.
    public var enabled: Bool
    /// Torque on the camera's side of each joint in the joint's positive direction, N·m; zero if
    /// `enabled` is false.
    public var torque: AxisVector
    /// Joint angle, rad: the commanded angle for servos, the actual angle for torque motors.
    public var angle: AxisVector
    /// Electrical angle of the stator's field for brushless motors without encoder, rad, continuous
    /// over whole turns.
    public var field: AxisVector
    /// True if the supply of drives, bus servos or a motor board must be on; used only if a GPIO line
    /// switches this supply. The supply can be on while the power stages are off.
    public var isSupplied = false
    /// Strength of the stator's field, as a fraction of the power stage's maximum, 0...1. For
    /// torque motors, the value is 1 if encoders measure the joints; otherwise 0, because the
    /// field's angle is unknown. For servos, the value is 1, or 0 to switch the servo off.
    public var power: AxisVector

    /// Creates an output with the given values. Values that do not apply to the kind of motor are
    /// zero.
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

    /// True if the output is valid: all values are finite, torques are within `torqueLimit`, N·m,
    /// and powers are at most 1.
    @_noLocks
    func isSound(torqueLimit: AxisVector) -> Bool {
        guard enabled else { return true }
        return torque.isFinite && angle.isFinite && field.isFinite && power.isFinite
            && torque.isWithin(torqueLimit) && power.isWithin(AxisVector(repeating: 1))
    }

    /// The output that switches the power stages and the supply off.
    @inlinable
    public static var off: MotorOutput {
        @_noLocks get {
            MotorOutput(enabled: false)
        }
    }
}

/// Type of the motors.
public enum MotorType: UInt8, Sendable, BitwiseCopyable {
    /// Brushless motor with encoder: the controller commands a torque.
    case torque
    /// Hobby servo: the controller commands an angle.
    case servo
    /// Brushless motor without encoder: the controller commands the angle and the strength of its
    /// field.
    case field

    /// True if the controller determines the motor's torque, so a hand can hold the joint. False
    /// for a servo, which moves to its commanded angle.
    var exertsTorque: Bool { @_noLocks get { if case .servo = self { false } else { true } } }
}
