/// Where the camera is to look: the mode, what was asked for within it, and the set-point that
/// leads there.
///
/// Loop thread only; constant time, no allocation.
struct Pointing: Sendable, BitwiseCopyable {
    /// What the gimbal is asked to do.
    private(set) var mode: Mode
    /// How many requests have set the mode since the start.
    private(set) var modeRequests: UInt64 = 0
    /// When the rate command in force ends; nil without one.
    private(set) var rateValidUntil: Instant?
    /// Whether the boot mode lacked its sensor, and nobody has asked for another mode since.
    private(set) var isBootModeMissing = false
    /// Whether the mode needs the joints, and nothing shows them.
    private(set) var isBlind = false
    /// Whether the joints have reached their pose of rest, and the outputs are to go off.
    private(set) var isRetracted = false
    /// What the modes do.
    var modes: ModeParameters
    /// Limits of the set-point's motion.
    var parameters: SetpointGenerator.Parameters {
        @_noLocks @inline(__always) get { generator.parameters }
        @_noLocks set { generator.parameters = newValue }
    }
    /// The joints whose range holds the camera back from the set-point.
    var atLimit: AxisSet { @_noLocks @inline(__always) get { limiter.atEnd } }

    /// Whether the set-point is on its way, or about to be.
    var isMoving: Bool { @_noLocks @inline(__always) get { generator.isMoving } }

    private var isBootModeJudged = false
    private var generator: SetpointGenerator
    private var limiter = JointLimiter()
    /// The handle's angles, less the dead zone: what `panFollow`, `fpv`, `neutral` and `retract`
    /// follow.
    private var followed = DeadZone()
    /// How far to the side of the handle `panFollow` looks.
    private var aside = AsideYaw()
    /// Where the last `point` leads; NaN on an axis that nobody has pointed since a rate command or
    /// since the outputs went off for good.
    private var target = AxisVector.unknown
    /// When `tracking` ends by itself.
    private var trackingUntil: Instant?
    /// What pan counts from in `tracking`, rad: the handle's heading, or where nothing shows that,
    /// the heading at which tracking first began since the outputs came on.
    private var trackingHeading = Double.nan
    /// How far the joints are from their pose of rest, rad, smoothed over a second: a walking hand
    /// shakes it.
    private var retractError = AxisVector.zero
    /// How long that has been small, s.
    private var retractedSeconds = 0.0

    /// At zero angles, in this mode.
    init(
        mode: Mode, parameters: SetpointGenerator.Parameters,
        modes: ModeParameters = ModeParameters()
    ) {
        self.mode = mode
        self.modes = modes
        generator = SetpointGenerator(parameters: parameters)
    }

    /// What a viewer may want to know.
    @_noLocks @inline(__always)
    func snapshot(now: Instant) -> PointingSnapshot {
        var result = PointingSnapshot()
        result.angles = generator.angles
        result.rates = generator.rates
        result.accelerations = generator.accelerations
        result.target = generator.destination
        result.followError = generator.followError
        result.yawRoom = generator.yawRoom
        if let trackingUntil { result.trackingSeconds = trackingUntil.seconds(since: now) }
        return result
    }

    // MARK: Requests

    /// Changes the mode because somebody asked for it; asking for the mode that is in force changes
    /// nothing.
    @_noLocks
    mutating func change(to wanted: Mode, now: Instant) {
        modeRequests &+= 1
        isBootModeMissing = false
        if wanted.differs(from: mode) { enter(wanted, now: now) }
    }

    /// With the first sample it is known what shows the joints: a boot mode that lacks them gives
    /// way to `locked`.
    @_noLocks
    mutating func judgeBootMode(showsJoints: Bool, now: Instant) {
        guard !isBootModeJudged else { return }
        isBootModeJudged = true
        guard modeRequests == 0, mode.needsJoints, !showsJoints else { return }
        isBootModeMissing = true
        enter(.locked, now: now)
    }

