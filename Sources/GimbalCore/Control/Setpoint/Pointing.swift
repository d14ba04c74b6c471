/// Pointing state: mode, requested direction of the camera, and the set-point that moves to this
/// direction.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct Pointing: Sendable, BitwiseCopyable {
    /// Present mode of the set-point.
    private(set) var mode: Mode
    /// Number of mode requests since the start of the program.
    private(set) var modeRequests: UInt64 = 0
    /// Time at which the present rate command expires; nil without a rate command.
    private(set) var rateValidUntil: Instant?
    /// True if the mode is `locked` instead of the boot mode, because the joint angles are unknown.
    private(set) var isBootModeMissing = false
    /// True if the mode needs the joint angles, but the joint angles are unknown.
    private(set) var isBlind = false
    /// True if the joints have reached their rest pose. The outputs can then be switched off.
    private(set) var isRetracted = false
    /// Parameters of the modes.
    var modes: ModeParameters
    /// Limits of the set-point's motion.
    var parameters: SetpointGenerator.Parameters {
        @_noLocks @inline(always) get { generator.parameters }
        @_noLocks set { generator.parameters = newValue }
    }
    /// Joints at the ends of their ranges, which prevent the camera from reaching its set-point.
    var atLimit: AxisSet { @_noLocks @inline(always) get { limiter.atEnd } }

    /// True if the set-point moves or is about to move because of a request.
    var isMoving: Bool { @_noLocks @inline(always) get { generator.isMoving } }

    var generator: SetpointGenerator
    private var isBootModeJudged = false
    private(set) var limiter = JointLimiter()
    /// Angles of the handle after the dead zone, for the modes that follow the handle.
    var followed = DeadZone()
    /// Yaw angle of the camera relative to the handle's heading in `panFollow`.
    var aside = FollowYawOffset()
    /// Target angles of the last `point` request, rad. The target is NaN on an axis for which no
    /// target was requested since the last rate command, or since the outputs were switched off.
    var target = AxisVector.unknown
    /// Mask of the axes that the mode, not a request, moves to level: NaN on these axes, zero on the
    /// others.
    var levelling = AxisVector.zero
    /// Angles to which a hand has turned the set-point, rad; NaN on the other axes.
    var guided = AxisVector.unknown
    private var tracking = Tracking()
    /// Distance of the joints from their rest pose, rad, smoothed over a second.
    private var retractError = AxisVector.zero
    /// Duration for which `retractError` has been small, s.
    private var retractedSeconds = 0.0

    /// Creates the state at zero angles in the given mode.
    init(
        mode: Mode, parameters: SetpointGenerator.Parameters,
        modes: ModeParameters = ModeParameters()
    ) {
        self.mode = mode
        self.modes = modes
        generator = SetpointGenerator(parameters: parameters)
    }

    /// Values of the set-point and the mode for the snapshot.
    @_noLocks @inline(always)
    func snapshot(now: Instant) -> PointingSnapshot {
        var result = PointingSnapshot()
        result.angles = generator.angles
        result.rates = generator.rates
        result.accelerations = generator.accelerations
        result.target = generator.destination
        result.followError = generator.followError
        result.yawRoom = generator.yawRoom
        if let until = tracking.until { result.trackingSeconds = until.seconds(since: now) }
        return result
    }

    // MARK: Requests

    /// Changes the mode on request; every request for `tracking` restarts its dead-man time.
    @_noLocks
    mutating func change(to wanted: Mode, now: Instant) {
        modeRequests &+= 1
        fall(to: wanted)
        if case .tracking = mode { tracking.until = now.advanced(bySeconds: modes.trackingTimeout) }
    }

    /// Changes the mode. A change that no client has requested, because the supply is empty, does not
    /// count as a request: the `Commander` adopts the mode only if both count the same requests.
    @_noLocks
    mutating func fall(to forced: Mode) {
        isBootModeMissing = false
        if forced.differs(from: mode) { enter(forced) }
    }

    /// Checks the boot mode when the first sample has arrived and the available sensors are known.
    /// If the boot mode needs joint angles, but no sensor provides them, the mode changes to
    /// `locked`.
    @_noLocks
    mutating func judgeBootMode(showsJoints: Bool) {
        guard !isBootModeJudged else { return }
        isBootModeJudged = true
        guard modeRequests == 0, mode.needsJoints, !showsJoints else { return }
        isBootModeMissing = true
        enter(.locked)
    }

    /// Turns the camera to earth-frame angles, rad. An axis continues its motion if its angle is
    /// NaN or if the mode controls the axis. While the outputs are off, the request is stored until
    /// the outputs are switched on (see `takeOver`).
    @_noLocks
    mutating func point(_ wanted: Command.PointRequest, isEnabled: Bool) {
        let own = wanted.target * mode.commandable
        let (duration, rate) = (wanted.duration, wanted.rate)
        rateValidUntil = nil
        target = own.filled(from: target)
        levelling = (own * 0).filled(from: levelling)
        guard isEnabled else { return }
        if !generator.isFollowing(target: own, duration: duration, rate: rate) { unwind(own) }
        generator.point(target: own, duration: duration, rate: rate)
    }

    /// Turns the earth-frame angles at `rate`, rad/s, until `validUntil`. Angles that the mode
    /// controls are not affected. If all rates are zero, every other axis stops, except an axis that
    /// the mode moves to level.
    @_noLocks
    mutating func turn(at rate: AxisVector, validUntil: Instant) {
        let changes = generator.changes(by: rate)
        let own = (rate == .zero ? changes.filled(from: levelling) : changes) * mode.commandable
        rateValidUntil = rate == .zero ? nil : validUntil
        target = .unknown
        if rate == .zero { aside.halt() } else { aside.stopTurning() }
        unwind(own.turning)
        generator.rate(own, validUntil: validUntil)
    }

    /// Turns the camera relative to the handle's heading (see `FollowYawOffset.look`). Only
    /// `panFollow` uses the request.
    @_noLocks
    mutating func lookAside(yaw: Double, rate: Double, lead: Double, validUntil: Instant) {
        guard case .panFollow = mode else { return }
        if yaw.isNaN, rate != 0 {
            rateValidUntil = validUntil
            unwind(AxisVector(yaw: 0, roll: .nan, pitch: .nan))
        }
        aside.look(yaw: yaw, rate: rate, lead: lead, validUntil: validUntil)
    }

    /// Turns the camera at pan and tilt rates, rad/s, right and down positive; NaN does not change
    /// the present rate. The request has an effect only in `tracking`.
    @_noLocks
    mutating func track(pan: Double, tilt: Double, validUntil: Instant) {
        guard case .tracking = mode else { return }
        tracking.until = validUntil
        if tracking.isAiming {
            tracking.endAim()
            generator.stopFollowing()
        }
        let limit = AxisVector(repeating: modes.trackingMaxRate)
        let rates = AxisVector(yaw: pan, roll: .nan, pitch: -tilt).clamped(to: limit)
        unwind(rates.turning)
        generator.rate(rates, validUntil: validUntil)
    }

    /// Points the camera at a moving target. The request has an effect only in `tracking`.
    @_noLocks
    mutating func aim(_ aim: Aim, validUntil: Instant) {
        guard case .tracking = mode, aim.target.yaw.isFinite, aim.target.pitch.isFinite else {
            return
        }
        tracking.until = validUntil
        tracking.begin(aim, from: generator.angles)
    }

    // MARK: Outputs

    /// Initialises the set-point before the motors' outputs are switched on. The set-point starts
    /// at the camera's attitude, and moves to the requested angles, or to level. The rate of the
    /// set-point is limited to the smallest rate limit of the modes that follow the handle.
    @_noLocks
    mutating func takeOver(from attitude: Quaternion, _ handle: HandlePose?, _ range: JointRange) {
        generator.hold(at: attitude)
        rateValidUntil = nil
        limiter.reset()
        measureRoom(handle, range)
        followed.start(at: generator.angles)
        switch mode {
        case .inactive, .locked, .panFollow:
            let heading = generator.angles.yaw
            levelling = target * 0
            target = target.filled(from: AxisVector(yaw: heading, roll: 0, pitch: 0))
            generator.point(
                target: target * mode.pointedAtStart, duration: 0, rate: modes.follow.slowest)
        case .tracking:
            beginTracking()
        case .fpv, .neutral, .retract: break
        }
    }

    /// Continues a stored request when the motors can follow a set-point. The set-point starts with
    /// the camera's attitude (body to earth) and rate (body frame, rad/s).
    @_noLocks
    mutating func resume(from attitude: Quaternion, rate: Vector3) {
        generator.resume(from: attitude, rate: rate)
        limiter.reset()
        followed.start(at: generator.angles)
    }

    /// Discards the requested heading before the outputs are switched off. While the outputs are
    /// off, a person can turn the camera by hand. When the outputs are switched on, the new heading
    /// becomes the requested heading.
    @_noLocks
    mutating func letGo() {
        target.yaw = .nan
        tracking.letGo()
    }

    /// Holds the set-point at the camera's attitude, body to earth, while the outputs are off.
    @_noLocks
    mutating func idle(at attitude: Quaternion, _ handle: HandlePose?, _ range: JointRange) {
        generator.hold(at: attitude)
        limiter.reset()
        measureYawRoom(handle, range)
    }

    /// Computes the set-point of the next control period.
    ///
    /// - Parameters:
    ///   - now: Present time, for the check whether a rate request has expired.
    ///   - dt: Seconds since the previous call.
    ///   - handle: Pose of the handle; nil if the joints are unknown.
    ///   - range: Ranges of the joints.
    /// - Returns: The new set-point, limited to attitudes that the joints can reach.
    @_noLocks
    mutating func step(
        now: Instant, dt: Double, handle: HandlePose?, range: JointRange
    ) -> Setpoint {
        isBlind = mode.needsJoints && handle == nil
        if case .tracking = mode {
            tracking.confine(&generator, handle, modes)
            tracking.step(&generator, now: now, dt: dt, fastest: modes.trackingMaxRate)
        }
        if let handle {
            follow(handle, range, now: now, dt: dt)
        } else if !tracking.isAiming {
            generator.stopFollowing()
        }
        let before = generator.angles
        let setpoint = generator.step(now: now, dt: dt)
        let reachable = reach(setpoint, dt: dt, handle: handle, range: range)
        guard let handle else { return reachable }
        let turning = generator.turning
        // If the handle is tilted, a rotation about one axis also moves the joints of other axes.
        if !handle.isBelieved {
            let blocked = limiter.blocked(
                turning, from: before, to: generator.angles, handle: handle, range: range)
            generator.stop(at: blocked + before)
        }
        unwind(turning)
        return reachable
    }

    /// Set-point while the motors cannot follow requests yet. The set-point rests at `attitude`; a
    /// request remains stored.
    ///
    /// - Parameters:
    ///   - attitude: The attitude to hold.
    ///   - dt: Seconds since the previous call.
    ///   - handle: Pose of the handle; nil if the joints are unknown.
    ///   - range: Ranges of the joints.
    /// - Returns: The new set-point, limited to attitudes that the joints can reach.
    @_noLocks
    mutating func hold(
        _ attitude: Quaternion, dt: Double, handle: HandlePose?, range: JointRange
    ) -> Setpoint {
        reach(
            Setpoint(attitude: attitude, rate: .zero), dt: dt, handle: handle, range: range)
    }

    /// The set-point nearest to `setpoint` that the joints can reach; `setpoint` itself if the
    /// joints are unknown.
    @_noLocks
    private mutating func reach(
        _ setpoint: Setpoint, dt: Double, handle: HandlePose?, range: JointRange
    ) -> Setpoint {
        defer { generator.yawRoom = limiter.yawRoom }
        guard let handle else {
            limiter.lose()
            return setpoint
        }
        // For motors without encoders, the rate and deceleration of the joints are not limited
        // here. With limits on joint rate and deceleration, a slipping rotor would stop the camera
        // while the joints return to their range.
        let pace =
            handle.isBelieved
            ? JointLimiter.Pace(rate: .infinity, braking: .infinity)
            : JointLimiter.Pace(
                rate: modes.follow.slowest + handle.rate.norm,
                braking: generator.parameters.maxAcceleration.smallest)
        return limiter.limit(setpoint, handle: handle, range: range, pace: pace, dt: dt)
    }

    /// Resets the set-point to `JointLimiter.stopped` if joints are at the ends of their ranges. An
    /// axis is not reset if its value in `axes` is NaN. The next request then starts at the angle
    /// `stopped`, and leaves the end of the range immediately.
    @_noLocks
    private mutating func unwind(_ axes: AxisVector) {
        let stopped = limiter.stopped + axes * 0
        generator.stop(at: stopped)
        limiter.forgetTurns(stopped)
        generator.yawRoom = limiter.yawRoom
    }
}

