/// Generates a smooth set-point within limits for the requests `hold`, `point`, `rate` and
/// `follow`.
///
/// The generator works on the earth-frame angles yaw, roll, pitch (Z-X-Y), each with its own
/// motion. In a `point` request, all axes accelerate, turn at a constant rate and decelerate; they
/// arrive at the same time. In a `rate` request, each axis changes its rate with limited
/// acceleration and jerk. Every request starts from the present angle, rate and acceleration. The
/// acceleration is continuous, and the jerk is limited.
///
/// Runs on the loop thread only, in constant time.
public struct SetpointGenerator: Sendable, BitwiseCopyable {
    /// Limits of the set-point's motion. Changed limits apply from the next request on; an angle
    /// that follows a target adopts a changed rate at once, and the other limits gradually.
    public var parameters: Parameters
    /// True if the dead-man time of the last rate request has passed.
    public private(set) var isExpired = false

    private var point: Command.PointRequest?
    private var rateUntil: Instant?
    private var lowest = AxisVector(repeating: -.infinity)
    private var highest = AxisVector(repeating: .infinity)
    /// Largest return rate to the range of `confine`, rad/s; with 0, the general limits apply.
    private var pushRate = 0.0
    /// Angles by which yaw can still turn to each side until a joint reaches the end of its range.
    var yawRoom = TurnRange.endless
    /// The last set-point, and the angles from which this set-point was computed.
    private var setpoint = Setpoint(attitude: .identity, rate: .zero)
    private var made = (
        angles: AxisVector.unknown, rates: AxisVector.zero, accelerations: AxisVector.zero
    )
    private(set) var yaw = AxisProfile(angle: 0)
    private(set) var roll = AxisProfile(angle: 0)
    private(set) var pitch = AxisProfile(angle: 0)

    /// Creates a generator whose set-point rests at zero angles.
    public init(parameters: Parameters = Parameters()) { self.parameters = parameters }

    /// Creates a generator with the state of a snapshot, for forecasts outside the loop.
    ///
    /// - Parameters:
    ///   - parameters: Limits of the set-point's motion.
    ///   - pointing: Snapshot of the set-point: angles, rates, accelerations, and `yawRoom`.
    public init(parameters: Parameters, at pointing: PointingSnapshot) {
        self.parameters = parameters
        let (angles, rates, accelerations) = (
            pointing.angles, pointing.rates, pointing.accelerations
        )
        yaw = AxisProfile(
            state: AxisState(
                angle: angles.yaw, rate: rates.yaw, acceleration: accelerations.yaw))
        roll = AxisProfile(
            state: AxisState(
                angle: angles.roll, rate: rates.roll, acceleration: accelerations.roll))
        pitch = AxisProfile(
            state: AxisState(
                angle: angles.pitch, rate: rates.pitch, acceleration: accelerations.pitch))
        yawRoom = pointing.yawRoom
    }

    /// Sets the set-point to rest at `attitude` immediately, without limits. The method is called
    /// while the motors' outputs are off.
    ///
    /// - Parameter attitude: Attitude of the camera, body to earth; ignored if not finite.
    @_noLocks @_noAllocation
    public mutating func hold(at attitude: Quaternion) {
        guard attitude.isFinite else { return }
        let angles = EulerZXY.angles(attitude.normalized)
        yaw = AxisProfile(angle: angles.yaw)
        roll = AxisProfile(angle: angles.roll)
        pitch = AxisProfile(angle: angles.pitch)
        point = nil
        rateUntil = nil
        isExpired = false
    }

    /// Adds whole turns, rad, to the angles of a set-point at rest, or before `follow`. This does not
    /// change the attitude, but the direction in which an angle moves to its target.
    @_noLocks @_noAllocation
    mutating func unwrap(yaw yawTurns: Double = 0, pitch pitchTurns: Double) {
        yaw.unwrap(yawTurns)
        pitch.unwrap(pitchTurns)
    }

