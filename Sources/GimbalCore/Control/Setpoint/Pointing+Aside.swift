extension Pointing {
    /// Updates the dead zone and the yaw angle relative to the handle's heading, in the mode
    /// `panFollow`.
    ///
    /// - Parameters:
    ///   - handle: Pose of the handle.
    ///   - range: Ranges of the joints, which limit the yaw angle.
    ///   - now: Present time.
    ///   - dt: Length of the control period, s.
    /// - Returns: Motion of the yaw angle in this period.
    @_noLocks
    mutating func turnAside(
        _ handle: HandlePose, _ range: JointRange, now: Instant, dt: Double
    ) -> FollowedTurn {
        let heading = handle.angles.yaw
        if aside.takeCentring() { followed.centre(yaw: heading) }
        if aside.isUnused, aside.isWanted {
            let camera = generator.yaw.state
            let room = limiter.room(handle, range).yaw
            let way = room.way(from: camera.angle, to: heading)
            aside.begin(
                at: AxisState(
                    angle: -way, rate: camera.rate, acceleration: camera.acceleration))
            followed.start(yaw: camera.angle + way)
        }
        followed.update(
            AxisVector(yaw: heading, roll: .nan, pitch: .nan),
            width: AxisVector(repeating: modes.panDeadZone))
        let behind = Angle(radians: heading).shortestArc(to: .radians(followed.target.yaw)).radians
        var limits = generator.yawLimits
        limits.minimum = max(range.minimum.yaw - behind, -.pi)
        limits.maximum = min(range.maximum.yaw - behind, .pi)
        return aside.step(now: now, dt: dt, limits: limits)
    }
}
