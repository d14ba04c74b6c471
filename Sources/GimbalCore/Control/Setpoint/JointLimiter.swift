internal import CMathShim

/// Limits a set-point to the range of the joints. The handle's attitude must be known. Within two
/// degrees of the end of a range, the camera gradually lags behind the set-point and reaches the
/// end without a shock.
///
/// A requested angle can be beyond the range. If the request is a level horizon or a held heading,
/// the camera returns to the requested angle as soon as the handle's attitude permits. A turn at a
/// rate has no target angle to which the camera could return. Far beyond the end of the range, a
/// change of the requested angle does not move the camera. Therefore the caller can reset the
/// requested angle to `stopped` during a turn, or when a new request arrives, without a visible
/// effect. A turn in the opposite direction then leaves the end of the range immediately.
///
/// Runs on the loop thread only, in constant time.
struct JointLimiter: Sendable, BitwiseCopyable {
    /// Half-width of the zone around the end of a wide range, rad. In this zone, the camera lags
    /// behind the set-point.
    private static var knee: Double { @_noLocks get { 2 * .pi / 180 } }

    /// Smallest half-width of the zone, rad, because `SoftLimit` divides by it.
    private static var leastKnee: Double { @_noLocks get { 1e-6 } }

    /// Half-width of the zone around the ends of each joint's range, rad. The zones at the two ends
    /// of a narrow range must not overlap.
    private static func knees(of range: JointRange) -> AxisVector {
        ((range.maximum - range.minimum) * 0.5).clamped(
            from: AxisVector(repeating: leastKnee), to: AxisVector(repeating: knee))
    }

    /// Limits of the joints' motion at the ends of their ranges. The limits are needed if the
    /// handle is tilted. When the requested roll angle passes ±90°, the nearest reachable angles
    /// can jump from one end of the range to the other.
    struct Pace: Sendable, BitwiseCopyable {
        /// Largest rate of a joint at the end of its range, rad/s.
        var rate: Double
        /// Deceleration of a joint before the end of its range, rad/s².
        var braking: Double
    }

    /// Largest rates, rad/s, from which a joint can still stop within `distance`, rad, with the
    /// deceleration `braking`, rad/s². The rates are at least 0.1 rad/s; otherwise the joint would
    /// not reach the end of its range.
    private static func stoppingRate(
        within distance: AxisVector, braking: Double
    ) -> AxisVector {
        AxisVector(
            yaw: stoppingRate(within: distance.yaw, braking: braking),
            roll: stoppingRate(within: distance.roll, braking: braking),
            pitch: stoppingRate(within: distance.pitch, braking: braking))
    }

    /// Smallest permitted rate near the end of a range, rad/s, so that the camera can reach the
    /// end.
    private static var leastRate: Double { @_noLocks get { 0.1 } }

    private static func stoppingRate(within distance: Double, braking: Double) -> Double {
        max(cm_sqrt(2 * braking * abs(distance)), leastRate)
    }

    /// Threshold for a jump of a joint angle in one control period, rad. A real joint does not move
    /// this far in one period.
    private static var leap: Double { @_noLocks get { 3 * .pi / 180 } }

    /// Threshold for a jump of a joint's rate in one control period, rad/s.
    private static var jolt: Double { @_noLocks get { 0.5 } }

    /// Tolerance within which the joints count as having arrived at the reachable angles, rad.
    private static var near: Double { @_noLocks get { 0.05 * .pi / 180 } }

    /// Joints whose requested angle in the last set-point is at or beyond the end of their range.
    private(set) var atEnd = AxisSet.none
    /// Requested angles, clamped to the limit beyond which a request does not move the camera
    /// (Euler sequence Z-X-Y, rad); NaN on axes that are not at the end of their range.
    private(set) var stopped = AxisVector.unknown
    /// True if the requested angle of a joint is so far beyond the end of its range that the request
    /// differs from the clamped angles (`answered`).
    private var isBeyond = false
    /// Angles by which yaw can still turn from the requested angle until a joint reaches the end of
    /// its range.
    private(set) var yawRoom = TurnRange.endless
    /// Joint angles of the requested set-point, rad; NaN until the first set-point. The angles are
    /// continuous over whole turns. Therefore a camera at one end of its range does not swing to
    /// the other end when that end becomes nearer.
    private var wanted = AxisVector.unknown
    /// Requested joint angles, rad, clamped to the joints' ranges plus `knees` at each end. Beyond
    /// these limits, a change of the request does not move the camera.
    private var answered = AxisVector.unknown
    /// Joint angles of the last returned set-point, rad; NaN until the first set-point.
    private var given = AxisVector.unknown
    /// Joint rates of the last returned set-point, rad/s.
    private var speed = AxisVector.zero
    /// True while the returned joint angles move to the reachable angles.
    private var isCatchingUp = false
    /// Mean interval between two calls, s; 0 before the first call.
    private var period = 0.0

