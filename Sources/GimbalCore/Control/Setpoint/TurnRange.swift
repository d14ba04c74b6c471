/// Angles by which a set-point angle can still turn in each direction until a joint reaches the end
/// of its range, rad.
public struct TurnRange: Sendable, BitwiseCopyable {
    /// Largest turn towards smaller angles, rad: zero or negative.
    var down: Double
    /// Largest turn towards larger angles, rad: zero or positive.
    var up: Double

    /// Value for a joint without range limits.
    static var endless: TurnRange {
        @_noLocks @_noAllocation get { TurnRange(down: -.infinity, up: .infinity) }
    }

    /// Angle of a turn that ends at the same heading as a turn by `way`, rad. The result is `way`,
    /// unless only the opposite direction has enough room; the turn then goes in the opposite
    /// direction.
    @_noLocks @_noAllocation
    func reachableTurn(_ way: Double) -> Double {
        let turn = 2 * Double.pi
        if way > up, way - turn >= down { return way - turn }
        if way < down, way + turn <= up { return way + turn }
        return way
    }

    /// Angle of the turn from `angle` to the direction of `goal`, rad: the shorter way, or the
    /// opposite direction if only that direction has enough room.
    @_noLocks @_noAllocation
    func way(from angle: Double, to goal: Double) -> Double {
        reachableTurn(Angle(radians: angle).shortestArc(to: .radians(goal)).radians)
    }
}