    /// Turns to earth-frame angles, rad; an axis that is NaN, or that the mode moves, goes on with
    /// what it does. While the outputs are off the request waits for them, see `takeOver`.
    @_noLocks
    mutating func point(to wanted: AxisVector, duration: Double, rate: Double, isEnabled: Bool) {
        let own = wanted * mode.commandable
        rateValidUntil = nil
        target = own.filled(from: target)
        guard isEnabled else { return }
        if !generator.isFollowing(target: own, duration: duration, rate: rate) { unwind(own) }
        generator.point(target: own, duration: duration, rate: rate)
    }

    /// Turns at rates of the earth-frame angles, rad/s, until `validUntil`; axes that the mode
    /// moves are left to it.
    @_noLocks
    mutating func turn(at rate: AxisVector, validUntil: Instant) {
        let own = rate * mode.commandable
        rateValidUntil = rate == .zero ? nil : validUntil
        target = .unknown
        aside.stop()
        unwind(own.turning)
        generator.rate(own, validUntil: validUntil)
    }

    /// Looks to the side of where the handle points, rad, NaN keeps it, and turns further at
    /// `rate`, rad/s, until `validUntil`. Outside `panFollow` nothing moves.
    @_noLocks
    mutating func lookAside(yaw: Double, rate: Double, validUntil: Instant) {
        guard case .panFollow = mode else { return }
        if rate != 0 { rateValidUntil = validUntil }
        aside.look(yaw: yaw, rate: rate, validUntil: validUntil)
    }

    /// Pan and tilt of whoever tracks a person, rad/s, right and down positive; NaN keeps the one
    /// in force. Outside `tracking` nothing moves.
    @_noLocks
    mutating func track(pan: Double, tilt: Double, validUntil: Instant) {
        guard case .tracking = mode else { return }
        trackingUntil = validUntil
        let limit = AxisVector(repeating: modes.trackingMaxRate)
        let rates = AxisVector(yaw: pan, roll: .nan, pitch: -tilt).clamped(to: limit)
        unwind(rates.turning)
        generator.rate(rates, validUntil: validUntil)
    }

    // MARK: Outputs

    /// Outputs are about to come on: start from where the camera points, and go to where it was
    /// told to, or level, no faster than the modes follow.
    @_noLocks
    mutating func takeOver(from attitude: Quaternion) {
        generator.hold(at: attitude)
        rateValidUntil = nil
        limiter.reset()
        followed.start(at: generator.angles)
        switch mode {
        case .inactive, .locked, .panFollow:
            let heading = generator.angles.yaw
            target = target.filled(from: AxisVector(yaw: heading, roll: 0, pitch: 0))
            generator.point(
                target: target * mode.pointedAtStart, duration: 0, rate: modes.follow.slowest)
        case .tracking:
            beginTracking()
        case .fpv, .neutral, .retract:
            break
        }
    }

    /// The motors can follow a set-point from now on: go on with what was asked for, from where the
    /// camera points and as fast as it turns (body frame, rad/s).
    @_noLocks
    mutating func resume(from attitude: Quaternion, rate: Vector3) {
        generator.resume(from: attitude, rate: rate)
        limiter.reset()
        followed.start(at: generator.angles)
    }

    /// The outputs have gone off. Whoever holds a camera that has gone limp turns it; the heading
    /// to return to is where it points then.
    @_noLocks
    mutating func letGo() {
        target.yaw = .nan
        trackingHeading = .nan
    }

    /// One period with the outputs off: the set-point is where the camera points.
    @_noLocks
    mutating func idle(at attitude: Quaternion) -> Setpoint {
        generator.hold(at: attitude)
        limiter.reset()
        return Setpoint(attitude: attitude, rate: .zero)
    }

