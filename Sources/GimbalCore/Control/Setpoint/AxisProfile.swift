internal import CMathShim

/// How a set-point follows something that moves.
public struct FollowTuning: Sendable, BitwiseCopyable, Equatable {
    /// Fastest that it follows, rad/s.
    public var maxRate: AxisVector
    /// How long it stays behind a steady turn, s: the time constant of the smoothing.
    public var smoothing: AxisVector

    /// A tuning with these values.
    @inlinable @_noLocks
    public init(maxRate: AxisVector, smoothing: AxisVector) {
        self.maxRate = maxRate
        self.smoothing = smoothing
    }

    /// The smallest of the axes' rates, rad/s.
    var slowest: Double { @_noLocks @inline(__always) get { maxRate.smallest } }
}

/// The movement of one set-point angle: where it is, how fast, and what it is up to. Whatever it is
/// told next continues from the present angle, rate and acceleration.
struct AxisProfile: Sendable, BitwiseCopyable {
    private enum Motion: Sendable, BitwiseCopyable {
        /// Stands still.
        case rest
        /// On its way to the goal of `plan`.
        case move
        /// Turns at `turnRate`, or slows down from one; at the end of the range `plan` leads there.
        case turn
        /// Follows `followed`.
        case follow
    }

    private struct Follow: Sendable, BitwiseCopyable {
        /// rad
        var target: Double
        /// rad/s
        var maxRate: Double
        /// s
        var smoothing: Double
    }

    /// What follows more slowly counts as standing, rad/s.
    private static var stillRate: Double { @_noLocks get { 0.1 * .pi / 180 } }

    /// Angle, rate and acceleration at present.
    private(set) var state: AxisState
    // Beside each other and not in the cases: to look into a case copies it.
    private var motion = Motion.rest
    private var plan = AxisPlan.none
    /// rad/s
    private var turnRate = 0.0
    private var followed = Follow(target: 0, maxRate: 0, smoothing: 0)
    /// Where and when the present plan began.
    private var elapsed = 0.0

    /// How far the end of a range moves away before a turn that it stopped goes on, rad.
    private static var resumption: Double { @_noLocks get { 0.2 * .pi / 180 } }
    /// How far behind the end of a range that pushes it along an angle stays, s.
    private static var pushSmoothing: Double { @_noLocks get { 0.2 } }

    /// At rest at `angle`, rad.
    @_noLocks @_noAllocation
    init(angle: Double) { state = AxisState(angle: angle, rate: 0) }

    /// In this state, without a motion of its own: for forecasts.
    init(state: AxisState) { self.state = state }

    /// Where the present motion leads, rad: its goal, what is followed, or where the angle is.
    var destination: Double {
        @_noLocks @inline(__always) get {
            switch motion {
            case .rest: state.angle
            case .move: plan.goal
            case .turn: plan.goal.isNaN ? state.angle : plan.goal
            case .follow: followed.target
            }
        }
    }

    /// How far the angle is behind what it follows, rad; zero when it follows nothing.
    var followError: Double {
        @_noLocks @inline(__always) get {
            if case .follow = motion { followed.target - state.angle } else { 0 }
        }
    }

    /// Whether it follows something.
    var isFollowing: Bool {
        @_noLocks @inline(__always) get { if case .follow = motion { true } else { false } }
    }

    /// Whether it turns at a rate, or slows down from one.
    var isTurning: Bool {
        @_noLocks @inline(__always) get { if case .turn = motion { true } else { false } }
    }

    /// Seconds that the movement to a goal still takes; zero without one.
    var remaining: Double {
        @_noLocks @inline(__always) get {
            if case .move = motion { max(plan.duration - elapsed, 0) } else { 0 }
        }
    }

    /// Whether the angle is on its way, or turns, or follows.
    var isMoving: Bool {
        @_noLocks @inline(__always) get {
            switch motion {
            case .rest: false
            case .move: elapsed < plan.duration
            case .turn: turnRate != 0 || !state.isAtRest
            case .follow: abs(state.rate) > AxisProfile.stillRate
            }
        }
    }

