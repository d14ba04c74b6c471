import CMathShim

/// An angle, stored in radians, with conversions from and to degrees.
public struct Angle: Hashable, Sendable, BitwiseCopyable {
    /// The angle in radians, not wrapped to one turn.
    public var radians: Double

    /// Creates an angle from radians.
    @inlinable @_noLocks
    public init(radians: Double) { self.radians = radians }

    /// An angle in degrees.
    @inlinable @_noLocks
    public static func degrees(_ value: Double) -> Angle { Angle(radians: value * (.pi / 180)) }

    /// An angle in radians.
    @inlinable @_noLocks
    public static func radians(_ value: Double) -> Angle { Angle(radians: value) }

    /// The angle in degrees.
    @inlinable
    public var degrees: Double { @_noLocks get { radians * (180 / .pi) } }

    /// The shortest turn from this angle to `target`, wrapped to (-π, π].
    @inlinable @_noLocks
    public func shortestArc(to target: Angle) -> Angle {
        var turn = (target.radians - radians).truncatingRemainder(dividingBy: 2 * .pi)
        if turn > .pi { turn -= 2 * .pi }
        if turn <= -.pi { turn += 2 * .pi }
        return Angle(radians: turn)
    }

    /// Wraps an angle in rad to [-π, π).
    @_noLocks @_noAllocation
    public static func wrapped(_ radians: Double) -> Double {
        radians - 2 * .pi * cm_floor(radians / (2 * .pi) + 0.5)
    }
}
