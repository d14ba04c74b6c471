/// One of the three axes of a gimbal: a joint, or the corresponding axis of the camera.
public enum GimbalAxis: UInt8, Sendable, BitwiseCopyable, CaseIterable, Recordable {
    /// Rotation about the camera's z axis; the joint at the handle.
    case yaw
    /// Rotation about the camera's x axis; the middle joint.
    case roll
    /// Rotation about the camera's y axis; the joint at the camera.
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
    /// The component about one axis of the camera; yaw is z, roll is x, pitch is y.
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