    /// The quickest movement to `goal`, rad, from here.
    @_noLocks @_noAllocation
    func quickest(to goal: Double, limits: AxisLimits) -> AxisPlan {
        AxisPlan.quickest(from: state, to: goal, limits: limits)
    }

    /// Sets out for `goal`, to be at rest there after `duration` seconds or as soon as the limits
    /// allow.
    @_noLocks @_noAllocation
    mutating func move(to goal: Double, duration: Double, limits: AxisLimits) {
        motion = .move
        plan = .timed(from: state, to: goal, duration: duration, limits: limits)
        elapsed = 0
    }

    /// Turns at `rate`, rad/s, and stops in time before the ends of the range; repeating the rate
    /// changes nothing.
    @_noLocks @_noAllocation
    mutating func turn(at rate: Double, limits: AxisLimits) {
        if case .turn = motion, turnRate == rate { return }
        motion = .turn
        turnRate = rate
        plan = AxisPlan(from: state, turningAt: rate, limits: limits)
        elapsed = 0
    }

    /// Comes to rest as soon as the limits allow.
    @_noLocks @_noAllocation
    mutating func halt(limits: AxisLimits) {
        if case .rest = motion { return }
        turn(at: 0, limits: limits)
    }

    /// Stands at `angle`, rad, because it cannot be where it is; a turn goes on from there.
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

    /// Goes on from another state with what it is up to: to the same goal, at the same rate.
    ///
    /// - Parameters:
    ///   - state: Where the axis is now; the angle within half a turn of the one before.
    ///   - limits: Of the motion.
    @_noLocks @_noAllocation
    mutating func resume(from state: AxisState, limits: AxisLimits) {
        self.state = state
        switch motion {
        case .rest:
            if !state.isAtRest { turn(at: 0, limits: limits) }
        case .move:
            move(to: plan.goal, duration: plan.duration, limits: limits)
        case .turn:
            motion = .rest
            turn(at: turnRate, limits: limits)
        case .follow:
            break
        }
    }

    /// Follows `target`, rad, from now on.
    @_noLocks @_noAllocation
    mutating func follow(_ target: Double, maxRate: Double, smoothing: Double) {
        motion = .follow
        followed = Follow(target: target, maxRate: maxRate, smoothing: smoothing)
    }

    /// One period of `dt` seconds.
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
            var slower = limits
            slower.rate = min(limits.rate, followed.maxRate)
            let target = limits.clamped(followed.target)
            state.follow(target, smoothing: followed.smoothing, limits: slower, dt: dt)
        }
    }

    /// A turn whose next state could no longer stop within the range heads for the end of the range
    /// instead, and is pushed along by an end that comes towards it.
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
    /// One period of following `target`: three poles at one place, and limits on rate, acceleration
    /// and jerk that the cascade keeps without overshoot.
    ///
    /// - Parameters:
    ///   - target: Radians.
    ///   - smoothing: Seconds that the angle stays behind a target which turns steadily.
    ///   - limits: Of the motion; the range is the caller's.
    ///   - dt: Seconds, positive.
    @_noLocks @_noAllocation
    mutating func follow(_ target: Double, smoothing: Double, limits: AxisLimits, dt: Double) {
        // No faster than the limits can brake, and than the period can resolve.
        var pole = min(3 / max(smoothing, 1e-3), 0.3 / dt)
        pole = min(pole, 2 * limits.acceleration / limits.rate)
        pole = min(pole, limits.jerk / limits.acceleration)
        let wantedRate = AxisState.limited((target - angle) * pole / 3, limits.rate)
        let wantedAcceleration = AxisState.limited(
            (wantedRate - rate) * pole, limits.acceleration)
        let jerk = AxisState.limited(
            (wantedAcceleration - acceleration) * 3 * pole, limits.jerk)
        advance(jerk: jerk, dt: dt)
    }

    private static func limited(_ value: Double, _ limit: Double) -> Double {
        min(max(value, -limit), limit)
    }
}
