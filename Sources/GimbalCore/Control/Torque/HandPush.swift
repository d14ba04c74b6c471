/// Detects a hand that pushes the camera against the torque of its motors, and computes the rate at
/// which the set-point follows the hand.
///
/// The evidence for a hand on a joint is a torque that is not explained by the camera's inertia, by
/// its imbalance or by the learned friction. A hand is detected if this torque exceeds a fraction
/// of the motor's torque limit for `Parameters.patience` without interruption. During this time,
/// the joint must not turn against the torque. Friction is not mistaken for a hand, because
/// friction acts against the joint's motion. The torque from a step of a walking person is too
/// short to be mistaken for a hand. A constant load, such as a cable, is learned within seconds and
/// subtracted.
///
/// While a hand is detected, the set-point turns with the hand, at a rate that grows with the
/// torque. The detection ends when the torque falls, or after `longest`.
///
/// Runs on the loop thread only, in constant time and without allocation.
public struct HandPush: Sendable, BitwiseCopyable {
    /// Tuning of the detection.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// True if a hand can turn the camera.
        public var isEnabled = false
        /// Detection threshold of a hand's torque, as a fraction of the motor's torque limit,
        /// 0...1. The detector adds half of the learned friction to the threshold.
        public var threshold = 0.5
        /// Time for which the torque must exceed the threshold, s.
        public var patience = 0.25
        /// Rate at which the set-point turns if the hand's torque equals the motor's limit, rad/s.
        public var maxRate = 60 * Double.pi / 180

        /// Creates the defaults.
        public init() {}
    }

    /// Observations of one control period. Vectors contain one value for each joint.
    struct Evidence: Sendable, BitwiseCopyable {
        /// Unexplained torques, N·m; NaN if they are unknown.
        var unexplained: AxisVector
        /// Present torque limits, N·m.
        var limit: AxisVector
        /// Learned friction, N·m.
        var friction: AxisVector
        /// Joint angles, rad.
        var joints: AxisVector
        /// Angles from the set-point to the camera, per joint, rad.
        var deviation: AxisVector
        /// Joints that a hand can turn now.
        var pushable: AxisSet
    }

    /// Torques of a hand on the joints, smoothed, N·m; a constant load is subtracted.
    var torques: AxisVector { @_noLocks get { joints.map { $0.torque } } }
    /// Joints that a hand turns.
    var pushed: AxisSet { @_noLocks get { joints.axes { $0.isPushed } } }
    /// Joints on which the torque exceeds the threshold, or that a hand turns.
    var suspected: AxisSet { @_noLocks get { joints.axes { $0.isSuspected } } }
    /// Rates by which the set-point follows the hand, rad/s.
    var rates: AxisVector { @_noLocks get { joints.map { $0.rate } } }

    private var joints = PerAxis(Joint())
    /// Remaining hold-off time of the detection, s.
    private var wait = HandPush.settling

    /// Hold-off time of the detection after a start, a fault or a calibration, s: the controller
    /// learns the load first.
    private static var settling: Double { @_noLocks get { 3 } }
    /// Hold-off time of the detection after a command, s.
    private static var respite: Double { @_noLocks get { 1 } }

    @_noLocks
    init() {}

    /// Suspends the detection for a second, because a command moves the camera.
    @_noLocks
    mutating func pause() {
        joints.change { joint, _ in joint.end() }
        wait = max(wait, Self.respite)
    }

    /// Ends the detection because the evidence is not reliable.
    @_noLocks
    mutating func reset() {
        joints = PerAxis(Joint())
        wait = Self.settling
    }

    /// Updates the detection with the observations of one control period of `dt` seconds.
    @_noLocks
    mutating func step(_ observed: Evidence, parameters p: Parameters, dt: Double) {
        wait = max(0, wait - dt)
        let isWaiting = wait > 0
        joints.change { joint, axis in
            let torque = observed.unexplained[axis]
            guard !torque.isNaN else { return joint.end() }
            joint.follow(torque, dt: dt)
            joint.step(
                Joint.Bounds(
                    limit: observed.limit[axis], friction: observed.friction[axis],
                    isPushable: !isWaiting && observed.pushable.contains(axis)),
                angle: observed.joints[axis], deviation: observed.deviation[axis], parameters: p,
                dt: dt)
        }
    }
}

extension HandPush {
    /// Detection of a hand on one joint.
    struct Joint: Sendable, BitwiseCopyable {
        /// Limits that apply to a joint in one control period.
        struct Bounds: Sendable, BitwiseCopyable {
            /// Torque limit of the motor, N·m.
            var limit: Double
            /// Learned friction, N·m.
            var friction: Double
            /// True if a hand can turn the joint now.
            var isPushable: Bool
        }

