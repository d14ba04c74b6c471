/// Some of the gimbal's axes. The set operations are written out, as in `Conditions`.
public struct AxisSet: Hashable, Sendable, BitwiseCopyable {
    /// Bit 0 yaw, bit 1 roll, bit 2 pitch.
    public var rawValue: UInt8

    /// Each axis for which it is true.
    @inlinable @_noLocks
    public init(yaw: Bool, roll: Bool, pitch: Bool) {
        rawValue = (yaw ? 1 : 0) | (roll ? 2 : 0) | (pitch ? 4 : 0)
    }

    /// One axis.
    @_noLocks
    init(_ axis: GimbalAxis) { rawValue = 1 << axis.rawValue }

    /// None.
    @inlinable
    public static var none: AxisSet {
        @_noLocks get { AxisSet(yaw: false, roll: false, pitch: false) }
    }

    /// Whether no axis is in it.
    @inlinable
    public var isEmpty: Bool { @_noLocks get { rawValue == 0 } }

    /// Whether this axis is in it.
    @inlinable @_noLocks
    public func contains(_ axis: GimbalAxis) -> Bool { rawValue & 1 << axis.rawValue != 0 }

    /// Adds `other`.
    @inlinable @_noLocks
    public mutating func insert(_ other: AxisSet) { rawValue |= other.rawValue }

    /// What is left without `other`.
    @_noLocks
    func subtracting(_ other: AxisSet) -> AxisSet {
        var rest = self
        rest.rawValue &= ~other.rawValue
        return rest
    }
}

extension AxisVector {
    /// The axes on which this differs from `other`.
    @_noLocks
    func differing(from other: AxisVector) -> AxisSet {
        AxisSet(yaw: yaw != other.yaw, roll: roll != other.roll, pitch: pitch != other.pitch)
    }
}
