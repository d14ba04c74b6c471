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
