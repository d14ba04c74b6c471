internal import CMathShim

/// The limit that determined a movement's duration.
public enum MotionLimit: UInt8, Sendable, BitwiseCopyable {
    /// No limit determined the duration; the movement takes the requested duration.
    case none
    /// The largest rate determined the duration.
    case rate
    /// The largest acceleration or jerk determined the duration.
    case acceleration
}

/// Movement of one angle in three parts: a transition to a constant rate, a part at this rate, and
/// a transition to rest at the goal (see `RateBlend`). If the movement has no goal, the angle
/// continues at the constant rate. Angle, rate and acceleration are continuous, and the jerk is
/// finite.
struct AxisPlan: Sendable, BitwiseCopyable {
    /// Final angle of the movement, rad; NaN without a goal.
    let goal: Double
    /// Duration of the movement until rest, s; infinite without a goal.
    let duration: Double
    /// The limit that determines the movement's duration.
    let limit: MotionLimit

    private let first: RateBlend
    private let cruise: AxisState
    private let cruiseDuration: Double
    private let last: RateBlend

    /// Creates a movement that changes to `rate`, rad/s, and keeps this rate.
    @_noLocks @_noAllocation
    init(from start: AxisState, turningAt rate: Double, limits: AxisLimits) {
        first = RateBlend(from: start, to: rate, limits: limits)
        cruise = AxisState(angle: start.angle + first.distance, rate: rate)
        cruiseDuration = .infinity
        last = RateBlend(from: AxisState(angle: 0, rate: 0), to: 0, limits: limits)
        goal = .nan
        duration = .infinity
        limit = .none
    }

    /// Plan of an angle that rests at zero.
    static var none: AxisPlan {
        @_noLocks @_noAllocation get {
            AxisPlan(
                from: AxisState(angle: 0, rate: 0), turningAt: 0,
                limits: AxisLimits(
                    rate: 1, acceleration: 1, jerk: 1, minimum: -.infinity, maximum: .infinity))
        }
    }

    private init(
        from start: AxisState, to goal: Double, cruising rate: Double, limits: AxisLimits
    ) {
        self.goal = goal
        first = RateBlend(from: start, to: rate, limits: limits)
        let braking = RateBlend(from: AxisState(angle: 0, rate: rate), to: 0, limits: limits)
        let rest = goal - start.angle - first.distance - braking.distance
        cruiseDuration = rate == 0 ? 0 : max(rest / rate, 0)
        cruise = AxisState(angle: start.angle + first.distance, rate: rate)
        last = RateBlend(
            from: AxisState(angle: goal - braking.distance, rate: rate), to: 0, limits: limits)
        duration = first.duration + cruiseDuration + last.duration
        limit = abs(rate) >= limits.rate ? .rate : .acceleration
    }

    /// The angle, rate and acceleration `time` seconds after the start of the movement.
    @_noLocks @_noAllocation
    func state(at time: Double) -> AxisState {
        if time < first.duration { return first.state(at: time) }
        guard time < duration else { return AxisState(angle: goal, rate: 0) }
        let cruising = time - first.duration
        if cruising < cruiseDuration {
            return AxisState(angle: cruise.angle + cruise.rate * cruising, rate: cruise.rate)
        }
        return last.state(at: cruising - cruiseDuration)
    }

    /// Ratio of the largest to the mean acceleration of a transition between rest and a rate.
    private static var peakRatio: Double { @_noLocks @_noAllocation get { 1.5 } }
    /// Smallest argument of the logarithm, so that a movement of zero length gives a finite rate.
    private static var leastCube: Double { @_noLocks @_noAllocation get { 1e-300 } }
    /// Number of bisections of the rate: the last step is below the resolution of the rate.
    private static var rateSteps: Int { @_noLocks @_noAllocation get { 48 } }

