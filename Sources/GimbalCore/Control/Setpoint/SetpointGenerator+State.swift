/// State and destination of the set-point.
extension SetpointGenerator {
    /// The present set-point angles, rad.
    public var angles: AxisVector {
        @_noLocks @inline(__always) get {
            AxisVector(yaw: yaw.state.angle, roll: roll.state.angle, pitch: pitch.state.angle)
        }
    }

    /// The present rates of the set-point angles, rad/s.
    public var rates: AxisVector {
        @_noLocks @inline(__always) get {
            AxisVector(yaw: yaw.state.rate, roll: roll.state.rate, pitch: pitch.state.rate)
        }
    }

    /// The present accelerations of the set-point angles, rad/s².
    public var accelerations: AxisVector {
        @_noLocks @inline(__always) get {
            AxisVector(
                yaw: yaw.state.acceleration, roll: roll.state.acceleration,
                pitch: pitch.state.acceleration)
        }
    }

    /// Angles at which the set-point's present motion ends, rad.
    public var destination: AxisVector {
        @_noLocks @inline(__always) get {
            AxisVector(yaw: yaw.destination, roll: roll.destination, pitch: pitch.destination)
        }
    }

    /// Angles from the set-point to the target that it follows, rad; zero on axes that do not
    /// follow a target.
    public var followError: AxisVector {
        @_noLocks @inline(__always) get {
            AxisVector(yaw: yaw.followError, roll: roll.followError, pitch: pitch.followError)
        }
    }

    /// Mask of the axes that turn at a requested rate, or decelerate after such a turn: zero on
    /// these axes, NaN on the others.
    var turning: AxisVector {
        @_noLocks @inline(always) get {
            AxisVector(
                yaw: yaw.isTurning ? 0 : .nan, roll: roll.isTurning ? 0 : .nan,
                pitch: pitch.isTurning ? 0 : .nan)
        }
    }

    /// Copy of the rates of a request, with NaN for each axis that has the rate 0 and does not turn
    /// at a rate. Such an axis continues its motion; otherwise a turn of yaw would end a movement of
    /// roll that levels the horizon.
    @_noLocks
    func changes(by rates: AxisVector) -> AxisVector {
        AxisVector(
            yaw: rates.yaw == 0 && !yaw.isTurning ? .nan : rates.yaw,
            roll: rates.roll == 0 && !roll.isTurning ? .nan : rates.roll,
            pitch: rates.pitch == 0 && !pitch.isTurning ? .nan : rates.pitch)
    }

    /// True if the set-point moves or is about to move because of a request.
    public var isMoving: Bool {
        @_noLocks @inline(__always) get { yaw.isMoving || roll.isMoving || pitch.isMoving }
    }
}
