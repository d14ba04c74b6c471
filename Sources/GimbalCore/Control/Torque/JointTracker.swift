internal import CMathShim

/// Estimator of rate and acceleration of one joint, from the joint's encoder or from the difference
/// of two gyroscopes. The friction compensation uses rate and acceleration to predict the reversals
/// of the joint.
///
/// Runs on the loop thread only, in constant time.
struct JointTracker: Sendable, BitwiseCopyable {
    /// Estimated rate, rad/s.
    private(set) var rate = 0.0
    /// Estimated acceleration, rad/s².
    private(set) var acceleration = 0.0
    private var angle = 0.0
    private var hasAngle = false
    private var offset = 0.0

    /// Natural frequency of the tracker with an encoder, rad/s. At a higher frequency, the tracker
    /// would follow the encoder's quantization. One step of a 14-bit encoder is a third of the
    /// distance over which friction reverses.
    private static var angleBandwidth: Double { @_noLocks get { 300 } }
    /// Natural frequency of the tracker with a measured joint rate, rad/s.
    private static var rateBandwidth: Double { @_noLocks get { 250 } }

    /// Gains from a residual to the tracker's states in one control period, common to all joints.
    struct Gains: Sendable, BitwiseCopyable {
        var angle: Double
        var rate: Double
        var acceleration: Double

        /// Creates gains with a triple pole, exact for the sampled triple integrator.
        @_noLocks
        init(forAnglesOver dt: Double) {
            let decay = cm_exp(-JointTracker.angleBandwidth * dt)
            let fade = 1 - decay
            angle = 1 - decay * decay * decay
            rate = 1.5 * fade * fade * (1 + decay) / dt
            acceleration = fade * fade * fade / (dt * dt)
        }

        /// Creates gains with a double pole for a tracker without a measured angle.
        @_noLocks
        init(forRatesOver dt: Double) {
            let decay = cm_exp(-JointTracker.rateBandwidth * dt)
            let fade = 1 - decay
            angle = 0
            rate = 1 - decay * decay
            acceleration = fade * fade / dt
        }
    }

    /// Creates a tracker that has not received a measurement yet.
    @_noLocks
    init() {}

    /// Smallest jump in one period that is impossible for a joint, rad.
    private static var jump: Double { @_noLocks @_noAllocation get { 0.2 } }

    /// Updates the estimates with a measured joint angle. The third-order filter has no lag at
    /// constant acceleration.
    ///
    /// - Parameters:
    ///   - measured: Joint angle, rad.
    ///   - gains: Gains for a measured angle.
    ///   - dt: Seconds since the previous call, more than 0.
    @_noLocks @_noAllocation
    mutating func follow(angle measured: Double, _ gains: Gains, dt: Double) {
        if !hasAngle || abs(measured - angle) > Self.jump {
            // The tracker restarts at the first value, and after a jump that is impossible for a
            // joint.
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

    /// Largest offset of the measured rate that is learned at full speed, rad/s. A larger rate is a
    /// motion, not an error of the gyroscope's bias.
    private static var mostOffset: Double { @_noLocks @_noAllocation get { 0.05 } }
    /// Time constant of the learning of the offset, s: longer than a motion in one direction.
    private static var offsetSeconds: Double { @_noLocks @_noAllocation get { 20 } }

    /// Updates the estimates with a measured joint rate. The second-order filter has no lag at
    /// constant acceleration. Over a long time, the mean rate of a joint is zero. Therefore the
    /// mean of the measured rate over 20 s is treated as the gyroscopes' bias.
    ///
    /// - Parameters:
    ///   - measured: Joint rate, rad/s.
    ///   - gains: Gains for a measured rate.
    ///   - dt: Seconds since the previous call, more than 0.
    @_noLocks @_noAllocation
    mutating func follow(rate measured: Double, _ gains: Gains, dt: Double) {
        hasAngle = false
        offset +=
            min(max(measured - offset, -Self.mostOffset), Self.mostOffset)
            * (dt / Self.offsetSeconds)
        rate += acceleration * dt
        let residual = measured - offset - rate
        rate += gains.rate * residual
        acceleration += gains.acceleration * residual
    }

    /// Discards the joint's motion. The estimated bias of the rate does not change.
    @_noLocks @_noAllocation
    mutating func reset() {
        rate = 0
        acceleration = 0
        hasAngle = false
    }
}
