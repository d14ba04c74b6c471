internal import CMathShim

/// The movement of one set-point angle: where it is, how fast, and the polynomial that it follows.
struct AxisProfile: Sendable, BitwiseCopyable {
    private(set) var angle = 0.0
    private(set) var rate = 0.0
    private(set) var acceleration = 0.0

    /// `angle(t) = goal + remaining polynomial`, with `s = t / duration`; c0...c5 in rad.
    private var c0 = 0.0
    private var c1 = 0.0
    private var c2 = 0.0
    private var c3 = 0.0
    private var c4 = 0.0
    private var c5 = 0.0
    private var goal = 0.0

    @_noLocks @_noAllocation
    init() {}

    /// At rest at `angle`, rad.
    @_noLocks @_noAllocation
    init(angle: Double) {
        self.angle = angle
        goal = angle
    }

    /// The shortest duration, s and not below `atLeast`, in which the polynomial from here to `goal` keeps the limits.
    ///
    /// From rest this is exact (the peaks of the rest-to-rest quintic are 1.875 d/T and 5.7735 d/T²); in motion the
    /// duration is stretched in steps until sampled rate and acceleration fit, which ends because both fall with time
    /// down to what the start itself has.
    @_noLocks @_noAllocation
    func shortestDuration(
        to goal: Double, maxRate: Double, maxAcceleration: Double, atLeast: Double
    ) -> Double {
        let distance = abs(goal - angle)
        let startRate = abs(rate)
        let byRate = 1.875 * distance / maxRate
        let byAcceleration = cm_sqrt(5.7735 * distance / maxAcceleration)
        var duration = max(atLeast, max(byRate, byAcceleration))
        guard startRate > 0 || acceleration != 0 else { return duration }
        duration = max(duration, max(startRate / maxAcceleration, 1e-3))
        let rateBound = max(maxRate, startRate) * 1.000_001
        let accelerationBound = max(maxAcceleration, abs(acceleration)) * 1.000_001
        var trial = self
        var round = 0
        while round < 24 {
            trial.plan(to: goal, duration: duration)
            if trial.fits(duration: duration, rate: rateBound, acceleration: accelerationBound) {
                break
            }
            duration *= 1.15
            round += 1
        }
        return duration
    }

    /// Sets out for `goal`, to be at rest there after `duration` seconds.
    @_noLocks @_noAllocation
    mutating func plan(to goal: Double, duration: Double) {
        self.goal = goal
        let d = goal - angle
        let v = rate * duration
        let a = acceleration * duration * duration
        c0 = angle
        c1 = v
        c2 = a / 2
        c3 = 10 * d - 6 * v - 1.5 * a
        c4 = -15 * d + 8 * v + 1.5 * a
        c5 = 6 * d - 3 * v - 0.5 * a
    }

    /// Moves to the polynomial's values at `elapsed` of `duration`, s.
    @_noLocks @_noAllocation
    mutating func follow(elapsed: Double, duration: Double) {
        guard elapsed < duration else {
            angle = goal
            rate = 0
            acceleration = 0
            return
        }
        let s = elapsed / duration
        angle = c0 + s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5))))
        rate = polynomialRate(s) / duration
        acceleration = polynomialAcceleration(s) / (duration * duration)
    }

    /// Approaches `wanted` rad/s at the acceleration limit, and stops in time before the ends of the range.
    @_noLocks @_noAllocation
    mutating func turn(
        at wanted: Double, maxAcceleration: Double, minimum: Double, maximum: Double, dt: Double
    ) {
        let ahead = AxisProfile.stoppingRate(maximum - angle, maxAcceleration, dt)
        let behind = AxisProfile.stoppingRate(angle - minimum, maxAcceleration, dt)
        let target = min(max(wanted, -behind), ahead)
        let change = maxAcceleration * dt
        let next = rate + min(max(target - rate, -change), change)
        acceleration = (next - rate) / dt
        angle += (rate + next) / 2 * dt
        rate = next
        goal = angle
    }

    /// The rate from which a constant deceleration stops within `distance`, one and a half periods early: one until the
    /// rate is taken up, half because the angle moves at the mean of two rates.
    private static func stoppingRate(
        _ distance: Double, _ maxAcceleration: Double, _ dt: Double
    ) -> Double {
        guard distance > 0 else { return 0 }
        guard distance < 1e6 else { return 1e6 }
        let early = 1.5 * maxAcceleration * dt
        return max(cm_sqrt(early * early + 2 * maxAcceleration * distance) - early, 0)
    }

    private func fits(duration: Double, rate: Double, acceleration: Double) -> Bool {
        var i = 0
        while i <= 16 {
            let s = Double(i) / 16
            if abs(polynomialRate(s)) > rate * duration { return false }
            if abs(polynomialAcceleration(s)) > acceleration * duration * duration { return false }
            i += 1
        }
        return true
    }

    private func polynomialRate(_ s: Double) -> Double {
        c1 + s * (2 * c2 + s * (3 * c3 + s * (4 * c4 + s * 5 * c5)))
    }

    private func polynomialAcceleration(_ s: Double) -> Double {
        2 * c2 + s * (6 * c3 + s * (12 * c4 + s * 20 * c5))
    }
}
