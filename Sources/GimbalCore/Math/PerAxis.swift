/// One value for each gimbal axis, in the order of the joints from handle to camera. The values
/// are, for example, the states or the tunings of three controllers.
public struct PerAxis<Value: Sendable & BitwiseCopyable>: Sendable, BitwiseCopyable {
    /// Value for the yaw joint, at the handle, or for rotation about the camera's z axis.
    public var yaw: Value
    /// Value for the roll joint, in the middle, or for rotation about the camera's x axis.
    public var roll: Value
    /// Value for the pitch joint, at the camera, or for rotation about the camera's y axis.
    public var pitch: Value

    /// Creates the three values, in the order of the joints from handle to camera.
    @inline(__always)
    public init(yaw: Value, roll: Value, pitch: Value) {
        self.yaw = yaw
        self.roll = roll
        self.pitch = pitch
    }

    /// Creates three equal values.
    @inline(__always)
    public init(_ value: Value) { self.init(yaw: value, roll: value, pitch: value) }

    /// The value of one axis.
    public subscript(axis: GimbalAxis) -> Value {
        @inline(__always) get {
            switch axis {
            case .yaw: yaw
            case .roll: roll
            case .pitch: pitch
            }
        }
        @inline(__always) _modify {
            switch axis {
            case .yaw: yield &yaw
            case .roll: yield &roll
            case .pitch: yield &pitch
            }
        }
    }

    /// Vector of three numbers, each computed from the value of one axis.
    @inline(always)
    func map(_ number: (Value) -> Double) -> AxisVector {
        AxisVector(yaw: number(yaw), roll: number(roll), pitch: number(pitch))
    }

    /// The axes whose values satisfy the predicate.
    @inline(always)
    func axes(where isTrue: (Value) -> Bool) -> AxisSet {
        AxisSet(yaw: isTrue(yaw), roll: isTrue(roll), pitch: isTrue(pitch))
    }

    /// Changes the value of each axis.
    @inline(always)
    mutating func change(_ body: (inout Value, GimbalAxis) -> Void) {
        body(&yaw, .yaw)
        body(&roll, .roll)
        body(&pitch, .pitch)
    }

    /// Changes the value of each axis.
    ///
    /// - Returns: The results of `body`, one for each axis.
    @inline(always)
    mutating func step(_ body: (inout Value, GimbalAxis) -> Double) -> AxisVector {
        let (first, second, third) = (body(&yaw, .yaw), body(&roll, .roll), body(&pitch, .pitch))
        return AxisVector(yaw: first, roll: second, pitch: third)
    }

    /// Changes the value of each axis.
    ///
    /// - Returns: The axes for which `body` returns true.
    @inline(always)
    mutating func judge(_ body: (inout Value, GimbalAxis) -> Bool) -> AxisSet {
        let (first, second, third) = (body(&yaw, .yaw), body(&roll, .roll), body(&pitch, .pitch))
        return AxisSet(yaw: first, roll: second, pitch: third)
    }
}

extension PerAxis: Equatable where Value: Equatable {}