    /// Continues the present request from the camera's attitude and rate. The method is called when
    /// the motors become able to follow the request.
    ///
    /// - Parameters:
    ///   - attitude: Attitude of the camera, body to earth; ignored if not finite.
    ///   - rate: Rate of the camera, body frame, rad/s; ignored if not finite.
    @_noLocks @_noAllocation
    mutating func resume(from attitude: Quaternion, rate: Vector3) {
        guard attitude.isFinite, rate.isFinite else { return }
        let angles = EulerZXY.angles(attitude.normalized)
        let rates = JointKinematics(joints: angles).jointRates(relativeRate: rate)
            .clamped(to: parameters.maxRate)
        let (heading, tilt) = (yaw.state.angle, pitch.state.angle)
        let turn = Angle(radians: heading).shortestArc(to: .radians(angles.yaw)).radians
        let rise = Angle(radians: tilt).shortestArc(to: .radians(angles.pitch)).radians
        let pace = point?.rate ?? 0
        yaw.resume(
            from: AxisState(angle: heading + turn, rate: rates.yaw),
            limits: limits(.yaw, atMost: pace))
        roll.resume(
            from: AxisState(angle: angles.roll, rate: rates.roll),
            limits: limits(.roll, atMost: pace))
        pitch.resume(
            from: AxisState(angle: tilt + rise, rate: rates.pitch),
            limits: limits(.pitch, atMost: pace))
    }

    /// Turns the set-point to `target`. A request that equals the present request has no effect
    /// while the set-point moves to the goal of this request, or has reached it.
    ///
    /// - Parameters:
    ///   - target: Earth-frame angles, rad; limited to the range. Yaw turns in the shorter
    ///     direction if yaw is unlimited and the joint has enough room. An axis with the value NaN
    ///     continues its motion. If a value is infinite, the whole request is ignored.
    ///   - duration: Duration of the movement, s; 0 means as fast as the limits allow. If the
    ///     limits require a longer duration, the movement takes longer.
    ///   - rate: Largest rate of an axis, rad/s; 0 means that only the general limits apply.
    /// - Returns: The movement's duration, and the limit that determined the duration.
    @_noLocks @_noAllocation @discardableResult
    public mutating func point(target: AxisVector, duration: Double, rate: Double = 0) -> Forecast {
        var forecast = Forecast()
        let isNumber =
            !target.yaw.isInfinite && !target.roll.isInfinite && !target.pitch.isInfinite
        guard isNumber, duration.isFinite, rate.isFinite else { return forecast }
        if isFollowing(target: target, duration: duration, rate: rate) {
            forecast.goal = destination
            forecast.duration = max(yaw.remaining, max(roll.remaining, pitch.remaining))
            return forecast
        }
        point = Command.PointRequest(target: target, duration: duration, rate: rate)
        forecast.goal = goals(for: target)
        forecast.isClamped = !isReached(target, by: forecast.goal)
        forecast.duration = max(duration, 0)
        lengthen(&forecast, by: yaw, to: forecast.goal.yaw, limits(.yaw, atMost: rate))
        lengthen(&forecast, by: roll, to: forecast.goal.roll, limits(.roll, atMost: rate))
        lengthen(&forecast, by: pitch, to: forecast.goal.pitch, limits(.pitch, atMost: rate))
        let goal = forecast.goal
        let seconds = forecast.duration
        if !goal.yaw.isNaN {
            yaw.move(to: goal.yaw, duration: seconds, limits: limits(.yaw, atMost: rate))
        }
        if !goal.roll.isNaN {
            roll.move(to: goal.roll, duration: seconds, limits: limits(.roll, atMost: rate))
        }
        if !goal.pitch.isNaN {
            pitch.move(to: goal.pitch, duration: seconds, limits: limits(.pitch, atMost: rate))
        }
        // An axis without a target can continue a turn; the turn's dead-man time still applies.
        if !(yaw.isTurning || roll.isTurning || pitch.isTurning) {
            rateUntil = nil
            isExpired = false
        }
        return forecast
    }

