internal import CMathShim

/// Rate and acceleration of one joint, from its encoder or from the difference of two gyroscopes,
/// so that friction's turning points are seen before they come.
///
/// Loop thread only; constant time.
struct JointTracker: Sendable, BitwiseCopyable {
    /// rad/s.
    private(set) var rate = 0.0
    /// rad/s².
    private(set) var acceleration = 0.0
    private var angle = 0.0
    private var hasAngle = false
    private var offset = 0.0

    /// Natural frequency on an encoder, rad/s: what 14 bits per turn allow, whose steps are then a
    /// third of what friction takes to turn over.
    private static var angleBandwidth: Double { @_noLocks get { 300 } }
    /// Natural frequency on a rate, rad/s.
    private static var rateBandwidth: Double { @_noLocks get { 250 } }

    /// What a residual changes in one period, the same for every joint.
    struct Gains: Sendable, BitwiseCopyable {
        var angle: Double
        var rate: Double
        var acceleration: Double

        /// Three poles at one place, exact for the sampled triple integrator.
        @_noLocks
        init(forAnglesOver dt: Double) {
            let decay = cm_exp(-JointTracker.angleBandwidth * dt)
            let fade = 1 - decay
            angle = 1 - decay * decay * decay
            rate = 1.5 * fade * fade * (1 + decay) / dt
            acceleration = fade * fade * fade / (dt * dt)
        }

        /// Two poles at one place; there is no angle.
        @_noLocks
        init(forRatesOver dt: Double) {
            let decay = cm_exp(-JointTracker.rateBandwidth * dt)
            let fade = 1 - decay
            angle = 0
            rate = 1 - decay * decay
            acceleration = fade * fade / dt
        }
    }

    /// A joint of which nothing is known.
    @_noLocks
    init() {}

    /// Follows a measured angle: third order, no lag under constant acceleration.
    ///
    /// - Parameters:
    ///   - measured: rad.
    ///   - gains: For angles.
    ///   - dt: Seconds, more than 0.
    @_noLocks @_noAllocation
    mutating func follow(angle measured: Double, _ gains: Gains, dt: Double) {
        if !hasAngle || abs(measured - angle) > 0.2 {
            // A first value, or a jump that no joint can make: start again from there.
            angle = measured
            rate = 0
            acceleration = 0
            hasAngle = true
        }
        angle += (rate + acceleration * dt / 2) * dt
        rate += acceleration * dt
        let residual = measured - angle
        angle += gains.angle * residual
        rate += gains.rate * residual
        acceleration += gains.acceleration * residual
    }

    /// Follows a measured rate: second order, no lag under constant acceleration. A joint gets
    /// nowhere in the long run, so that its mean rate over 20 s is taken as the sensors' offset.
    ///
    /// - Parameters:
    ///   - measured: rad/s.
    ///   - gains: For rates.
    ///   - dt: Seconds, more than 0.
    @_noLocks @_noAllocation
    mutating func follow(rate measured: Double, _ gains: Gains, dt: Double) {
        hasAngle = false
        offset += min(max(measured - offset, -0.05), 0.05) * (dt / 20)
        rate += acceleration * dt
        let residual = measured - offset - rate
        rate += gains.rate * residual
        acceleration += gains.acceleration * residual
    }

    /// Forgets the motion, keeps the offset.
    @_noLocks @_noAllocation
    mutating func reset() {
        rate = 0
        acceleration = 0
        hasAngle = false
    }
}
