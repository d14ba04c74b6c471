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

    /// Turn angle to the heading at the angle `way`, rad. The result is `way` if the joint can turn
    /// this far. If the joint can reach this heading only in the opposite direction, the result is
    /// `way` plus or minus 2π.
    @_noLocks @_noAllocation
    func wayRound(_ way: Double) -> Double {
        let turn = 2 * Double.pi
        if way > up, way - turn >= down { return way - turn }
        if way < down, way + turn <= up { return way + turn }
        return way
    }
}