    /// Weight of a new interval in the mean interval `period`.
    private static var fresh: Double { @_noLocks get { 0.01 } }

    @_noLocks
    init() {}

    /// Resets the limiter, including the number of whole turns in the joint angles.
    @_noLocks
    mutating func reset() {
        wanted = .unknown
        given = .unknown
        speed = .zero
        isCatchingUp = false
        lose()
    }

    /// Updates the limiter for a control period in which the handle's attitude is unknown. Without
    /// the handle's attitude, the set-point is not limited. The limiter stores the number of whole
    /// turns of each joint until the attitude is known again.
    @_noLocks
    mutating func lose() {
        atEnd = .none
        stopped = .unknown
        isBeyond = false
        yawRoom = .endless
    }

    /// Replaces the requested joint angle by the clamped angle `answered`, on each axis whose value
    /// in `axes` is not NaN. The caller has reset the set-point to `stopped` on these axes.
    @_noLocks
    mutating func forgetTurns(_ axes: AxisVector) {
        if !axes.yaw.isNaN {
            yawRoom.down += wanted.yaw - answered.yaw
            yawRoom.up += wanted.yaw - answered.yaw
            wanted.yaw = answered.yaw
        }
        if !axes.roll.isNaN { wanted.roll = answered.roll }
        if !axes.pitch.isNaN { wanted.pitch = answered.pitch }
    }

    /// Angles by which yaw and pitch can still turn from the requested joint angles until a joint
    /// reaches the end of its range. Before the first set-point, the angles are measured from the
    /// present joint angles.
    @_noLocks
    func room(_ handle: HandlePose, _ range: JointRange) -> (yaw: TurnRange, pitch: TurnRange) {
        let joints = wanted.filled(from: handle.joints)
        let (down, up) = (range.minimum - joints, range.maximum - joints)
        return (TurnRange(down: down.yaw, up: up.yaw), TurnRange(down: down.pitch, up: up.pitch))
    }

    /// Slope of the soft limit below which a joint counts as at its end: the joint follows at half
    /// of the requested rate.
    private static var endSlope: Double { @_noLocks get { 0.5 } }

    /// Reachable set-point; equal to the requested set-point if no joint is near an end of its
    /// range.
    ///
    /// - Parameters:
    ///   - setpoint: The requested set-point.
    ///   - handle: Pose of the handle.
    ///   - range: Ranges of the joints.
    ///   - pace: Limits of the joints' motion at the ends of their ranges.
    ///   - dt: Time since the previous call, s.
    /// - Returns: The limited set-point.
    @_noLocks
    mutating func limit(
        _ setpoint: Setpoint, handle: HandlePose, range: JointRange, pace: Pace, dt: Double
    ) -> Setpoint {
        let relative = handle.attitude.conjugate * setpoint.attitude
        let asked = JointKinematics.joints(attitude: relative)
        wanted = JointLimiter.nearest(asked, to: wanted.filled(from: handle.joints))
        let knees = JointLimiter.knees(of: range)
        let low = range.minimum
        let high = range.maximum
        answered = wanted.clamped(from: low - knees, to: high + knees)
        yawRoom = TurnRange(down: low.yaw - wanted.yaw, up: high.yaw - wanted.yaw)
        let beyond = wanted - answered
        isBeyond = JointLimiter.distance(wanted, answered) > 0
        stopped = .unknown
        if isBeyond {
            let own = AxisVector(
                yaw: beyond.yaw == 0 ? .nan : 0, roll: beyond.roll == 0 ? .nan : 0,
                pitch: beyond.pitch == 0 ? .nan : 0)
            let nearest = handle.attitude * JointKinematics.attitude(joints: answered)
            stopped = EulerZXY.angles(nearest) + own
        }
        let yaw = SoftLimit(wanted.yaw, from: low.yaw, to: high.yaw, knee: knees.yaw)
        let roll = SoftLimit(wanted.roll, from: low.roll, to: high.roll, knee: knees.roll)
        let pitch = SoftLimit(wanted.pitch, from: low.pitch, to: high.pitch, knee: knees.pitch)
        let steepest = min(yaw.slope, min(roll.slope, pitch.slope))
        atEnd = AxisSet(
            yaw: yaw.slope <= Self.endSlope, roll: roll.slope <= Self.endSlope,
            pitch: pitch.slope <= Self.endSlope)
        let nearest = AxisVector(yaw: yaw.angle, roll: roll.angle, pitch: pitch.angle)
        let before = given.filled(from: nearest)
        let step = nearest - before
        let towards = AxisVector(
            yaw: step.yaw < 0 ? low.yaw : high.yaw, roll: step.roll < 0 ? low.roll : high.roll,
            pitch: step.pitch < 0 ? low.pitch : high.pitch)
        let braking = JointLimiter.stoppingRate(within: towards - before, braking: pace.braking)
        let slopes = AxisVector(yaw: yaw.slope, roll: roll.slope, pitch: pitch.slope)
        // Rate of the camera due to the handle's motion. The joints must produce the remaining part
        // of the set-point's rate.
        let carriedHere = setpoint.attitude.conjugate.rotate(handle.rate)
        let rates = JointKinematics(joints: asked).jointRates(
            relativeRate: setpoint.rate - carriedHere)
        let turning = rates * slopes
        // The tick after a late tick is short. The limit on the joints' motion is computed with at
        // least the mean period, so a short tick does not reduce the limit.
        period = period > 0 ? period + (dt - period) * JointLimiter.fresh : dt
        let time = max(dt, period)
        // In the first control period, jumps cannot be detected.
        if !given.isFinite { speed = turning }
        given = before
        let isLeap =
            !step.isWithin(AxisVector(repeating: JointLimiter.leap))
            || steepest < 1
                && !(turning - speed).isWithin(AxisVector(repeating: JointLimiter.jolt))
        guard steepest < 1 || isCatchingUp || !step.isWithin(braking * time) || isLeap else {
            given = nearest
            speed = turning
            return setpoint
        }
        let most = braking.clamped(to: AxisVector(repeating: pace.rate))
        if isLeap || !step.isWithin(most * time) { isCatchingUp = true }
        if isCatchingUp, pace.rate.isFinite {
            catchUp(step, turning, most: most, pace: pace, dt: dt)
            let inside = given.clamped(from: low, to: high)
            speed = AxisVector(
                yaw: inside.yaw == given.yaw ? speed.yaw : 0,
                roll: inside.roll == given.roll ? speed.roll : 0,
                pitch: inside.pitch == given.pitch ? speed.pitch : 0)
            given = inside
        } else {
            isCatchingUp = false
            given = nearest
            speed = turning.clamped(to: most)
        }
        let attitude = handle.attitude * JointKinematics.attitude(joints: given)
        let carried = attitude.conjugate.rotate(handle.rate)
        let own = JointKinematics(joints: given).relativeRate(jointRates: speed)
        return Setpoint(attitude: attitude, rate: carried + own)
    }

