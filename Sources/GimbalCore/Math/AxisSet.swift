/// A set of gimbal axes. This type implements its own set operations, because the real-time checker
/// rejects generic ones (see `Conditions`).
public struct AxisSet: Hashable, Sendable, BitwiseCopyable {
    /// The axes as bits: bit 0 is yaw, bit 1 is roll, bit 2 is pitch.
    public var rawValue: UInt8

    /// Creates the set of all axes for which `contains` returns true.
    @inlinable @_noLocks
    public init(yaw: Bool, roll: Bool, pitch: Bool) {
        rawValue = (yaw ? 1 : 0) | (roll ? 2 : 0) | (pitch ? 4 : 0)
    }

    /// Creates a set of one axis.
    @inlinable @_noLocks
    public init(_ axis: GimbalAxis) { rawValue = 1 << axis.rawValue }

    /// The empty set.
    @inlinable
    public static var none: AxisSet {
        @_noLocks get { AxisSet(yaw: false, roll: false, pitch: false) }
    }

    /// True if the set is empty.
    @inlinable
    public var isEmpty: Bool { @_noLocks get { rawValue == 0 } }

    /// True if the set contains `axis`.
    @inlinable @_noLocks
    public func contains(_ axis: GimbalAxis) -> Bool { rawValue & 1 << axis.rawValue != 0 }

    /// Adds the axes of `other`.
    @inlinable @_noLocks
    public mutating func insert(_ other: AxisSet) { rawValue |= other.rawValue }

    /// The axes of this set that are not in `other`.
    @inlinable @_noLocks
    public func subtracting(_ other: AxisSet) -> AxisSet {
        var rest = self
        rest.rawValue &= ~other.rawValue
        return rest
    }
}

extension AxisVector {
    /// The axes on which two vectors have different values.
    @_noLocks
    func differing(from other: AxisVector) -> AxisSet {
        AxisSet(yaw: yaw != other.yaw, roll: roll != other.roll, pitch: pitch != other.pitch)
    }

    /// This vector, with the values of `others` on the axes outside `axes`.
    @_noLocks
    func replacing(_ others: AxisVector, outside axes: AxisSet) -> AxisVector {
        AxisVector(
            yaw: axes.contains(.yaw) ? yaw : others.yaw,
            roll: axes.contains(.roll) ? roll : others.roll,
            pitch: axes.contains(.pitch) ? pitch : others.pitch)
    }
}
