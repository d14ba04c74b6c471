/// An angle, stored in radians. Degrees exist only at the edges, and this is the edge.
public struct Angle: Hashable, Sendable, BitwiseCopyable {
    /// The value in radians, any number of turns.
    public var radians: Double

    /// The angle of this many radians.
    @inlinable @_noLocks
    public init(radians: Double) { self.radians = radians }

    /// The angle of `value` degrees.
    @inlinable @_noLocks
    public static func degrees(_ value: Double) -> Angle { Angle(radians: value * (.pi / 180)) }

    /// The angle of `value` radians.
    @inlinable @_noLocks
    public static func radians(_ value: Double) -> Angle { Angle(radians: value) }

    /// The value in degrees.
    @inlinable
    public var degrees: Double { @_noLocks get { radians * (180 / .pi) } }

    /// The turn that leads from here to `target` the short way round, in (-π, π]. The one place
    /// that wraps.
    @inlinable @_noLocks
    public func shortestArc(to target: Angle) -> Angle {
        var turn = (target.radians - radians).truncatingRemainder(dividingBy: 2 * .pi)
        if turn > .pi { turn -= 2 * .pi }
        if turn <= -.pi { turn += 2 * .pi }
        return Angle(radians: turn)
    }
}
