/// Yaw angle of the camera relative to the handle's heading, in the mode `panFollow`. Runs on the
/// loop thread only.
struct FollowYawOffset: Sendable, BitwiseCopyable {
    /// Yaw angle relative to the handle's heading, rad, -π...π; positive to the right.
    private(set) var angle = 0.0

    /// Rate at which `angle` changes in this control period, rad/s; 0 at the end of the range.
    private(set) var turning = 0.0

    private var rate = 0.0
    private var validUntil = Instant(nanoseconds: .min)
    private var centres = false

    /// Creates a yaw angle of 0: the camera has the heading of the handle.
    @_noLocks
    init() {}

    /// Sets the angle to `yaw`, rad; NaN does not change the angle. The angle then increases at
    /// `rate`, rad/s, until `validUntil`.
    @_noLocks
    mutating func look(yaw: Double, rate: Double, validUntil: Instant) {
        if yaw.isFinite {
            angle = min(max(yaw, -.pi), .pi)
            centres = true
        }
        self.rate = rate
        self.validUntil = validUntil
    }

    /// Stops the turn that was started by `look`.
    @_noLocks
    mutating func stop() { rate = 0 }

    /// Updates the yaw angle for one control period.
    @_noLocks
    mutating func step(now: Instant, dt: Double) {
        turning = 0
        guard now < validUntil else { return }
        let next = angle + rate * dt
        angle = min(max(next, -.pi), .pi)
        if angle == next { turning = rate }
    }

    /// Limits the yaw angle to the range of the yaw joint; all angles in rad.
    ///
    /// - Parameters:
    ///   - handle: Pose of the handle.
    ///   - followed: Target of the dead zone, rad, which is the reference heading of the yaw angle.
    ///   - range: Ranges of the joints.
    @_noLocks
    mutating func confine(handle: HandlePose, followed: Double, range: JointRange) {
        guard angle != 0 else { return }
        let behind = Angle(radians: handle.angles.yaw).shortestArc(to: .radians(followed)).radians
        let wanted = angle
        angle = min(max(wanted, range.minimum.yaw - behind), range.maximum.yaw - behind)
        if angle != wanted { turning = 0 }
    }

    /// True if an angle was requested since the last call. A requested angle is relative to the
    /// handle's current heading, not to the target of the dead zone. Therefore the caller then
    /// centres the dead zone at the handle's heading.
    @_noLocks
    mutating func takeCentring() -> Bool {
        let result = centres
        centres = false
        return result
    }
}