        /// Torque of the hand, smoothed, N·m.
        private(set) var torque = 0.0
        /// True while a hand turns the joint.
        private(set) var isPushed = false
        /// Rate at which the set-point follows the hand, rad/s.
        private(set) var rate = 0.0
        /// True if the torque exceeds the threshold, or a hand turns the joint.
        var isSuspected: Bool { @_noLocks get { isPushed || strong > 0 } }

        /// Constant load, N·m.
        private var load = 0.0
        /// Duration for which the torque has exceeded the threshold, s.
        private var strong = 0.0
        /// Joint angle at which the torque exceeded the threshold, rad, and the torque's sign.
        private var start = (angle: 0.0, sign: 0.0)
        /// Duration for which the torque has been below the release threshold, s.
        private var quiet = 0.0
        /// Duration of the push, s.
        private var pushed = 0.0
        /// True after a push has exceeded the maximum duration, until the torque falls.
        private var isSpent = false

        /// Time constant of the torque's low-pass, s.
        private static var smoothing: Double { @_noLocks get { 0.02 } }
        /// Time constant with which a constant load is learned, s.
        private static var memory: Double { @_noLocks get { 5 } }
        /// Largest angle by which the joint can turn against the torque of a hand, rad. The tremor
        /// of a hand that holds the handle is smaller than this angle.
        private static var opposition: Double { @_noLocks get { 0.3 * .pi / 180 } }
        /// Release threshold, as a fraction of the detection threshold.
        private static var release: Double { @_noLocks get { 0.4 } }
        /// Time below the release threshold after which a push ends, s.
        private static var quietSeconds: Double { @_noLocks get { 0.1 } }
        /// Maximum duration of a push, s. A torque that lasts longer is caused by a load or an
        /// obstacle.
        private static var longest: Double { @_noLocks get { 10 } }
        /// Angle between camera and set-point, rad, above which the set-point follows the camera
        /// with the time constant `catchUp`, s.
        private static var slack: Double { @_noLocks get { 1 * .pi / 180 } }
        private static var catchUp: Double { @_noLocks get { 0.1 } }

        @_noLocks
        init() {}

        /// Ends a push; the learned load is kept.
        @_noLocks
        mutating func end() {
            isPushed = false
            rate = 0
            strong = 0
            quiet = 0
            pushed = 0
        }

        /// Smooths the unexplained torque, N·m.
        @_noLocks
        mutating func follow(_ unexplained: Double, dt: Double) {
            torque += (unexplained - load - torque) * (dt / (Self.smoothing + dt))
        }

        /// Updates the detection.
        @_noLocks
        mutating func step(
            _ bounds: Bounds, angle: Double, deviation: Double, parameters p: Parameters, dt: Double
        ) {
            let bar = p.threshold * bounds.limit + 0.5 * bounds.friction
            let low = Self.release * bar
            if isPushed {
                guide(from: low, to: bounds.limit, deviation: deviation, parameters: p)
                quiet = abs(torque) < low ? quiet + dt : 0
                pushed += dt
                if pushed > Self.longest { isSpent = true }
                if isSpent || quiet > Self.quietSeconds || !bounds.isPushable { end() }
                return
            }
            if abs(torque) < low { isSpent = false }
            let sign: Double = torque < 0 ? -1 : 1
            let isStrong = abs(torque) > bar
            if !isStrong || isSpent { learn(dt: dt) }
            guard isStrong, !isSpent, bounds.isPushable else {
                strong = 0
                return
            }
            if strong == 0 || sign != start.sign || (angle - start.angle) * sign < -Self.opposition
            {
                start = (angle, sign)
                strong = 0
                learn(dt: dt)
            }
            strong += dt
            if strong >= p.patience { isPushed = true }
        }

        private mutating func learn(dt: Double) {
            let step = torque * (dt / (Self.memory + dt))
            load += step
            torque -= step
        }

        /// Smallest span of torques by which the formula divides, N·m.
        private static var leastSpan: Double { @_noLocks get { 1e-3 } }

        /// Computes the rate of the set-point from the torque and from the angle between camera and
        /// set-point.
        private mutating func guide(
            from low: Double, to limit: Double, deviation: Double, parameters p: Parameters
        ) {
            let excess = max(0, abs(torque) - low) / max(limit - low, Self.leastSpan)
            let lag = max(0, abs(deviation) - Self.slack) / Self.catchUp
            let wanted = (torque < 0 ? -excess : excess) * p.maxRate + (deviation < 0 ? -lag : lag)
            rate = min(max(wanted, -p.maxRate), p.maxRate)
        }
    }
}
