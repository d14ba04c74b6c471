/// Angles by which a set-point angle can turn in each direction until a joint reaches an end of its
/// range, rad.
public struct TurnRoom: Sendable, BitwiseCopyable {
    /// Largest turn towards smaller angles, rad: zero or negative.
    var down: Double
    /// Largest turn towards larger angles, rad: zero or positive.
    var up: Double

    /// Room of a joint without an end in either direction.
    static var endless: TurnRoom {
        @_noLocks @_noAllocation get { TurnRoom(down: -.infinity, up: .infinity) }
    }

    /// The turn by `way`, rad, or if only the opposite direction has room, the turn in the opposite
    /// direction to the same heading.
    @_noLocks @_noAllocation
    func wayRound(_ way: Double) -> Double {
        let turn = 2 * Double.pi
        if way > up, way - turn >= down { return way - turn }
        if way < down, way + turn <= up { return way + turn }
        return way
    }
}