    /// Turns the set-point at `rates` until `validUntil`, then stops the set-point. A request with
    /// the same rates only changes `validUntil`.
    ///
    /// - Parameters:
    ///   - rates: Rates of the earth-frame angles, rad/s, limited to the largest rates. An axis
    ///     with the value NaN continues its motion. If a value is infinite, the whole request is
    ///     ignored.
    ///   - validUntil: End of the dead-man time. If no other request follows, the set-point is at
    ///     rest at this time.
    @_noLocks @_noAllocation
    public mutating func rate(_ rates: AxisVector, validUntil: Instant) {
        guard !rates.yaw.isInfinite, !rates.roll.isInfinite, !rates.pitch.isInfinite else { return }
        let wanted = rates.clamped(to: parameters.maxRate)
        if !rates.yaw.isNaN { yaw.turn(at: wanted.yaw, limits: limits(.yaw, atMost: 0)) }
        if !rates.roll.isNaN { roll.turn(at: wanted.roll, limits: limits(.roll, atMost: 0)) }
        if !rates.pitch.isNaN { pitch.turn(at: wanted.pitch, limits: limits(.pitch, atMost: 0)) }
        point = nil
        rateUntil = validUntil
        isExpired = false
    }

    /// Starts following `targets`, rad, which move at `rates`, rad/s. If the target of an axis is
    /// NaN, the axis continues its motion. Yaw also follows the motion `yawTurn`, without lag.
    @_noLocks @_noAllocation
    mutating func follow(
        _ targets: AxisVector, rates: AxisVector = .zero, yawTurn: FollowedTurn = .none,
        _ tuning: FollowTuning
    ) {
        if let asked = point?.target, !SetpointGenerator.areDisjoint(asked, targets) { point = nil }
        if !targets.yaw.isNaN {
            yaw.follow(targets.yaw, rate: rates.yaw, turn: yawTurn, tuning, .yaw)
        }
        if !targets.roll.isNaN { roll.follow(targets.roll, rate: rates.roll, tuning, .roll) }
        if !targets.pitch.isNaN { pitch.follow(targets.pitch, rate: rates.pitch, tuning, .pitch) }
    }

    /// Stops the axes that follow a target; the other axes continue their motion.
    @_noLocks @_noAllocation
    mutating func stopFollowing() {
        if yaw.isFollowing { yaw.halt(limits: limits(.yaw, atMost: 0)) }
        if roll.isFollowing { roll.halt(limits: limits(.roll, atMost: 0)) }
        if pitch.isFollowing { pitch.halt(limits: limits(.pitch, atMost: 0)) }
    }

    /// Stops every axis.
    @_noLocks @_noAllocation
    mutating func halt() {
        yaw.halt(limits: limits(.yaw, atMost: 0))
        roll.halt(limits: limits(.roll, atMost: 0))
        pitch.halt(limits: limits(.pitch, atMost: 0))
        point = nil
        rateUntil = nil
    }

    /// Limits the set-point to the given angles, rad, in addition to the parameters' range, until
    /// `unconfine`. A later call can move the limits. A set-point angle outside the new limits
    /// returns to the nearer limit.
    ///
    /// - Parameters:
    ///   - minimum: Smallest angles, rad.
    ///   - maximum: Largest angles, rad.
    ///   - rate: Largest return rate, rad/s; 0 means that only the general limits apply.
    @_noLocks @_noAllocation
    mutating func confine(from minimum: AxisVector, to maximum: AxisVector, atMost rate: Double) {
        lowest = minimum
        highest = maximum
        pushRate = rate
        let outside = angles - angles.clamped(from: minimum, to: maximum)
        if outside.yaw != 0, !yaw.isTurning { yaw.turn(at: 0, limits: limits(.yaw, atMost: 0)) }
        if outside.pitch != 0, !pitch.isTurning {
            pitch.turn(at: 0, limits: limits(.pitch, atMost: 0))
        }
    }

