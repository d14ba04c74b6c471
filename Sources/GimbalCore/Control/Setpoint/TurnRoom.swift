/// Angles by which a set-point angle can turn in each direction until a joint reaches an end of its
/// range, rad.
public struct TurnRoom: Sendable, BitwiseCopyable {
    /// Largest turn towards smaller angles, rad: zero or negative.
    var down: Double
    /// Largest turn towards larger angles, rad: zero or positive.
    var up: Double

    /// The angles for a joint whose range has no ends.
    static var endless: TurnRoom {
        @_noLocks @_noAllocation get { TurnRoom(down: -.infinity, up: .infinity) }
    }

    /// Turn angle to the heading that a turn by `way`, rad, reaches. The result is `way`, or the
    /// turn to the same heading in the opposite direction if only the opposite direction has room.
    @_noLocks @_noAllocation
    func wayRound(_ way: Double) -> Double {
        let turn = 2 * Double.pi
        if way > up, way - turn >= down { return way - turn }
        if way < down, way + turn <= up { return way + turn }
        return way
    }
}
