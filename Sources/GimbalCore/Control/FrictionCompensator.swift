internal import CMathShim

/// Feeds the friction of one joint forward, and learns its size while the joint moves.
///
/// Friction is by far the largest disturbance of a carried gimbal: it changes sign whenever the handle turns back,
/// and the feedback, with its delay, is late each time. The joint's encoder, or a gyroscope on the handle, shows the
/// turning points; a tracker without lag under constant acceleration looks ahead by the loop's delay.
///
/// Shape: elastic bristles (P. Dahl, "A solid friction model", Aerospace Corp. TOR-158, 1968), one at full slide. Size:
/// follows the part of the feedback's torque that correlates with the shape, slowly, so that no friction value has to
/// be configured and a changed bearing is followed.
struct FrictionCompensator: Sendable, BitwiseCopyable {
    /// What the user tunes, for all joints.
    struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// How fast the size is learned, 1/s; 0 = no compensation.
        var learningRate = 0.5
        /// Bound of the size, N·m.
        var limit = 0.05
        /// How far a joint moves until its friction has turned over, rad.
        var breakawayAngle = 0.9e-3
        /// Joint rate below which nothing is learned, rad/s: at rest friction is whatever the load makes it.
        var learningThreshold = 0.05
        /// How far to look ahead, s.
        var lead = 0.0035
    }

    private(set) var size = 0.0
    private var tracker = JointTracker()
    private var shape = 0.0
    private var isMoving = false

    /// A joint of unknown friction.
    init() {}

    /// The torque that overcomes the friction, N·m, for a measured joint angle in rad.
    @_noLocks @_noAllocation
    mutating func torque(joint: Double, parameters p: Parameters, dt: Double) -> Double {
        guard p.learningRate > 0 else { return 0 }
        tracker.follow(angle: joint, dt: dt)
        return torque(parameters: p, dt: dt)
    }

    /// The same for a measured joint rate, rad/s: the difference of camera and handle gyroscope.
    @_noLocks @_noAllocation
    mutating func torque(rate: Double, parameters p: Parameters, dt: Double) -> Double {
        guard p.learningRate > 0 else { return 0 }
        tracker.follow(rate: rate, dt: dt)
        return torque(parameters: p, dt: dt)
    }

    private mutating func torque(parameters p: Parameters, dt: Double) -> Double {
        let ahead = tracker.rate + tracker.acceleration * p.lead
        isMoving = abs(ahead) > p.learningThreshold
        let end: Double = ahead >= 0 ? 1 : -1
        shape = end + (shape - end) * cm_exp(-abs(ahead) * dt / p.breakawayAngle)
        return size * shape
    }

    /// Learns from the torque that the feedback still has to add on this joint, N·m.
    @_noLocks @_noAllocation
    mutating func learn(feedback: Double, parameters p: Parameters, dt: Double) {
        guard isMoving else { return }
        size = min(max(size + p.learningRate * dt * feedback * shape, 0), p.limit)
    }

    /// Forgets the motion, keeps what was learned about the joint.
    @_noLocks @_noAllocation
    mutating func reset() {
        tracker.reset()
        isMoving = false
        shape = 0
    }
}