    /// The quickest movement to rest at `goal`.
    @_noLocks @_noAllocation
    static func quickest(from start: AxisState, to goal: Double, limits: AxisLimits) -> AxisPlan {
        let way = goal - start.angle
        if start.isAtRest {
            // Together, the two transitions change the angle by `rate` times the duration of one
            // transition.
            let size = abs(way)
            let byAcceleration = cm_sqrt(limits.acceleration * size / Self.peakRatio)
            let byJerk = cm_exp(cm_log(max(size * size * limits.jerk / 6, Self.leastCube)) / 3)
            let rate = size == 0 ? 0 : min(min(byAcceleration, byJerk), limits.rate)
            return AxisPlan(
                from: start, to: goal, cruising: way < 0 ? -rate : rate, limits: limits)
        }
        // `beyond` is the remaining distance to the goal after an immediate stop. The sign of
        // `beyond` determines the movement's direction.
        let beyond = way - reach(from: start, rate: 0, limits: limits)
        let direction = beyond < 0 ? -1.0 : 1.0
        var low = 0.0
        var high = limits.rate
        var rate = high
        var round = 0
        while round < Self.rateSteps {
            let rest = way - reach(from: start, rate: direction * rate, limits: limits)
            if rest * direction >= 0 { low = rate } else { high = rate }
            // The search finds the largest rate, or the rate at which the constant-rate part
            // vanishes.
            if low == high { break }
            rate = (low + high) / 2
            round += 1
        }
        return AxisPlan(from: start, to: goal, cruising: direction * low, limits: limits)
    }

    /// Number of attempts with slower transitions. Each attempt is less slow than the one before;
    /// then the quickest transitions are used.
    private static var slowerSteps: Int { @_noLocks @_noAllocation get { 6 } }

    /// A movement to rest at `goal` that takes `duration` seconds, or longer if the limits require
    /// it.
    @_noLocks @_noAllocation
    static func timed(
        from start: AxisState, to goal: Double, duration: Double, limits: AxisLimits
    ) -> AxisPlan {
        let quickest = quickest(from: start, to: goal, limits: limits)
        guard quickest.duration > 0, duration > quickest.duration else { return quickest }
        let factor = duration / quickest.duration
        if start.isAtRest {
            return self.quickest(from: start, to: goal, limits: limits.slowed(by: factor))
        }
        // If the axis is in motion, the slowest transitions without overshoot are chosen first. The
        // constant rate is then reduced until the movement has the requested duration. An initial
        // acceleration is reduced quickly; otherwise the rate would continue to grow.
        var gentle = factor
        var round = 0
        while round < Self.slowerSteps {
            var slow = limits.slowed(by: gentle)
            slow.acceleration = max(slow.acceleration, abs(start.acceleration))
            slow.jerk = limits.jerk
            let plan = self.quickest(from: start, to: goal, limits: slow)
            let isOnTheWay = plan.cruise.rate * quickest.cruise.rate >= 0
            if isOnTheWay, plan.duration <= duration {
                return plan.stretched(to: duration, from: start, limits: slow)
            }
            gentle = 1 + (gentle - 1) / 3
            round += 1
        }
        return quickest.stretched(to: duration, from: start, limits: limits)
    }

    /// Number of bisections of the constant rate: the last step is below 10⁻¹² of the first rate.
    private static var cruiseSteps: Int { @_noLocks @_noAllocation get { 40 } }

    /// Copy of this movement with a lower constant rate; the copy takes `wanted` seconds.
    private func stretched(to wanted: Double, from start: AxisState, limits: AxisLimits) -> AxisPlan
    {
        var best = self
        var low = 0.0
        var high = cruise.rate
        var round = 0
        while round < Self.cruiseSteps {
            let middle = (low + high) / 2
            let way = goal - start.angle - AxisPlan.reach(from: start, rate: middle, limits: limits)
            let plan = AxisPlan(from: start, to: goal, cruising: middle, limits: limits)
            if way * middle >= 0, plan.duration <= wanted {
                high = middle
                best = plan
            } else {
                low = middle
            }
            round += 1
        }
        return best
    }

    /// Change of the angle during both transitions, for the constant rate `rate`, rad.
    private static func reach(from start: AxisState, rate: Double, limits: AxisLimits) -> Double {
        RateBlend(from: start, to: rate, limits: limits).distance
            + RateBlend(from: AxisState(angle: 0, rate: rate), to: 0, limits: limits).distance
    }
}
