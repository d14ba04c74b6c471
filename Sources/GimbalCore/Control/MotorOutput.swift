/// What the motors are to do until the next output arrives.
public struct MotorOutput: Sendable, BitwiseCopyable {
    /// Whether the power stages are on. When false, everything else is to be ignored.
    public var enabled: Bool
    /// Torque on the outer part of each joint in the joint's positive direction, N·m; zero when not enabled.
    public var torque: AxisVector
    /// Absolute joint angle for position actuators, rad.
    public var angle: AxisVector

    /// An output with these values.
    @inlinable @_noLocks
    public init(enabled: Bool, torque: AxisVector, angle: AxisVector) {
        self.enabled = enabled
        self.torque = torque
        self.angle = angle
    }

    /// Power stages off.
    @inlinable
    public static var off: MotorOutput {
        @_noLocks get {
            MotorOutput(enabled: false, torque: .zero, angle: .zero)
        }
    }
}

/// How the motors are driven.
public enum MotorType: UInt8, Sendable, BitwiseCopyable {
    /// Brushless motor with encoder: the output is a torque.
    case torque
    /// Hobby servo: the output is an angle.
    case servo
}
