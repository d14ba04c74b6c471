internal import CMathShim

/// One set-point angle and its first two derivatives.
struct AxisState: Sendable, BitwiseCopyable {
    /// Angle, rad, continuous over whole turns.
    var angle: Double
    /// Rate, rad/s.
    var rate: Double
    /// Acceleration, rad/s².
    var acceleration: Double

    @_noLocks @_noAllocation
    init(angle: Double, rate: Double, acceleration: Double) {
        self.angle = angle
        self.rate = rate
        self.acceleration = acceleration
    }

    /// Creates the state of a turn at a constant rate; if `rate` is zero, the state of rest.
    @_noLocks @_noAllocation
    init(angle: Double, rate: Double) {
        self.init(angle: angle, rate: rate, acceleration: 0)
    }

    /// True if rate and acceleration are zero.
    var isAtRest: Bool { @_noLocks get { rate == 0 && acceleration == 0 } }

    /// Integrates the state exactly over `dt` seconds at constant `jerk`, rad/s³.
    @_noLocks @_noAllocation
    mutating func advance(jerk: Double, dt: Double) {
        angle += dt * (rate + dt * (acceleration / 2 + dt * jerk / 6))
        rate += dt * (acceleration + dt * jerk / 2)
        acceleration += dt * jerk
    }
}

/// Limits of the motion of one set-point angle.
struct AxisLimits: Sendable, BitwiseCopyable {
    /// Largest rate, rad/s.
    var rate: Double
    /// Largest acceleration, rad/s².
    var acceleration: Double
    /// Largest jerk, rad/s³.
    var jerk: Double
    /// Smallest angle, rad, or minus infinity.
    var minimum: Double
    /// Largest angle, rad, or infinity.
    var maximum: Double

    @_noLocks @_noAllocation
    init(
        rate: Double, acceleration: Double, jerk: Double, minimum: Double, maximum: Double
    ) {
        self.rate = rate
        self.acceleration = acceleration
        self.jerk = jerk
        self.minimum = minimum
        self.maximum = maximum
    }

    /// Copy of these limits, scaled to make a movement from rest take `factor` times as long.
    @_noLocks @_noAllocation
    func slowed(by factor: Double) -> AxisLimits {
        var result = self
        result.rate = rate / factor
        result.acceleration = acceleration / (factor * factor)
        result.jerk = jerk / (factor * factor * factor)
        return result
    }

    /// The angle within the range that is nearest to `angle`.
    @_noLocks @_noAllocation
    func clamped(_ angle: Double) -> Double { min(max(angle, minimum), maximum) }

    /// Hysteresis, rad. Without it, noise in a direction opposite to the middle of the range would
    /// turn the camera from end to end.
    private static var endHysteresis: Double { @_noLocks @_noAllocation get { 10 * .pi / 180 } }

    /// Goal of an axis for the requested angle `wanted`; the axis is at the angle `present`. Angles
    /// that differ by whole turns are equivalent. If the range is unbounded, the axis turns in the
    /// shorter direction, or in the opposite direction if the joint would reach its end. If the
    /// range is bounded, the goal is the nearest equivalent angle within the range. If no
    /// equivalent angle is within the range, the goal is the end on the present way, unless the
    /// other end is nearer to the requested direction by more than `endHysteresis`, and the joint
    /// has enough room to turn to it.
    @_noLocks @_noAllocation
    func goal(_ wanted: Double, from present: Double, room: TurnRange) -> Double {
        let turn = 2 * Double.pi
        let way = Angle(radians: present).shortestArc(to: .radians(wanted)).radians
        let nearest = present + room.reachableTurn(way)
        if nearest > maximum {
            if nearest - turn >= minimum { return nearest - turn }
            let isOtherNearer =
                minimum - (nearest - turn) + Self.endHysteresis < nearest - maximum
            return isOtherNearer && minimum - present >= room.down ? minimum : maximum
        }
        if nearest < minimum {
            if nearest + turn <= maximum { return nearest + turn }
            let isOtherNearer =
                nearest + turn - maximum + Self.endHysteresis < minimum - nearest
            return isOtherNearer && maximum - present <= room.up ? maximum : minimum
        }
        return nearest
    }
}

/// Transition from an initial state to a constant rate. The rate is a third-order polynomial of
/// time, and the acceleration is continuous. The jerk is finite everywhere.
struct RateBlend: Sendable, BitwiseCopyable {
    private let start: AxisState
    private let change: Double
    /// Duration of the transition, s.
    let duration: Double

    /// Ratio of the largest to the mean acceleration of a transition that begins and ends without
    /// acceleration: the cubic 3u² - 2u³ is steepest at its middle.
    private static var peakRatio: Double { @_noLocks @_noAllocation get { 1.5 } }
    /// Additional duration, as a fraction, if the initial acceleration has its limit and is
    /// opposite to the change of the rate. With it, the acceleration stays within its limit.
    private static var overshootReserve: Double { @_noLocks @_noAllocation get { 0.42 } }

    /// Creates the quickest transition from `start` to `rate`, rad/s, within the limits.
    ///
    /// If the initial acceleration is zero, the duration is exact; otherwise it is an upper bound.
    /// The duration is a continuous function of the acceleration, so a search over `rate` finds a
    /// movement for every distance.
    @_noLocks @_noAllocation
    init(from start: AxisState, to rate: Double, limits: AxisLimits) {
        self.start = start
        change = rate - start.rate
        let size = abs(change)
        let brought = abs(start.acceleration)
        let root = cm_sqrt(4 * brought * brought + 6 * limits.jerk * size)
        let byJerk = (2 * brought + root) / limits.jerk
        // If the initial acceleration is opposite to the change of the rate, the polynomial
        // overshoots.
        let isOpposed = start.acceleration * change < 0
        let opposed = isOpposed ? min(brought / limits.acceleration, 1) : 0
        let byAcceleration =
            Self.peakRatio * size / limits.acceleration * (1 + Self.overshootReserve * opposed)
        duration = max(byJerk, byAcceleration)
    }

    /// The largest rate from which a transition to rest takes at most `seconds`, rad/s.
    static func rate(
        stoppingWithin seconds: Double, acceleration: Double, jerk: Double
    ) -> Double {
        min(acceleration * seconds / peakRatio, jerk * seconds * seconds / 6)
    }

    /// Change of the angle during the transition, rad.
    var distance: Double {
        @_noLocks get {
            duration * (start.rate + change / 2 + start.acceleration * duration / 12)
        }
    }

    /// Angle, rate and acceleration `time` seconds after the start of the transition. `time` is
    /// limited to 0...`duration`.
    @_noLocks @_noAllocation
    func state(at time: Double) -> AxisState {
        guard duration > 0 else { return start }
        let u = min(max(time / duration, 0), 1)
        let brought = start.acceleration * duration
        let path =
            u
            * (start.rate + u
                * (brought / 2 + u
                    * (change - brought * 2 / 3 + u * (brought / 4 - change / 2))))
        let rate = u * (brought + u * (3 * change - 2 * brought + u * (brought - 2 * change)))
        return AxisState(
            angle: start.angle + duration * path, rate: start.rate + rate,
            acceleration: (1 - u) * (6 * u * change / duration + start.acceleration * (1 - 3 * u)))
    }
}