    /// The set-point one period later.
    ///
    /// - Parameters:
    ///   - now: For the dead-man of rates.
    ///   - dt: Seconds since the previous call.
    ///   - handle: Where the handle is; nil where nothing shows the joints.
    ///   - range: How far the joints turn.
    /// - Returns: What the joints can reach of it.
    @_noLocks
    mutating func step(
        now: Instant, dt: Double, handle: HandlePose?, range: JointRange
    ) -> Setpoint {
        isBlind = mode.needsJoints && handle == nil
        aside.step(now: now, dt: dt)
        if case .tracking = mode { confineTracking(handle) }
        if let handle {
            aside.confine(handle: handle, followed: followed.target.yaw, range: range)
            follow(handle, dt: dt)
        } else {
            generator.stopFollowing()
        }
        let before = generator.angles
        let setpoint = generator.step(now: now, dt: dt)
        let reachable = reach(setpoint, dt: dt, handle: handle, range: range)
        guard let handle else { return reachable }
        let turning = generator.turning
        unwind(turning)
        // In a tilted hand a turn moves more joints than the one of its name.
        if limiter.isGoingBeyond, !handle.isBelieved { generator.stop(at: turning + before) }
        return reachable
    }

    /// One period in which the motors cannot follow requests yet: stands still, and waits with what
    /// was asked for.
    ///
    /// - Parameters:
    ///   - attitude: What is held.
    ///   - dt: Seconds since the previous call.
    ///   - handle: Where the handle is; nil where nothing shows the joints.
    ///   - range: How far the joints turn.
    /// - Returns: What the joints can reach of it.
    @_noLocks
    mutating func hold(
        _ attitude: Quaternion, dt: Double, handle: HandlePose?, range: JointRange
    ) -> Setpoint {
        reach(
            Setpoint(attitude: attitude, rate: .zero), dt: dt, handle: handle, range: range)
    }

    /// The set-point nearest to `setpoint` that the joints can reach; `setpoint` itself where
    /// nothing shows the joints.
    @_noLocks
    private mutating func reach(
        _ setpoint: Setpoint, dt: Double, handle: HandlePose?, range: JointRange
    ) -> Setpoint {
        defer { generator.yawRoom = limiter.yawRoom }
        guard let handle else {
            limiter.lose()
            return setpoint
        }
        // A rotor that slips would otherwise stop the camera on its way back.
        let pace =
            handle.isBelieved
            ? JointLimiter.Pace(rate: .infinity, braking: .infinity)
            : JointLimiter.Pace(
                rate: modes.follow.slowest + handle.rate.norm,
                braking: generator.parameters.maxAcceleration.smallest)
        return limiter.limit(setpoint, handle: handle, range: range, pace: pace, dt: dt)
    }

    /// Where a joint is at its end, the set-point is brought back to what the camera still answers
    /// to, on the axes that are numbers here: a turn ends there, and what is asked for next begins
    /// there. The rest waits for the hand to allow it.
    @_noLocks
    private mutating func unwind(_ axes: AxisVector) {
        let stopped = limiter.stopped + axes * 0
        generator.stop(at: stopped)
        limiter.forgetTurns(stopped)
        generator.yawRoom = limiter.yawRoom
    }
}

// What each mode does.
extension Pointing {
    /// The set-point goes on from its present angle, rate and acceleration; what the old mode moved
    /// comes to rest, and what the new one wants is headed for.
    private mutating func enter(_ wanted: Mode, now: Instant) {
        let old = mode
        mode = wanted
        rateValidUntil = nil
        trackingUntil = nil
        isRetracted = false
        retractError = AxisVector(repeating: .pi)
        retractedSeconds = 0
        unwind(AxisVector(yaw: 0, roll: .nan, pitch: 0))
        aside = AsideYaw()
        generator.stopFollowing()
        generator.stopTurning()
        generator.unconfine()
        followed.start(at: generator.angles)
        switch wanted {
        case .inactive, .fpv, .neutral, .retract:
            target = .unknown
        case .locked, .panFollow:
            level(after: old)
        case .tracking:
            target = .unknown
            generator.halt()
            trackingUntil = now.advanced(bySeconds: modes.trackingTimeout)
            beginTracking()
        }
    }

