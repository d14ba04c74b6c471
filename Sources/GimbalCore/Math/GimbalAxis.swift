/// One of the three axes of a gimbal: a joint, or the axis of the camera that it turns.
public enum GimbalAxis: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// About the camera's z; the outermost joint.
    case yaw
    /// About the camera's x; the middle joint.
    case roll
    /// About the camera's y; the innermost joint.
    case pitch
}

extension AxisVector {
    /// The value of one axis.
    @inlinable
    public subscript(axis: GimbalAxis) -> Double {
        @_noLocks get {
            switch axis {
            case .yaw: yaw
            case .roll: roll
            case .pitch: pitch
            }
        }
        @_noLocks set {
            switch axis {
            case .yaw: yaw = newValue
            case .roll: roll = newValue
            case .pitch: pitch = newValue
            }
        }
    }
}

extension Vector3 {
    /// The component about one of the camera's axes.
    @inlinable
    public subscript(axis: GimbalAxis) -> Double {
        @_noLocks get {
            switch axis {
            case .yaw: z
            case .roll: x
            case .pitch: y
            }
        }
        @_noLocks set {
            switch axis {
            case .yaw: z = newValue
            case .roll: x = newValue
            case .pitch: y = newValue
            }
        }
    }
}
