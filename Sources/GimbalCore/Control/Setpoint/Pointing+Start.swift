/// Begin of the motion of a set-point that follows the handle.
extension Pointing {
    /// Angles that the mode follows, rad; NaN on axes that do not follow the handle.
    @_noLocks
    func followedAngles(_ handle: HandlePose) -> AxisVector {
        switch mode {
        case .inactive, .locked, .tracking: .unknown
        case .panFollow: AxisVector(yaw: handle.angles.yaw, roll: .nan, pitch: .nan)
        case .fpv: handle.angles
        case .neutral: AxisVector(yaw: handle.angles.yaw, roll: 0, pitch: 0)
        case .retract:
            EulerZXY.angles(
                handle.attitude * JointKinematics.attitude(joints: modes.retractJoints))
        }
    }

    /// Starts the dead zone at the set-point. Yaw and pitch then turn to the followed angles on the
    /// shorter way, or in the opposite direction if a joint would reach the end of its range.
    ///
    /// - Parameters:
    ///   - ahead: Angles that the mode follows, rad; NaN on the other axes.
    ///   - handle: Pose of the handle.
    ///   - range: Ranges of the joints.
    @_noLocks
    mutating func beginFollowing(_ ahead: AxisVector, _ handle: HandlePose, _ range: JointRange) {
        let angles = generator.angles
        let room = limiter.room(handle, range)
        let turns = AxisVector(
            yaw: Self.wholeTurn(room.yaw, from: angles.yaw, to: ahead.yaw), roll: 0,
            pitch: Self.wholeTurn(room.pitch, from: angles.pitch, to: ahead.pitch))
        followed.start(at: (angles + turns).filled(from: angles))
    }

    /// Subtracts a whole turn from a followed yaw or pitch angle that is beyond the range of the
    /// set-point, if the angle is then well inside. Without this correction, the camera would stay
    /// at the end of the range after a whole turn of the handle. The set-point moves to the new
    /// angle on the shorter way, or in the opposite direction if only that direction has enough
    /// room.
    ///
    /// - Parameters:
    ///   - ahead: Angles that the mode follows, rad; NaN on the other axes.
    ///   - offset: Angle of the camera's yaw relative to the followed angle, rad.
    ///   - handle: Pose of the handle.
    ///   - range: Ranges of the joints.
    @_noLocks
    mutating func rewind(
        _ ahead: AxisVector, aside offset: Double = 0, _ handle: HandlePose, _ range: JointRange
    ) {
        let (low, high) = (parameters.minimum, parameters.maximum)
        let wanted = followed.target + ahead * 0 + AxisVector(yaw: offset, roll: 0, pitch: 0)
        let turns = AxisVector(
            yaw: Self.turnInside(wanted.yaw, from: low.yaw, to: high.yaw), roll: 0,
            pitch: Self.turnInside(wanted.pitch, from: low.pitch, to: high.pitch))
        guard !(turns == .zero) else { return }
        let (angles, room) = (generator.angles, limiter.room(handle, range))
        let goal = wanted + turns
        let yaw = room.yaw.way(from: angles.yaw, to: goal.yaw)
        let pitch = room.pitch.way(from: angles.pitch, to: goal.pitch)
        generator.unwrap(
            yaw: turns.yaw == 0 ? 0 : goal.yaw - angles.yaw - yaw,
            pitch: turns.pitch == 0 ? 0 : goal.pitch - angles.pitch - pitch)
        followed.unwrap(turns)
    }

    /// Hysteresis, rad: the angle must be inside its range by this much after the whole turn.
    /// Otherwise, noise could turn the camera from end to end.
    private static var turnHysteresis: Double { @_noLocks get { 10 * .pi / 180 } }

    /// Whole turn, rad, that brings an angle beyond its range inside; 0 if none does.
    private static func turnInside(_ angle: Double, from low: Double, to high: Double) -> Double {
        let turn = 2 * Double.pi
        let margin = min(turnHysteresis, (high - low) / 4)
        if angle > high, angle - turn >= low + margin { return -turn }
        if angle < low, angle + turn <= high - margin { return turn }
        return 0
    }

    /// Determines from the present joint angles in which direction the set-point can turn, because a
    /// hand can have turned the joints while the outputs were off. Pitch moves to its goal, and not on
    /// the shorter way. Therefore a whole turn is added to the pitch angle if only the opposite
    /// direction has enough room. For example, a camera that is folded down on a handle pitched by
    /// -95° has an angle of 175°, and must turn by 185° to level, not by -175°.
    ///
    /// - Parameters:
    ///   - handle: Pose of the handle; nil if the joints are unknown.
    ///   - range: Ranges of the joints.
    @_noLocks
    mutating func measureRoom(_ handle: HandlePose?, _ range: JointRange) {
        measureYawRoom(handle, range)
        guard let handle else { return }
        // A requested angle can be outside the range; pitch then moves to the end of the range.
        let wanted = target.pitch.isNaN ? 0 : target.pitch
        let goal = min(max(wanted, parameters.minimum.pitch), parameters.maximum.pitch)
        let way = goal - generator.angles.pitch
        let turn = limiter.room(handle, range).pitch.reachableTurn(way)
        generator.unwrap(pitch: way - turn)
    }

    /// Determines from the present joint angles by how much yaw can turn in each direction. If
    /// `handle` is nil, the joints are unknown, and yaw can turn in both directions.
    @_noLocks
    mutating func measureYawRoom(_ handle: HandlePose?, _ range: JointRange) {
        generator.yawRoom = limiter.yawRoom
        if let handle { generator.yawRoom = limiter.room(handle, range).yaw }
    }

    /// Angle to add to `angle`, so that the shorter way to `goal` ends where the permitted way ends,
    /// rad: zero, or a whole turn.
    private static func wholeTurn(
        _ room: TurnRange, from angle: Double, to goal: Double
    ) -> Double {
        let way = Angle(radians: angle).shortestArc(to: .radians(goal)).radians
        return room.reachableTurn(way) - way
    }
}