    /// Smallest fraction of a turn that the camera follows without a stop of the turn.
    private static var followedShare: Double { @_noLocks get { 0.5 } }

    /// The turning axes whose turn the camera does not follow, because a joint is beyond the end of
    /// its range. The angles are those of the requested set-point, Euler sequence Z-X-Y, rad. Both
    /// are compared at the same pose of the handle, so a motion of the handle, such as tremor, does
    /// not stop a turn.
    ///
    /// - Parameters:
    ///   - turning: Mask of the axes that turn at a rate: zero on these axes, NaN on the others.
    ///   - before: Angles before this control period.
    ///   - after: Angles after this control period.
    ///   - handle: Pose of the handle.
    ///   - range: Ranges of the joints.
    /// - Returns: Zero on axes whose turn the camera does not follow, NaN on the others.
    @_noLocks
    func blocked(
        _ turning: AxisVector, from before: AxisVector, to after: AxisVector, handle: HandlePose,
        range: JointRange
    ) -> AxisVector {
        var result = AxisVector.unknown
        guard isBeyond else { return result }
        if !turning.yaw.isNaN {
            let start = AxisVector(yaw: before.yaw, roll: after.roll, pitch: after.pitch)
            if !isFollowed(from: start, to: after, handle, range) { result.yaw = 0 }
        }
        if !turning.roll.isNaN {
            let start = AxisVector(yaw: after.yaw, roll: before.roll, pitch: after.pitch)
            if !isFollowed(from: start, to: after, handle, range) { result.roll = 0 }
        }
        if !turning.pitch.isNaN {
            let start = AxisVector(yaw: after.yaw, roll: after.roll, pitch: before.pitch)
            if !isFollowed(from: start, to: after, handle, range) { result.pitch = 0 }
        }
        return result
    }

    /// True if the camera follows a change of the requested angles by at least `followedShare`, or
    /// if the change leads back towards the ranges of the joints.
    private func isFollowed(
        from before: AxisVector, to after: AxisVector, _ handle: HandlePose, _ range: JointRange
    ) -> Bool {
        let start = handle.attitude.conjugate * EulerZXY.quaternion(before)
        let end = handle.attitude.conjugate * EulerZXY.quaternion(after)
        let asked = (end * start.conjugate).rotationVector
        let (first, last) = (answer(to: start, range), answer(to: end, range))
        let turned = (last.attitude * first.attitude.conjugate).rotationVector
        return last.excess <= first.excess
            || turned.dot(asked) >= Self.followedShare * asked.squaredNorm
    }

