/// Distances of an angle until its joint reaches an end of its range, rad.
public struct TurnRoom: Sendable, BitwiseCopyable {
    /// Room towards smaller angles, rad: zero or negative.
    var down: Double
    /// Room towards larger angles, rad: zero or positive.
    var up: Double

    /// No end in either direction.
    static var endless: TurnRoom {
        @_noLocks @_noAllocation get { TurnRoom(down: -.infinity, up: .infinity) }
    }

    /// The turn by `way`, rad, modulo one turn. If only the opposite direction has room, the turn
    /// in the opposite direction.
    @_noLocks @_noAllocation
    func wayRound(_ way: Double) -> Double {
        let turn = 2 * Double.pi
        if way > up, way - turn >= down { return way - turn }
        if way < down, way + turn <= up { return way + turn }
        return way
    }
}
