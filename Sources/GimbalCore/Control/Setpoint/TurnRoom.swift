/// Angles by which a set-point angle can still turn in each direction until a joint reaches the end
/// of its range, rad.
public struct TurnRoom: Sendable, BitwiseCopyable {
    /// Largest turn towards smaller angles, rad: zero or negative.
    var down: Double
    /// Largest turn towards larger angles, rad: zero or positive.
    var up: Double

    /// Angles of a joint whose range has no ends.
    static var endless: TurnRoom {
        @_noLocks @_noAllocation get { TurnRoom(down: -.infinity, up: .infinity) }
    }

    /// Turn angle to the same heading as a turn by `way`, rad. The result is `way`; or, if only the
    /// opposite direction has room, the turn to the same heading in that direction.
    @_noLocks @_noAllocation
    func wayRound(_ way: Double) -> Double {
        let turn = 2 * Double.pi
        if way > up, way - turn >= down { return way - turn }
        if way < down, way + turn <= up { return way + turn }
        return way
    }
}
