/// How far an angle can turn from where it is until its joint is at an end of its range, rad.
public struct TurnRoom: Sendable, BitwiseCopyable {
    /// Towards smaller angles: negative where there is room.
    var down: Double
    /// Towards larger angles: positive where there is room.
    var up: Double

    /// No end in either direction.
    static var endless: TurnRoom {
        @_noLocks @_noAllocation get { TurnRoom(down: -.infinity, up: .infinity) }
    }

    /// A way given modulo one turn, taken the other way round where only that leads there.
    @_noLocks @_noAllocation
    func wayRound(_ way: Double) -> Double {
        let turn = 2 * Double.pi
        if way > up, way - turn >= down { return way - turn }
        if way < down, way + turn <= up { return way + turn }
        return way
    }
}
