/// Yaw angle of the camera relative to the handle's heading, in the mode `panFollow`.
///
/// The angle moves within the limits of the set-point's motion, as in a `point` request. The
/// smoothing and the rate of the follow preset apply only to the handle's motion. Runs on the loop
/// thread only.
struct FollowYawOffset: Sendable, BitwiseCopyable {
    /// Angle that is added to the handle's heading before the smoothing, rad: the lag that the
    /// smoothing of an announced turn of the handle will cause.
    private(set) var lead = 0.0
    /// True if no angle has been requested since the mode was entered.
    private(set) var isUnused = true

    /// The angle, rad, positive to the right, with its rate and acceleration. Requests are limited
    /// to -π...π; the camera's angle at the first request can be larger.
    private var profile = AxisProfile(angle: 0)
    /// Requested angle whose motion has not started yet, rad; NaN without a request.
    private var wanted = Double.nan
    /// Largest rate of the motion to the requested angle, rad/s; 0 means that only the general
    /// limits apply.
    private var pace = 0.0
    /// Rate at which the angle changes until `validUntil`, rad/s.
    private var rate = 0.0
    private var validUntil = Instant(nanoseconds: .min)
    /// True if an angle was requested since the last turn or halt. The camera returns to this angle
    /// when the handle permits, so the angle remains if the handle moves the ends of the range.
    private var isHeld = false
    private var centres = false
    private var halts = false
    /// True if `profile` has the camera's motion, and no motion of its own yet.
    private var isTakenOver = false

    /// Creates a yaw angle of 0: the camera has the heading of the handle.
    @_noLocks
    init() {}

    /// Requests a motion of the angle.
    ///
    /// - Parameters:
    ///   - yaw: Angle, rad. NaN requests no angle.
    ///   - rate: With an angle, the largest rate of the motion to this angle, rad/s; 0 means that
    ///     only the general limits apply. Without an angle, the rate of a turn until `validUntil`.
    ///   - lead: Angle by which the camera leads the handle, rad. NaN does not change the lead.
    ///   - validUntil: End of the dead-man time of a turn.
    @_noLocks
    mutating func look(yaw: Double, rate: Double, lead: Double, validUntil: Instant) {
        if yaw.isFinite || lead.isFinite && lead != self.lead { centres = true }
        if lead.isFinite { self.lead = lead }
        if yaw.isFinite {
            wanted = min(max(yaw, -.pi), .pi)
            pace = abs(rate)
            self.rate = 0
            isHeld = true
        } else {
            if rate != 0 {
                wanted = .nan
                isHeld = false
            }
            self.rate = rate
            self.validUntil = validUntil
        }
    }

    /// Stops the turn that was started by `look`; a motion to an angle continues.
    @_noLocks
    mutating func stopTurning() { rate = 0 }

    /// Stops every motion that was started by `look`.
    @_noLocks
    mutating func halt() {
        rate = 0
        wanted = .nan
        isHeld = false
        halts = true
    }

    /// Sets the angle's state to the camera's present motion, before the motion to the first
    /// requested angle. The camera then moves from its present direction to this angle, and not
    /// first to the handle's heading.
    ///
    /// - Parameter state: Angle from the handle's heading to the camera's heading, rad, with the
    ///   camera's rate and acceleration.
    @_noLocks
    mutating func begin(at state: AxisState) {
        profile = AxisProfile(state: state)
        isUnused = false
        isTakenOver = true
    }

    /// Updates the yaw angle for one control period.
    ///
    /// - Parameters:
    ///   - now: Present time.
    ///   - dt: Length of the period, s. If `dt` is outside 0...0.1, the angle does not change.
    ///   - limits: Limits of the motion, and the range of the angle. An angle that was requested
    ///     within an earlier range can be outside; `JointLimiter` then limits the set-point.
    /// - Returns: The angle's motion in this period.
    @_noLocks
    mutating func step(now: Instant, dt: Double, limits: AxisLimits) -> FollowedTurn {
        if halts { profile.halt(limits: limits) }
        halts = false
        start(limits)
        // As in every turn at a rate, the soft stop ends with the dead-man time.
        if validUntil <= now.advanced(bySeconds: profile.stoppingSeconds(limits: limits)) {
            rate = 0
        }
        // The set-point does not exceed the largest rate. If this angle changed faster, the camera
        // would continue to turn after the end of the request.
        let most = limits.rate
        let turn = min(max(rate, -most), most)
        if turn != 0 || profile.isTurning { profile.turn(at: turn, limits: limits) }
        let inside = limits.clamped(profile.state.angle)
        // Without a request, the angle remains 0, even if the joint's range does not contain 0.
        if inside != profile.state.angle, profile.state.angle != 0, !isHeld {
            profile.stop(at: inside, limits: limits)
        }
        let before = profile.state
        if dt > 0, dt <= TimeLimit.longestPeriod { profile.step(dt: dt, limits: limits) }
        let change = profile.state.acceleration - before.acceleration
        return FollowedTurn(
            state: before, jerk: dt > 0 ? change / dt : 0,
            rest: profile.destination - before.angle)
    }

    /// Starts the motion to the requested angle. A request that equals the present motion has no
    /// effect.
    private mutating func start(_ limits: AxisLimits) {
        guard !wanted.isNaN else { return }
        let goal = limits.clamped(wanted)
        wanted = .nan
        guard goal != profile.destination || profile.isTurning || isTakenOver else { return }
        isTakenOver = false
        var limits = limits
        if pace > 0 { limits.rate = min(limits.rate, pace) }
        profile.move(to: goal, duration: 0, limits: limits)
    }

    /// True if an angle or a different lead was requested since the last call. A requested angle and
    /// a lead are relative to the handle's current heading, not to the target of the dead zone.
    /// Therefore the caller then centres the dead zone at the handle's heading.
    @_noLocks
    mutating func takeCentring() -> Bool {
        let result = centres
        centres = false
        return result
    }

    /// True if the motion to a requested angle has not started yet.
    var isWanted: Bool { @_noLocks get { !wanted.isNaN } }
}

/// Requested motion of a followed target in one control period, in addition to the target's own
/// motion. The set-point follows this motion exactly.
struct FollowedTurn: Sendable, BitwiseCopyable {
    /// Angle, rate and acceleration at the beginning of the period.
    var state = AxisState(angle: 0, rate: 0)
    /// Mean jerk in the period, rad/s³.
    var jerk = 0.0
    /// Remaining angle of the motion, rad.
    var rest = 0.0

    /// No motion.
    static var none: FollowedTurn { @_noLocks @_noAllocation get { FollowedTurn() } }

    @_noLocks @_noAllocation
    init() {}

    @_noLocks @_noAllocation
    init(state: AxisState, jerk: Double, rest: Double) {
        self.state = state
        self.jerk = jerk
        self.rest = rest
    }
}
