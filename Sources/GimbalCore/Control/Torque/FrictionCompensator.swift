internal import CMathShim

/// Feeds the friction of one joint forward, and learns its size and its shape while the joint
/// moves.
///
/// Friction is by far the largest disturbance of a carried gimbal: it changes sign whenever the
/// handle turns back, and the feedback, with its delay, is late each time. The joint's encoder, or
/// a gyroscope on the handle, shows the turning points; a tracker without lag under constant
/// acceleration looks ahead by the loop's delay.
///
/// Shape: a sum of elastic bristles that slide (P. Dahl, "A solid friction model", Aerospace Corp.
/// TOR-158, 1968) after different distances, as in the generalised Maxwell slip model (Al-Bender,
/// Lampaert & Swevers, IEEE TAC 50, 2005), and what is more of it near rest (Stribeck). Sizes:
/// least mean squares on the torque that the motor exerts beyond the camera's acceleration, so the
/// loop's own lag is not in it.
///
/// Net: the power of that torque is compared with the power that the prediction leaves of it. A
/// prediction that leaves more is faded out.
struct FrictionCompensator: Sendable, BitwiseCopyable {
    /// What the user tunes, for all joints.
    struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// How fast the sizes are learned, 1/s; 0 = no compensation.
        var learningRate = 0.5
        /// Bound of the sum of the sizes, N·m.
        var limit = 0.05
        /// Joint rate below which nothing is learned, rad/s: at rest friction is whatever the load
        /// makes it.
        var learningThreshold = 0.05
        /// How far to look ahead, s.
        var lead = 0.0035
    }

    /// A value for each part of the friction.
    struct Parts: Sendable, BitwiseCopyable {
        /// Bristles that slide after about 0.3, 1 and 3 mrad.
        var short = 0.0
        var middle = 0.0
        var long = 0.0
        /// Additional friction near rest (Stribeck).
        var slow = 0.0

        init() {}

        func dot(_ other: Parts) -> Double {
            short * other.short + middle * other.middle + long * other.long + slow * other.slow
        }
    }

    /// Sizes of the parts, N·m.
    private(set) var sizes = Parts()
    /// Power that the prediction takes from the residual torque, (N·m)²; negative: it adds power.
    private(set) var benefit = 0.0

    private var tracker = JointTracker()
    /// Motion of the joint with the camera at its set-point.
    private var wanted = JointTracker()
    /// Deflection of each bristle as a share of its largest one, -1...1, ahead by the lead, and
    /// now.
    private var ahead = Parts()
    private var present = Parts()
    /// Residual torque that does not depend on the motion, N·m.
    private var load = 0.0
    /// Joint rate of the last moments, rad/s.
    private var envelope = 0.0
    /// Seconds of motion that the sizes have been learned from.
    private var learned = 0.0
    private var share = 0.0

    /// Over which distances bristles slide, rad.
    private static var distances: (short: Double, middle: Double, long: Double) {
        @_noLocks get { (0.3e-3, 1e-3, 3e-3) }
    }
    /// Joint rate at which the extra friction near rest has fallen to a third, rad/s: the middle of
    /// ball and plain bearings.
    private static var stribeckRate: Double { @_noLocks get { 0.05 } }
    /// How fast sizes are learned at first, 1/s.
    private static var first: Double { @_noLocks get { 3 } }
    /// How long the joint's motion is remembered, s: a turning point belongs to it.
    private static var motionMemory: Double { @_noLocks get { 0.2 } }
    /// Over which the benefit is taken, s, and the time in which the prediction fades, s.
    private static var memory: Double { @_noLocks get { 2 } }
    private static var fade: Double { @_noLocks get { 0.1 } }

    /// A joint of unknown friction.
    init() {}

    /// Sliding friction as learned, N·m.
    var size: Double { @_noLocks get { sizes.short + sizes.middle + sizes.long } }

    /// The torque that overcomes the friction, N·m, for a measured joint angle in rad.
    ///
    /// `astray`: the camera's deviation from its set-point about this joint, rad. The prediction
    /// leaves it out: a prediction that follows the camera's own shaking drives it.
    @_noLocks @_noAllocation
    mutating func torque(
        joint: Double, astray: Double, gains: JointTracker.Gains, parameters p: Parameters,
        dt: Double
    ) -> Double {
        tracker.follow(angle: joint, gains, dt: dt)
        wanted.follow(angle: joint - astray, gains, dt: dt)
        return torque(parameters: p, dt: dt)
    }

    /// The same for a measured joint rate, rad/s: the difference of camera and handle gyroscope;
    /// `astray` is a rate, rad/s.
    @_noLocks @_noAllocation
    mutating func torque(
        rate: Double, astray: Double, gains: JointTracker.Gains, parameters p: Parameters,
        dt: Double
    ) -> Double {
        tracker.follow(rate: rate, gains, dt: dt)
        wanted.follow(rate: rate - astray, gains, dt: dt)
        return torque(parameters: p, dt: dt)
    }

    private mutating func torque(parameters p: Parameters, dt: Double) -> Double {
        envelope = max(abs(tracker.rate), envelope * (1 - dt / (Self.motionMemory + dt)))
        Self.slide(&present, rate: tracker.rate, dt: dt)
        Self.slide(&ahead, rate: wanted.rate + wanted.acceleration * p.lead, dt: dt)
        return sizes.dot(ahead) * share
    }

    /// Moves the bristles by one period at this rate, rad/s.
    private static func slide(_ bristles: inout Parts, rate: Double, dt: Double) {
        let end: Double = rate >= 0 ? 1 : -1
        let way = -abs(rate) * dt
        let distances = Self.distances
        bristles.short = end + (bristles.short - end) * cm_exp(way / distances.short)
        bristles.middle = end + (bristles.middle - end) * cm_exp(way / distances.middle)
        bristles.long = end + (bristles.long - end) * cm_exp(way / distances.long)
        let ratio = rate / Self.stribeckRate
        bristles.slow = bristles.middle * cm_exp(-ratio * ratio)
    }

    /// Learns from the torque that the motor has exerted on this joint beyond what has accelerated
    /// the camera, N·m: what friction and loads have taken.
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
        // 2 r p - p²: the residual's power less that of what is left of it.
        let gain = (2 * (residual - load) - explained) * explained
        benefit += (gain - benefit) * (dt / (Self.memory + dt))
        share = min(max(share + (benefit > 0 ? dt : -dt) / Self.fade, 0), 1)
    }

    private mutating func bound(_ limit: Double) {
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

    /// Forgets the motion, keeps what was learned about the joint.
    @_noLocks @_noAllocation
    mutating func reset() {
        tracker.reset()
        wanted.reset()
        envelope = 0
        ahead = Parts()
        present = Parts()
    }
}