    /// Sets the set-point to the given angles, rad, because the camera cannot turn further (see
    /// `AxisProfile.stop`). NaN does not change an axis.
    @_noLocks @_noAllocation
    mutating func stop(at angles: AxisVector) {
        if !angles.yaw.isNaN { yaw.stop(at: angles.yaw, limits: limits(.yaw, atMost: 0)) }
        if !angles.roll.isNaN { roll.stop(at: angles.roll, limits: limits(.roll, atMost: 0)) }
        if !angles.pitch.isNaN { pitch.stop(at: angles.pitch, limits: limits(.pitch, atMost: 0)) }
    }

    /// True if the requested `point` is already being executed with the goal of the present limits,
    /// and the yaw joint has enough room in the present direction.
    @_noLocks @_noAllocation
    func isFollowing(target: AxisVector, duration: Double, rate: Double) -> Bool {
        guard let point, SetpointGenerator.isSame(point.target, target), point.duration == duration,
            point.rate == rate, isReached(goals(for: target), by: destination)
        else { return false }
        let way = yaw.destination - yaw.state.angle
        return target.yaw.isNaN || yawRoom.reachableTurn(way) == way
    }

    /// Removes the limits of `confine`.
    @_noLocks @_noAllocation
    mutating func unconfine() {
        lowest = AxisVector(repeating: -.infinity)
        highest = AxisVector(repeating: .infinity)
    }

    /// Computes the set-point of the next control period.
    ///
    /// - Parameters:
    ///   - now: Present time, at which a rate request can expire.
    ///   - dt: Seconds since the previous call. If `dt` is outside 0...0.1, the set-point does not
    ///     change in this period.
    /// - Returns: The set-point with its rate and acceleration.
    @_noLocks @_noAllocation
    public mutating func step(now: Instant, dt: Double) -> Setpoint {
        if let rateUntil, !isExpired, rateUntil < now.advanced(bySeconds: stoppingSeconds) {
            isExpired = true
            stopTurning()
        }
        if dt > 0, dt <= TimeLimit.longestPeriod {
            let outside = angles - angles.clamped(from: lowest, to: highest)
            let (pushed, free) = (pushRate, 0.0)
            yaw.step(dt: dt, limits: limits(.yaw, atMost: outside.yaw == 0 ? free : pushed))
            roll.step(dt: dt, limits: limits(.roll, atMost: free))
            pitch.step(dt: dt, limits: limits(.pitch, atMost: outside.pitch == 0 ? free : pushed))
        }
        // If the set-point is at rest, it is not computed again.
        if !(angles == made.angles && rates == made.rates && accelerations == made.accelerations) {
            made = (angles, rates, accelerations)
            setpoint = makeSetpoint()
        }
        return setpoint
    }
}

extension SetpointGenerator {
    private enum Axis {
        case yaw, roll, pitch
    }

    /// Duration of a soft stop of the axes that turn at a rate, s. The soft stop of a rate request
    /// starts early enough to end with the dead-man time.
    private var stoppingSeconds: Double {
        @_noLocks get {
            max(
                yaw.stoppingSeconds(limits: limits(.yaw, atMost: 0)),
                max(
                    roll.stoppingSeconds(limits: limits(.roll, atMost: 0)),
                    pitch.stoppingSeconds(limits: limits(.pitch, atMost: 0))))
        }
    }

    /// The general limits of yaw.
    var yawLimits: AxisLimits { @_noLocks get { limits(.yaw, atMost: 0) } }

    private func limits(_ axis: Axis, atMost fastest: Double) -> AxisLimits {
        let p = parameters
        var result =
            switch axis {
            case .yaw:
                AxisLimits(
                    rate: p.maxRate.yaw, acceleration: p.maxAcceleration.yaw, jerk: p.maxJerk.yaw,
                    minimum: max(p.minimum.yaw, lowest.yaw),
                    maximum: min(p.maximum.yaw, highest.yaw))
            case .roll:
                AxisLimits(
                    rate: p.maxRate.roll, acceleration: p.maxAcceleration.roll,
                    jerk: p.maxJerk.roll, minimum: max(p.minimum.roll, lowest.roll),
                    maximum: min(p.maximum.roll, highest.roll))
            case .pitch:
                AxisLimits(
                    rate: p.maxRate.pitch, acceleration: p.maxAcceleration.pitch,
                    jerk: p.maxJerk.pitch, minimum: max(p.minimum.pitch, lowest.pitch),
                    maximum: min(p.maximum.pitch, highest.pitch))
            }
        if fastest > 0 { result.rate = min(result.rate, fastest) }
        return result
    }