// MARK: Modes
extension Pointing {
    /// Enters a mode. The set-point continues from its present angle, rate and acceleration: axes
    /// that the old mode moved are stopped, and the set-point moves to the goals of the new mode.
    private mutating func enter(_ wanted: Mode) {
        let old = mode
        mode = wanted
        rateValidUntil = nil
        tracking.until = nil
        tracking.endAim()
        isRetracted = false
        retractError = AxisVector(repeating: .pi)
        retractedSeconds = 0
        unwind(AxisVector(yaw: 0, roll: .nan, pitch: 0))
        aside = FollowYawOffset()
        generator.stopFollowing()
        generator.stopTurning()
        generator.unconfine()
        followed.start(at: generator.angles)
        // The handle has turned the camera away from an earlier heading.
        if case .panFollow = old { target.yaw = .nan }
        switch wanted {
        case .inactive, .fpv, .neutral, .retract:
            target = .unknown
        case .locked, .panFollow:
            level(after: old)
        case .tracking:
            target = .unknown
            generator.halt()
            beginTracking()
        }
    }

    /// Ends `tracking` after its dead-man time: the camera stops, and the mode becomes `locked`.
    @_noLocks
    mutating func endTracking(now: Instant) {
        guard let until = tracking.until, until < now else { return }
        enter(.locked)
        rateValidUntil = until
    }

