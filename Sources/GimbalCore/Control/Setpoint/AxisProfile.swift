internal import CMathShim

/// Tuning of a set-point that follows a moving target.
public struct FollowTuning: Sendable, BitwiseCopyable, Equatable {
    /// Largest rate, rad/s.
    public var maxRate: AxisVector
    /// Time constant of the smoothing, s: the lag of the set-point behind a target with a constant
    /// rate.
    public var smoothing: AxisVector
    /// True if the set-point can leave its range of earth-frame angles, because the target is a pose
    /// of the joints.
    public var ignoresRange: Bool

    /// Creates a tuning.
    @inlinable @_noLocks
    public init(maxRate: AxisVector, smoothing: AxisVector, ignoresRange: Bool = false) {
        self.maxRate = maxRate
        self.smoothing = smoothing
        self.ignoresRange = ignoresRange
    }

    /// The smallest of the three values of `maxRate`, rad/s.
    var slowest: Double { @_noLocks @inline(always) get { maxRate.smallest } }
}

/// Motion of one set-point angle: its state (angle, rate, acceleration) and its activity. A new
/// request starts from the current state.
struct AxisProfile: Sendable, BitwiseCopyable {
    private enum Motion: Sendable, BitwiseCopyable {
        /// The angle is at rest.
        case rest
        /// The angle moves to the goal of `plan`.
        case move
        /// The angle changes at the rate `turnRate`, or decelerates after a rotation at this rate.
        /// Near the end of the range, `plan` moves the angle to that end.
        case turn
        /// The angle follows the target in `followed`.
        case follow
    }

    private struct Follow: Sendable, BitwiseCopyable {
        /// Target angle, rad, and its rate, rad/s.
        var target: Double, rate: Double
        /// Requested motion, which is added to the target.
        var turn: FollowedTurn
        /// Largest rate, rad/s.
        var maxRate: Double
        /// Time constant of the smoothing, s.
        var smoothing: Double
        /// True if the angle can leave its range.
        var ignoresRange = false
    }

    /// Rest threshold for the rate of an angle that follows a target, rad/s.
    private static var stillRate: Double { @_noLocks get { 0.1 * .pi / 180 } }

    /// Current angle, rate and acceleration.
    private(set) var state: AxisState
    // The values of each activity are separate variables, because an enum would copy an associated
    // value whenever it is read.
    private var motion = Motion.rest
    private var plan = AxisPlan.none
    /// Requested rate of the current turn, rad/s.
    private var turnRate = 0.0
    private var followed = Follow(
        target: 0, rate: 0, turn: .none, maxRate: 0, smoothing: 0)
    /// Pole of the filter with which the angle has followed its target, 1/s; 0 before its first
    /// period.
    private var followPole = 0.0
    /// Time since the start of the current plan, s.
    private var elapsed = 0.0

    /// Hysteresis, rad. After a stop at an end of the range, the turn resumes when the end has
    /// moved away by this angle.
    private static var resumption: Double { @_noLocks get { 0.2 * .pi / 180 } }
    /// Time constant with which the angle follows a moving end of its range, s.
    private static var pushSmoothing: Double { @_noLocks get { 0.2 } }

    /// Creates the motion of an angle that rests at `angle`, rad.
    @_noLocks @_noAllocation
    init(angle: Double) { state = AxisState(angle: angle, rate: 0) }

    /// Creates the motion of an angle with the given state and no activity, as the initial state of
    /// a prediction, or before a motion.
    @_noLocks @_noAllocation
    init(state: AxisState) { self.state = state }

    /// Final angle of the current motion, rad: its goal, the followed target, or the current angle.
    var destination: Double {
        @_noLocks @inline(always) get {
            switch motion {
            case .rest: state.angle
            case .move: plan.goal
            case .turn: plan.goal.isNaN ? state.angle : plan.goal
            case .follow: followed.target + followed.turn.state.angle + followed.turn.rest
            }
        }
    }

    /// Lag of the set-point angle behind the target that it follows, rad; zero without a target.
    var followError: Double {
        @_noLocks @inline(always) get {
            guard case .follow = motion else { return 0 }
            return followed.target + followed.turn.state.angle - state.angle
        }
    }

    /// True if the angle follows a target.
    var isFollowing: Bool {
        @_noLocks @inline(always) get { if case .follow = motion { true } else { false } }
    }

    /// True if the angle changes at a requested rate, or decelerates after a rotation at a
    /// requested rate.
    var isTurning: Bool {
        @_noLocks @inline(always) get { if case .turn = motion { true } else { false } }
    }

    /// Remaining duration of a movement to a goal, s; 0 without a goal.
    var remaining: Double {
        @_noLocks @inline(always) get {
            if case .move = motion { max(plan.duration - elapsed, 0) } else { 0 }
        }
    }

    /// True if the set-point angle moves to a goal, turns at a rate, or moves with a target.
    var isMoving: Bool {
        @_noLocks @inline(always) get {
            switch motion {
            case .rest: false
            case .move: elapsed < plan.duration
            case .turn: turnRate != 0 || !state.isAtRest
            case .follow: abs(state.rate) > AxisProfile.stillRate
            }
        }
    }

