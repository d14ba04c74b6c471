internal import CMathShim

/// Feed-forward compensation of one joint's friction. The parameters of a friction model are
/// learned while the joint moves.
///
/// Friction is by far the largest disturbance of a hand-held gimbal. Friction changes its sign when
/// the joint reverses. Because of the loop delay, the feedback responds late to every reversal. The
/// joint's encoder, or a gyroscope on the handle, measures the motion of the joint. A tracker
/// predicts the joint's motion and reversals over the loop's delay.
///
/// The friction model is a sum of two parts: elastic bristles with different sliding distances, and
/// additional friction near rest (Stribeck friction). Sources of the bristle model: Dahl: A solid
/// friction model, Aerospace Corporation TOR-158, 1968; generalised Maxwell slip model: Al-Bender,
/// Lampaert & Swevers, IEEE Transactions on Automatic Control 50, 2005. The residual torque is the
/// part of the motor's torque that does not accelerate the camera. From this torque, the friction
/// torques of both parts are learned by least mean squares. Therefore the lag of the control loop
/// does not affect the estimated friction torques.
///
/// As a safeguard, the mean square of the residual torque is compared with and without subtraction
/// of the predicted friction. If the subtraction increases the mean square, the compensation is
/// faded out.
struct FrictionCompensator: Sendable, BitwiseCopyable {
    /// Tuning of the friction compensation for all joints.
    struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Learning rate of the friction torques, 1/s; 0 disables the compensation.
        var learningRate = 0.5
        /// Largest sum of the bristles' friction torques, N·m.
        var limit = 0.05
        /// Smallest joint rate at which friction is learned, rad/s. At rest, friction depends on
        /// the load, not on the motion.
        var learningThreshold = 0.05
        /// Time over which the joint's motion is predicted, s.
        var lead = 0.0035
    }

    /// One value for each part of the friction model.
    struct Parts: Sendable, BitwiseCopyable {
        /// One value for each bristle; the bristles slide after about 0.3, 1 and 3 mrad.
        var short = 0.0
        var middle = 0.0
        var long = 0.0
        /// Value of the additional friction near rest (Stribeck).
        var slow = 0.0

        init() {}

        func dot(_ other: Parts) -> Double {
            short * other.short + middle * other.middle + long * other.long + slow * other.slow
        }
    }

    /// Learned friction torque of each part of the friction model, N·m.
    private(set) var sizes = Parts()
    /// Decrease of the residual torque's mean square if the predicted friction is subtracted,
    /// (N·m)²; negative for an increase.
    private(set) var benefit = 0.0

    private var tracker = JointTracker()
    /// Tracker of the joint's ideal motion, as if the camera were exactly at its set-point.
    private var wanted = JointTracker()
    /// Predicted deflection of each bristle, as a fraction of its largest deflection, -1...1.
    private var ahead = Parts()
    /// Present deflection of each bristle, as a fraction of its largest deflection, -1...1.
    private var present = Parts()
    /// Constant part of the residual torque, which does not depend on the motion, N·m.
    private var load = 0.0
    /// Recent peak of the joint rate, rad/s.
    private var envelope = 0.0
    /// Learning time so far, s. The time increases only while the joint moves.
    private var learned = 0.0
    private var share = 0.0

    /// Sliding distance of the long bristle, rad. A third and a tenth of this distance are the
    /// sliding distances of the middle and the short bristle.
    private static var distance: Double { @_noLocks get { 3e-3 } }
    /// Stribeck rate, rad/s: the joint rate at which the additional friction near rest has fallen
    /// to 37 %. The value is a compromise for ball and plain bearings.
    private static var stribeckRate: Double { @_noLocks get { 0.05 } }
    /// Initial learning rate of the friction torques, 1/s.
    private static var first: Double { @_noLocks get { 3 } }
    /// Time constant of `envelope`, s, longer than a reversal of the joint.
    private static var motionMemory: Double { @_noLocks get { 0.2 } }
    /// Time constant of `benefit`, s.
    private static var memory: Double { @_noLocks get { 2 } }
    /// Time constant with which the compensation is faded in and out, s.
    private static var fade: Double { @_noLocks get { 0.1 } }

    /// Creates a joint with unknown friction.
    init() {}

    /// Friction torque of the joint's present motion, computed from the learned friction, N·m.
    var explained: Double { @_noLocks get { sizes.dot(present) } }

    /// Learned sliding friction, N·m.
    var size: Double { @_noLocks get { sizes.short + sizes.middle + sizes.long } }

    /// Torque that overcomes the friction, N·m, computed from a measured joint angle, rad.
    ///
    /// `deviation` is the error of the camera's angle about the joint's axis (actual angle minus
    /// set-point), rad. `deviation` is subtracted from the joint's predicted motion, because an
    /// oscillation of the camera in the prediction would be amplified.
    @_noLocks @_noAllocation
    mutating func torque(
        joint: Double, deviation: Double, gains: JointTracker.Gains, parameters p: Parameters,
        dt: Double
    ) -> Double {
        tracker.follow(angle: joint, gains, dt: dt)
        wanted.follow(angle: joint - deviation, gains, dt: dt)
        return torque(parameters: p, dt: dt)
    }

    /// Torque that overcomes the friction, N·m, computed from a measured joint rate, rad/s: the
    /// camera gyroscope's rate minus the handle gyroscope's rate. `deviation` is the error of the
    /// camera's rate about the joint's axis (actual rate minus set-point), rad/s.
    @_noLocks @_noAllocation
    mutating func torque(
        rate: Double, deviation: Double, gains: JointTracker.Gains, parameters p: Parameters,
        dt: Double
    ) -> Double {
        tracker.follow(rate: rate, gains, dt: dt)
        wanted.follow(rate: rate - deviation, gains, dt: dt)
        return torque(parameters: p, dt: dt)
    }

    private mutating func torque(parameters p: Parameters, dt: Double) -> Double {
        envelope = max(abs(tracker.rate), envelope * (1 - dt / (Self.motionMemory + dt)))
        Self.slide(&present, rate: tracker.rate, dt: dt)
        Self.slide(&ahead, rate: wanted.rate + wanted.acceleration * p.lead, dt: dt)
        return sizes.dot(ahead) * share
    }

    /// Updates the bristles' deflections for one period at the joint rate `rate`, rad/s.
    private static func slide(_ bristles: inout Parts, rate: Double, dt: Double) {
        let end: Double = rate >= 0 ? 1 : -1
        let long = cm_exp(-abs(rate) * dt / Self.distance)
        let middle = long * long * long
        let short = middle * middle * middle * long
        bristles.short = end + (bristles.short - end) * short
        bristles.middle = end + (bristles.middle - end) * middle
        bristles.long = end + (bristles.long - end) * long
        let ratio = rate / Self.stribeckRate
        bristles.slow = bristles.middle * cm_exp(-ratio * ratio)
    }

    /// Updates the learned friction torques. `residual` is the part of the motor's torque that does
    /// not accelerate the camera, N·m: friction and unknown loads.
    @_noLocks @_noAllocation
    mutating func learn(residual: Double, parameters p: Parameters, dt: Double) {
        guard envelope > p.learningThreshold else { return }
        let explained = sizes.dot(present)
        let error = residual - load - explained
        learned += dt
        let rate = max(p.learningRate, Self.first / (1 + Self.first * learned)) * dt
        load += rate * error
        sizes.short += rate * error * present.short
        sizes.middle += rate * error * present.middle
        sizes.long += rate * error * present.long
        sizes.slow += rate * error * present.slow
        bound(p.limit)
        // For a residual r and a prediction p: r² - (r - p)² = 2 r p - p². The right side of the
        // equation is the decrease of the residual's square if the prediction is subtracted.
        let gain = (2 * (residual - load) - explained) * explained
        benefit += (gain - benefit) * (dt / (Self.memory + dt))
        share = min(max(share + (benefit > 0 ? dt : -dt) / Self.fade, 0), 1)
    }

    /// Limits the learned friction torques; the sum of the bristles' torques is at most `limit`, N·m.
    @_noLocks @_noAllocation
    mutating func bound(_ limit: Double) {
        sizes.short = max(sizes.short, 0)
        sizes.middle = max(sizes.middle, 0)
        sizes.long = max(sizes.long, 0)
        let sum = size
        if sum > limit {
            sizes.short *= limit / sum
            sizes.middle *= limit / sum
            sizes.long *= limit / sum
        }
        sizes.slow = min(max(sizes.slow, 0), min(sum, limit))
    }

    /// Discards the joint's motion. The learned friction does not change.
    @_noLocks @_noAllocation
    mutating func reset() {
        tracker.reset()
        wanted.reset()
        envelope = 0
        ahead = Parts()
        present = Parts()
    }
}