    /// The attitude of the camera relative to the handle, if each requested joint angle is clamped
    /// like `answered`, and the sum of the angles by which the joints exceed their clamps, rad.
    private func answer(to relative: Quaternion, _ range: JointRange) -> (
        attitude: Quaternion, excess: Double
    ) {
        let joints = JointLimiter.nearest(JointKinematics.joints(attitude: relative), to: wanted)
        let knees = JointLimiter.knees(of: range)
        let clamped = joints.clamped(from: range.minimum - knees, to: range.maximum + knees)
        return (
            JointKinematics.attitude(joints: clamped), JointLimiter.distance(joints, clamped)
        )
    }

    /// Largest ratio of the rate to the distance while the set-point catches up, 1/s. Without this
    /// limit, the rate would jump between its signs at the goal.
    private static var closingGain: Double { @_noLocks get { 20 } }

    /// Moves the set-point's joint angles towards the reachable angles. `Pace.braking` limits the
    /// change of the joint rates, so the camera can follow even after a jump of the request or of
    /// the handle.
    private mutating func catchUp(
        _ step: AxisVector, _ turning: AxisVector, most: AxisVector, pace: Pace, dt: Double
    ) {
        func closing(_ distance: Double) -> Double {
            let rate = min(
                cm_sqrt(2 * pace.braking * abs(distance)), Self.closingGain * abs(distance))
            return distance < 0 ? -rate : rate
        }
        let closing = AxisVector(
            yaw: closing(step.yaw), roll: closing(step.roll), pitch: closing(step.pitch))
        let change = (turning + closing).clamped(to: most) - speed
        speed = speed + change.clamped(to: AxisVector(repeating: pace.braking * dt))
        given = given + speed * dt
        let rest = step - speed * dt
        isCatchingUp =
            !(rest.isWithin(AxisVector(repeating: JointLimiter.near))
            && (turning - speed).isWithin(AxisVector(repeating: JointLimiter.jolt)))
    }

    /// Distance to a set of joint angles below which no other set is nearer, rad: just below π.
    private static var nearestTurn: Double { @_noLocks get { 3 } }

    /// The joint angles nearest to `before` among all joint angles that give the same attitude. The
    /// result can differ from `joints` by whole turns of yaw and pitch. Roll can exceed ±90°;
    /// otherwise the angles would jump by half a turn at a roll of ±90°.
    private static func nearest(_ joints: AxisVector, to before: AxisVector) -> AxisVector {
        let near = unwrapped(joints, near: before)
        let way = distance(near, before)
        // A second set of joint angles gives the same attitude; it differs by π in yaw and in
        // pitch. Therefore the distance of this set from `before` is at least 2π - `way`, which is
        // more than `way`.
        if way < nearestTurn { return near }
        let over = unwrapped(
            AxisVector(
                yaw: joints.yaw + .pi, roll: (joints.roll < 0 ? -.pi : .pi) - joints.roll,
                pitch: joints.pitch + .pi), near: before)
        return distance(over, before) < way ? over : near
    }

    private static func distance(_ a: AxisVector, _ b: AxisVector) -> Double {
        abs(a.yaw - b.yaw) + abs(a.roll - b.roll) + abs(a.pitch - b.pitch)
    }

    private static func unwrapped(_ joints: AxisVector, near before: AxisVector) -> AxisVector {
        AxisVector(
            yaw: unwrapped(joints.yaw, near: before.yaw), roll: joints.roll,
            pitch: unwrapped(joints.pitch, near: before.pitch))
    }

    private static func unwrapped(_ angle: Double, near other: Double) -> Double {
        other + Angle(radians: other).shortestArc(to: .radians(angle)).radians
    }
}

/// Function from requested to limited angle: a straight line with a parabolic bend at each end of
/// the range.
private struct SoftLimit: Sendable, BitwiseCopyable {
    /// The limited angle, which is within the range, rad.
    let angle: Double
    /// Slope of the function, 0...1: change of the limited angle divided by the change of the
    /// requested angle. The slope is one half at the end of the range.
    let slope: Double

    /// Computes the limited angle and the slope for a requested angle. All angles are in rad;
    /// `knee` is the half-width of the bend: positive, and at most half of the range.
    @_noLocks
    init(_ wanted: Double, from minimum: Double, to maximum: Double, knee: Double) {
        let above = wanted - (maximum - knee)
        let below = minimum + knee - wanted
        let depth = min(max(max(above, below), 0), 2 * knee)
        let lost = depth * depth / (4 * knee)
        slope = 1 - depth / (2 * knee)
        if above > 0 {
            angle = maximum - knee + depth - lost
        } else if below > 0 {
            angle = minimum + knee - depth + lost
        } else {
            angle = wanted
        }
    }
}
