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

    /// The turn `way`, given modulo one turn, or the turn in the opposite direction if only that
    /// one has room.
    @_noLocks @_noAllocation
    func wayRound(_ way: Double) -> Double {
        let turn = 2 * Double.pi
        if way > up, way - turn >= down { return way - turn }
        if way < down, way + turn <= up { return way + turn }
        return way
    }
}