    /// The goals of the axes, limited to the axes' ranges; NaN stays NaN.
    private func goals(for target: AxisVector) -> AxisVector {
        AxisVector(
            yaw: limits(.yaw, atMost: 0).goal(
                target.yaw, from: yaw.state.angle, room: yawRoom),
            roll: target.roll.isNaN ? .nan : limits(.roll, atMost: 0).clamped(target.roll),
            pitch: target.pitch.isNaN ? .nan : limits(.pitch, atMost: 0).clamped(target.pitch))
    }

    /// Largest difference of two equal yaw angles, rad: rounding of whole turns.
    private static var sameAngle: Double { @_noLocks get { 1e-9 } }

    /// True if `goal` equals the requested angles; yaw angles that differ by whole turns are equal.
    private func isReached(_ target: AxisVector, by goal: AxisVector) -> Bool {
        let yawError = Angle(radians: target.yaw).shortestArc(to: .radians(goal.yaw)).radians
        return
            !(abs(yawError) > Self.sameAngle || target.roll != goal.roll && !target.roll.isNaN
            || target.pitch != goal.pitch && !target.pitch.isNaN)
    }

    private func lengthen(
        _ forecast: inout Forecast, by profile: AxisProfile, to goal: Double, _ limits: AxisLimits
    ) {
        guard !goal.isNaN else { return }
        let plan = profile.quickest(to: goal, limits: limits)
        guard plan.duration > forecast.duration else { return }
        forecast.duration = plan.duration
        forecast.limit = plan.limit
    }

    /// True if each axis is NaN in at least one of the two vectors.
    private static func areDisjoint(_ a: AxisVector, _ b: AxisVector) -> Bool {
        (a.yaw.isNaN || b.yaw.isNaN) && (a.roll.isNaN || b.roll.isNaN)
            && (a.pitch.isNaN || b.pitch.isNaN)
    }

    /// True if two vectors are equal; NaN equals NaN.
    private static func isSame(_ a: AxisVector, _ b: AxisVector) -> Bool {
        (a.yaw == b.yaw || a.yaw.isNaN && b.yaw.isNaN)
            && (a.roll == b.roll || a.roll.isNaN && b.roll.isNaN)
            && (a.pitch == b.pitch || a.pitch.isNaN && b.pitch.isNaN)
    }

    /// Stops the axes that turn at a rate; the other axes continue their motion.
    @_noLocks @_noAllocation
    mutating func stopTurning() {
        rateUntil = nil
        if yaw.isTurning { yaw.halt(limits: limits(.yaw, atMost: 0)) }
        if roll.isTurning { roll.halt(limits: limits(.roll, atMost: 0)) }
        if pitch.isTurning { pitch.halt(limits: limits(.pitch, atMost: 0)) }
    }

    /// Converts Z-X-Y angles, rates and accelerations into attitude, body rate and body
    /// acceleration.
    private func makeSetpoint() -> Setpoint {
        let kinematics = JointKinematics(joints: angles)
        let rate = kinematics.relativeRate(jointRates: rates)
        let direct = kinematics.relativeRate(jointRates: accelerations)
        // The angular acceleration has a term for the rotation of the axes themselves: yaw turns
        // the roll and pitch axes, and roll turns the pitch axis.
        let outer = kinematics.yawAxis * rates.yaw
        let middle = kinematics.rollAxis * rates.roll
        let inner = kinematics.pitchAxis * rates.pitch
        let turning = outer.cross(middle) + outer.cross(inner) + middle.cross(inner)
        return Setpoint(
            attitude: EulerZXY.quaternion(angles), rate: rate, acceleration: direct + turning)
    }
}