    /// The quickest movement from the angle's current state to `goal`, rad.
    @_noLocks @_noAllocation
    func quickest(to goal: Double, limits: AxisLimits) -> AxisPlan {
        AxisPlan.quickest(from: state, to: goal, limits: limits)
    }

    /// Starts a movement of the angle to rest at `goal`, in `duration` seconds or as soon as the
    /// limits allow.
    @_noLocks @_noAllocation
    mutating func move(to goal: Double, duration: Double, limits: AxisLimits) {
        motion = .move
        plan = .timed(from: state, to: goal, duration: duration, limits: limits)
        elapsed = 0
    }

    /// Turns the angle at `rate`, rad/s; the turn stops at the end of the range. A call with the
    /// rate of the current turn has no effect.
    @_noLocks @_noAllocation
    mutating func turn(at rate: Double, limits: AxisLimits) {
        if case .turn = motion, turnRate == rate { return }
        motion = .turn
        turnRate = rate
        plan = AxisPlan(from: state, turningAt: rate, limits: limits)
        elapsed = 0
    }

    /// Brings the angle to rest as soon as the limits allow.
    @_noLocks @_noAllocation
    mutating func halt(limits: AxisLimits) {
        if case .rest = motion { return }
        turn(at: 0, limits: limits)
    }

    /// Adds `turns`, rad, a number of whole turns, to the angle. Call `follow` afterwards, unless the
    /// angle is at rest.
    @_noLocks @_noAllocation
    mutating func unwrap(_ turns: Double) { state.angle += turns }

    /// Duration of a soft stop of a turn at a rate, s; 0 if the angle does not turn at a rate.
    @_noLocks @_noAllocation
    func stoppingSeconds(limits: AxisLimits) -> Double {
        isTurning ? RateBlend(from: state, to: 0, limits: limits).duration : 0
    }

    /// Sets the set-point angle to `angle`, rad, because the joints cannot reach the current angle.
    /// A turn at a rate continues from the new angle; any other activity ends.
    @_noLocks @_noAllocation
    mutating func stop(at angle: Double, limits: AxisLimits) {
        let nearest = Angle(radians: state.angle).shortestArc(to: .radians(angle)).radians
        state = AxisState(angle: state.angle + nearest, rate: 0)
        elapsed = 0
        if case .turn = motion {
            plan = AxisPlan(from: state, turningAt: turnRate, limits: limits)
        } else {
            motion = .rest
        }
    }

    /// Continues the current activity from another state, with the same goal or rate. An angle
    /// without a goal or rate returns to its earlier value.
    ///
    /// - Parameters:
    ///   - state: New angle, rate and acceleration; the new angle is within half a turn of the
    ///     previous angle.
    ///   - limits: Limits of the motion.
    @_noLocks @_noAllocation
    mutating func resume(from state: AxisState, limits: AxisLimits) {
        let (earlier, rest) = (self.state.angle, remaining)
        self.state = state
        switch motion {
        case .rest:
            move(to: earlier, duration: 0, limits: limits)
        case .move:
            move(to: plan.goal, duration: rest, limits: limits)
        case .turn:
            guard turnRate != 0 else { return move(to: earlier, duration: 0, limits: limits) }
            motion = .rest
            turn(at: turnRate, limits: limits)
        case .follow:
            break
        }
    }

    /// Starts following `target`, rad, which moves at `rate`, rad/s. If `rate` is 0, the angle lags
    /// behind a moving target. The angle follows the additional motion `turn` without lag.
    @_noLocks @_noAllocation
    mutating func follow(
        _ target: Double, rate: Double, turn: FollowedTurn = .none, _ tuning: FollowTuning,
        _ axis: GimbalAxis
    ) {
        if !isFollowing { followPole = 0 }
        motion = .follow
        followed = Follow(
            target: target, rate: rate, turn: turn, maxRate: tuning.maxRate[axis],
            smoothing: tuning.smoothing[axis], ignoresRange: tuning.ignoresRange)
    }

    /// Updates the state of the set-point angle after `dt` seconds.
    @_noLocks @_noAllocation
    mutating func step(dt: Double, limits: AxisLimits) {
        switch motion {
        case .rest:
            return
        case .move:
            elapsed += dt
            state = plan.state(at: elapsed)
        case .turn:
            stepTurn(dt: dt, limits: limits)
        case .follow:
            let wanted = followed.target + followed.turn.state.angle
            let target = followed.ignoresRange ? wanted : limits.clamped(wanted)
            let isInside = target == wanted
            followPole = state.follow(
                target, rate: isInside ? followed.rate : 0,
                turn: isInside ? followed.turn : .none, maxRate: followed.maxRate,
                smoothing: followed.smoothing, after: followPole, limits: limits, dt: dt)
        }
    }

