internal import CMathShim

/// One number for each gimbal axis, in the order of the joints from handle to camera: yaw, roll,
/// pitch. The unit is documented at each property whose type is `AxisVector`.
public struct AxisVector: Hashable, Sendable, BitwiseCopyable, Recordable {
    /// Value of the yaw joint, which is mounted on the handle and turns about z.
    public var yaw: Double
    /// Value of the roll joint, in the middle, which turns about x.
    public var roll: Double
    /// Value of the pitch joint, which carries the camera and turns about y.
    public var pitch: Double

    /// Creates a vector from its three values, in the order from the handle's joint to the
    /// camera's.
    @inlinable @inline(__always) @_noLocks
    public init(yaw: Double, roll: Double, pitch: Double) {
        self.yaw = yaw
        self.roll = roll
        self.pitch = pitch
    }

    /// Creates a vector with the same value on every axis.
    @inlinable @inline(__always) @_noLocks
    public init(repeating value: Double) { self.init(yaw: value, roll: value, pitch: value) }

    /// Zero on every axis.
    @inlinable
    public static var zero: AxisVector {
        @_noLocks @inline(__always) get { AxisVector(repeating: 0) }
    }

    /// True if all three values are equal. The operator is hand-written, because the real-time
    /// checker rejects the synthesized operator.
    @inlinable @inline(__always) @_noLocks
    public static func == (a: AxisVector, b: AxisVector) -> Bool {
        a.yaw == b.yaw && a.roll == b.roll && a.pitch == b.pitch
    }

    /// The sum of two vectors, axis by axis.
    @inlinable @inline(__always) @_noLocks
    public static func + (a: AxisVector, b: AxisVector) -> AxisVector {
        AxisVector(yaw: a.yaw + b.yaw, roll: a.roll + b.roll, pitch: a.pitch + b.pitch)
    }

    /// The difference of two vectors, axis by axis.
    @inlinable @inline(__always) @_noLocks
    public static func - (a: AxisVector, b: AxisVector) -> AxisVector {
        AxisVector(yaw: a.yaw - b.yaw, roll: a.roll - b.roll, pitch: a.pitch - b.pitch)
    }

    /// The product of two vectors, axis by axis.
    @inlinable @inline(__always) @_noLocks
    public static func * (a: AxisVector, b: AxisVector) -> AxisVector {
        AxisVector(yaw: a.yaw * b.yaw, roll: a.roll * b.roll, pitch: a.pitch * b.pitch)
    }

    /// The vector with every axis multiplied by `s`.
    @inlinable @inline(__always) @_noLocks
    public static func * (a: AxisVector, s: Double) -> AxisVector {
        AxisVector(yaw: a.yaw * s, roll: a.roll * s, pitch: a.pitch * s)
    }

    /// The vector of angles, rad, with each value reduced to -π...π.
    var wrapped: AxisVector {
        @_noLocks @inline(always) get {
            isWithin(AxisVector(repeating: .pi))
                ? self
                : AxisVector(
                    yaw: Angle.wrapped(yaw), roll: Angle.wrapped(roll), pitch: Angle.wrapped(pitch))
        }
    }

    /// The vector, with each value limited to ±`limit` of its axis.
    @inlinable @inline(__always) @_noLocks
    public func clamped(to limit: AxisVector) -> AxisVector {
        AxisVector(
            yaw: min(max(yaw, -limit.yaw), limit.yaw),
            roll: min(max(roll, -limit.roll), limit.roll),
            pitch: min(max(pitch, -limit.pitch), limit.pitch))
    }

    /// The vector, with each value limited to the range from `low` to `high` of its axis.
    @inlinable @inline(__always) @_noLocks
    public func clamped(from low: AxisVector, to high: AxisVector) -> AxisVector {
        AxisVector(
            yaw: min(max(yaw, low.yaw), high.yaw), roll: min(max(roll, low.roll), high.roll),
            pitch: min(max(pitch, low.pitch), high.pitch))
    }

    /// True if each value is within ±`limit` of its axis.
    @_noLocks
    func isWithin(_ limit: AxisVector) -> Bool {
        abs(yaw) <= limit.yaw && abs(roll) <= limit.roll && abs(pitch) <= limit.pitch
    }

    /// Square root of the sum of the squares.
    var norm: Double { @_noLocks get { cm_sqrt(yaw * yaw + roll * roll + pitch * pitch) } }

    /// The smallest of the three values.
    var smallest: Double { @_noLocks get { min(yaw, min(roll, pitch)) } }
    /// The largest of the three values.
    var largest: Double { @_noLocks get { max(yaw, max(roll, pitch)) } }

    /// A vector of NaN: the value of every axis is unknown.
    @inlinable
    public static var unknown: AxisVector {
        @_noLocks @inline(__always) get { AxisVector(repeating: .nan) }
    }

    /// This vector, with each NaN replaced by the value of `other`.
    @inlinable @inline(__always) @_noLocks
    public func filled(from other: AxisVector) -> AxisVector {
        AxisVector(
            yaw: yaw.isNaN ? other.yaw : yaw, roll: roll.isNaN ? other.roll : roll,
            pitch: pitch.isNaN ? other.pitch : pitch)
    }

    /// True if no axis is NaN or infinite.
    @inlinable
    public var isFinite: Bool {
        @_noLocks @inline(__always) get { yaw.isFinite && roll.isFinite && pitch.isFinite }
    }
}

extension Vector3 {
    /// The components of this camera-frame vector, assigned to the axes: z to yaw, x to roll, y to
    /// pitch.
    @inlinable
    public var perAxis: AxisVector {
        @_noLocks @inline(__always) get { AxisVector(yaw: z, roll: x, pitch: y) }
    }
}

extension AxisVector {
    /// Product, axis by axis, of a camera-frame vector and one factor for each axis. The factors
    /// are, for example, inertias or gains.
    @_noLocks @_noAllocation
    func times(_ turn: Vector3) -> Vector3 {
        Vector3(roll * turn.x, pitch * turn.y, yaw * turn.z)
    }
}