    /// Modes that tilt the horizon with the handle leave it tilted: level it, no faster than it was
    /// followed. A camera that comes from its pose of rest looks ahead as well.
    private mutating func level(after old: Mode) {
        switch old {
        case .inactive, .locked, .panFollow: break
        case .fpv, .tracking, .neutral:
            point(to: AxisVector(yaw: .nan, roll: 0, pitch: .nan), at: modes.follow.maxRate.roll)
        case .retract:
            point(to: AxisVector(yaw: .nan, roll: 0, pitch: 0), at: modes.follow.maxRate.pitch)
        }
    }

    private mutating func point(to angles: AxisVector, at rate: Double) {
        generator.point(target: angles, duration: 0, rate: rate)
    }

    /// Level, and then as the person who is tracked moves.
    private mutating func beginTracking() {
        point(to: AxisVector(yaw: .nan, roll: 0, pitch: .nan), at: modes.follow.maxRate.roll)
    }

    /// Pan counts from the handle, tilt from level. Both stay where they are however often tracking
    /// begins anew, so that no number of beginnings adds up to more than one range.
    private mutating func confineTracking(_ handle: HandlePose?) {
        let heading = generator.angles.yaw
        if let handle {
            let away = Angle(radians: heading).shortestArc(to: .radians(handle.angles.yaw))
            trackingHeading = heading + away.radians
        } else if trackingHeading.isNaN {
            trackingHeading = heading
        }
        let centre = AxisVector(yaw: trackingHeading, roll: 0, pitch: 0)
        var range = modes.trackingRange
        range.roll = .infinity
        generator.confine(
            from: centre - range, to: centre + range, atMost: modes.trackingMaxRate)
    }

    /// After the dead-man's time of silence the camera stands still, and the mode is `locked`.
    @_noLocks
    mutating func endTracking(now: Instant) {
        guard let until = trackingUntil, until < now else { return }
        enter(.locked, now: now)
        rateValidUntil = until
    }

    private mutating func follow(_ handle: HandlePose, dt: Double) {
        switch mode {
        case .inactive, .locked, .tracking:
            return
        case .panFollow:
            let heading = AxisVector(yaw: handle.angles.yaw, roll: .nan, pitch: .nan)
            if aside.takeCentring() { followed.start(at: handle.angles) }
            followed.update(heading, width: AxisVector(repeating: modes.panDeadZone))
            var aim = followed.target * mode.followed
            aim.yaw += aside.angle
            generator.follow(aim, modes.follow)
        case .fpv:
            followed.update(handle.angles, width: modes.fpvDeadZone)
            generator.follow(followed.target, modes.follow)
        case .neutral:
            let ahead = AxisVector(yaw: handle.angles.yaw, roll: 0, pitch: 0)
            followed.update(ahead, width: .zero)
            generator.follow(followed.target, modes.follow)
        case .retract:
            let pose = handle.attitude * JointKinematics.attitude(joints: modes.retractJoints)
            followed.update(EulerZXY.angles(pose), width: .zero)
            generator.follow(followed.target, modes.retractTuning)
            noteRetraction(handle, dt: dt)
        }
    }

    /// The joints count as retracted when they have been within a degree of their pose for half a
    /// second.
    private mutating func noteRetraction(_ handle: HandlePose, dt: Double) {
        let error = handle.joints - modes.retractJoints
        retractError = retractError + (error - retractError) * (dt / (1 + dt))
        let mean = retractError
        let largest = max(abs(mean.yaw), max(abs(mean.roll), abs(mean.pitch)))
        retractedSeconds = largest < .pi / 180 ? retractedSeconds + dt : 0
        if retractedSeconds > 0.5 { isRetracted = true }
    }
}

extension AxisVector {
    /// The axes that are neither zero nor NaN; NaN on the others.
    fileprivate var turning: AxisVector {
        @_noLocks @inline(__always) get {
            AxisVector(
                yaw: yaw == 0 ? .nan : yaw, roll: roll == 0 ? .nan : roll,
                pitch: pitch == 0 ? .nan : pitch)
        }
    }
}
