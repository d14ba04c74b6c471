/// How far to the side of the handle's heading the camera looks while it follows that. Loop thread
/// only.
struct AsideYaw: Sendable, BitwiseCopyable {
    /// Right positive, rad, -π...π.
    private(set) var angle = 0.0

    private var rate = 0.0
    private var validUntil = Instant(nanoseconds: .min)
    private var centres = false

    /// Straight ahead.
    @_noLocks
    init() {}

    /// Looks to `yaw`, rad, NaN: from where it is; turns further at `rate`, rad/s, until
    /// `validUntil`.
    @_noLocks
    mutating func look(yaw: Double, rate: Double, validUntil: Instant) {
        if yaw.isFinite {
            angle = min(max(yaw, -.pi), .pi)
            centres = true
        }
        self.rate = rate
        self.validUntil = validUntil
    }

    /// Turns no further.
    @_noLocks
    mutating func stop() { rate = 0 }

    /// One period.
    @_noLocks
    mutating func step(now: Instant, dt: Double) {
        guard now < validUntil else { return }
        angle = min(max(angle + rate * dt, -.pi), .pi)
    }

    /// Looks no farther to the side than the joint turns; all in radians.
    ///
    /// - Parameters:
    ///   - handle: Where the handle is.
    ///   - followed: The heading that is followed, beside which this looks.
    ///   - range: How far the joints turn.
    @_noLocks
    mutating func confine(handle: HandlePose, followed: Double, range: JointRange) {
        guard angle != 0 else { return }
        let behind = Angle(radians: handle.angles.yaw).shortestArc(to: .radians(followed)).radians
        angle = min(max(angle, range.minimum.yaw - behind), range.maximum.yaw - behind)
    }

    /// Whether an angle was asked for since the last call: it counts from the handle, not from the
    /// edge of its dead zone.
    @_noLocks
    mutating func takeCentring() -> Bool {
        let result = centres
        centres = false
        return result
    }
}