    private mutating func follow(
        _ handle: HandlePose, _ range: JointRange, now: Instant, dt: Double
    ) {
        guard mode.needsJoints else { return }
        let ahead = followedAngles(handle)
        if followed.isNew { beginFollowing(ahead, handle, range) }
        switch mode {
        case .inactive, .locked, .tracking: break
        case .panFollow:
            let turn = turnAside(handle, range, now: now, dt: dt)
            rewind(ahead, aside: turn.state.angle + aside.lead, handle, range)
            var aim = followed.target * mode.followed
            aim.yaw += aside.lead
            generator.follow(aim, yawTurn: turn, modes.follow)
        case .fpv:
            followed.update(ahead, width: modes.fpvDeadZone)
            rewind(ahead, handle, range)
            generator.follow(followed.target, modes.follow)
        case .neutral:
            followed.update(ahead, width: .zero)
            rewind(ahead, handle, range)
            generator.follow(followed.target, modes.follow)
        case .retract:
            followed.update(ahead, width: .zero)
            generator.follow(followed.target, modes.retractTuning)
            noteRetraction(handle, dt: dt)
        }
    }

    /// Largest error of a joint at its rest pose, rad: 1°.
    private static var retractTolerance: Double { @_noLocks get { .pi / 180 } }
    /// Time constant of the mean error, s: the joints of a walking person's gimbal swing.
    private static var retractMean: Double { @_noLocks get { 1 } }
    /// Duration within the error after which the joints are at rest, s.
    private static var retractSeconds: Double { @_noLocks get { 0.5 } }

    /// Sets `isRetracted` when the joints have been within 1° of their rest pose for half a second.
    private mutating func noteRetraction(_ handle: HandlePose, dt: Double) {
        // An endless joint can have turned, and a joint at ±180° has two angles.
        let error = (handle.joints - modes.retractJoints).wrapped
        retractError = retractError + (error - retractError) * (dt / (Self.retractMean + dt))
        let mean = retractError
        let largest = max(abs(mean.yaw), max(abs(mean.roll), abs(mean.pitch)))
        retractedSeconds = largest < Self.retractTolerance ? retractedSeconds + dt : 0
        if retractedSeconds > Self.retractSeconds { isRetracted = true }
    }
}