    /// Updates the state for one control period of a turn. The angle moves to the end of the range
    /// when one more period of the turn would make a stop within the range impossible. If an end of
    /// the range moves past the angle, the angle follows this end.
    private mutating func stepTurn(dt: Double, limits: AxisLimits) {
        let inside = limits.clamped(state.angle)
        if inside != state.angle, turnRate * (state.angle - inside) >= 0 {
            state.follow(inside, smoothing: AxisProfile.pushSmoothing, limits: limits, dt: dt)
            plan = AxisPlan(from: state, turningAt: turnRate, limits: limits)
            elapsed = 0
            return
        }
        elapsed += dt
        let end = turnRate > 0 ? limits.maximum : limits.minimum
        let room = (end - plan.goal) * (turnRate > 0 ? 1 : -1)
        if turnRate != 0, room > AxisProfile.resumption {
            plan = AxisPlan(from: state, turningAt: turnRate, limits: limits)
            elapsed = dt
        }
        if plan.goal.isNaN {
            let ahead = plan.state(at: elapsed)
            let stop = ahead.angle + RateBlend(from: ahead, to: 0, limits: limits).distance
            let end = limits.clamped(stop)
            if stop != end, turnRate * (stop - end) >= 0 {
                plan = AxisPlan.quickest(from: state, to: end, limits: limits)
                elapsed = dt
            }
        }
        state = plan.state(at: elapsed)
        if turnRate == 0, plan.goal.isNaN, state.isAtRest { motion = .rest }
    }
}

extension AxisState {
    /// Largest change of the smoothing filter's phase in one control period, rad. A faster pole
    /// would not be stable in discrete steps.
    private static var fastestPole: Double { @_noLocks @_noAllocation get { 0.3 } }
    /// Largest growth of the inverse of the pole, s/s: the smoothing of the filter grows by at most
    /// 0.3 s per second.
    private static var slowing: Double { @_noLocks @_noAllocation get { 0.1 } }
    /// Permitted swing beyond the target, rad: the pole decreases at once if the present motion
    /// does not swing farther with it.
    private static var still: Double { @_noLocks @_noAllocation get { 0.1 * .pi / 180 } }

    /// Updates the state for one control period in which the angle follows `target`. The
    /// third-order filter has three equal poles. The filter observes the limits on rate,
    /// acceleration and jerk without overshoot.
    ///
    /// Lower limits, or a longer smoothing, require a slower pole. With a slower pole, the present
    /// motion would end so late that the angle would swing far beyond its target. Therefore the
    /// pole decreases gradually, unless the angle is still. Meanwhile the motion can exceed lowered
    /// limits on acceleration and jerk, as far as the end of the present motion requires this.
    ///
    /// - Parameters:
    ///   - target: Angle to follow at the beginning of the period, rad, including `turn`.
    ///   - known: Known rate of the target, rad/s.
    ///   - turn: Known motion of the target in addition to `known`. The angle follows this motion
    ///     without lag, within `limits`.
    ///   - maxRate: Largest rate, rad/s, without the rate of `turn`.
    ///   - smoothing: Time constant of the lag, s, for the part of the target's rate that exceeds
    ///     `known`.
    ///   - earlier: Result of the previous period, 1/s; 0 if the angle did not follow a target.
    ///   - limits: Limits of the motion; the caller applies the range.
    ///   - dt: Length of the period, s, positive.
    /// - Returns: The pole, 1/s, before its limit for the control period.
    @_noLocks @_noAllocation @discardableResult
    mutating func follow(
        _ target: Double, rate known: Double = 0, turn: FollowedTurn = .none,
        maxRate: Double = .infinity, smoothing: Double, after earlier: Double = 0,
        limits: AxisLimits, dt: Double
    ) -> Double {
        let fastest = min(limits.rate, maxRate)
        // The pole's frequency must be low enough for the limits on acceleration and jerk, and for
        // the control period.
        let required = min(
            3 / max(smoothing, TimeLimit.shortest),
            min(2 * limits.acceleration / fastest, limits.jerk / limits.acceleration))
        let isStill =
            abs(rate) < Self.still * required
            && abs(acceleration) < Self.still * required * required
        let wanted =
            isStill ? required : max(required, earlier / (1 + Self.slowing * earlier * dt))
        let pole = min(wanted, Self.fastestPole / dt)
        var limits = limits
        if wanted > required {
            // Braking of the present motion, with the ratios of the pole to the limits above. While
            // the pole decreases, the motion needs up to twice this jerk.
            let braking = max(abs(rate) * pole / 2, abs(acceleration))
            limits.acceleration = max(limits.acceleration, braking)
            limits.jerk = max(limits.jerk, 2 * braking * pole)
        }
        let smooth = AxisState.limited(known + (target - angle) * pole / 3, fastest)
        let wantedRate = AxisState.limited(turn.state.rate + smooth, limits.rate)
        let wantedAcceleration = AxisState.limited(
            turn.state.acceleration + (wantedRate - rate) * pole, limits.acceleration)
        let jerk = AxisState.limited(
            turn.jerk + (wantedAcceleration - acceleration) * 3 * pole, limits.jerk)
        advance(jerk: jerk, dt: dt)
        return wanted
    }

    private static func limited(_ value: Double, _ limit: Double) -> Double {
        min(max(value, -limit), limit)
    }
}
