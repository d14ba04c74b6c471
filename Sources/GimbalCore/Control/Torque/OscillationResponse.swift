internal import CMathShim

/// Reaction to an oscillation of the loop of torque motors. First, the inertia counts as uncertain,
/// which reduces the gains and starts the probe that identifies the inertia. If the probe then
/// finds the inertia that was assumed before, all corner frequencies of the loop are reduced.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct OscillationResponse: Sendable, BitwiseCopyable {
    /// State of the loop in one period.
    struct Loop: Sendable, BitwiseCopyable {
        /// Part of the moment that corrects errors, camera frame, N·m.
        var exerted: Vector3
        /// Camera's rate relative to the set-point's rate, camera frame, rad/s.
        var rate: Vector3
        /// Time from the camera's motion to the torque that responds to it, s.
        var delay: Double
        /// The motors' torque limits, N·m.
        var limit: AxisVector
        /// Moment of the load that the integrals compensate, camera frame, N·m.
        var load: Vector3

        @_noLocks
        init(exerted: Vector3, rate: Vector3, delay: Double, limit: AxisVector, load: Vector3) {
            self.exerted = exerted
            self.rate = rate
            self.delay = delay
            self.limit = limit
            self.load = load
        }
    }

    /// A change of the controller after an oscillation.
    enum Change: Sendable, BitwiseCopyable {
        /// The controller needs no change.
        case none
        /// The gains are reduced, because the inertia is uncertain; the controller must set its
        /// integrals to `calmLoad`.
        case lowered
        /// The factor `slack` on all corner frequencies has been reduced.
        case slackened
    }

    /// The camera axes whose gains are reduced after an oscillation, until the probe has ended.
    private(set) var oscillating = AxisSet.none
    /// Factor on all corner frequencies of the loop: below 1 after the loop has oscillated although
    /// the assumed inertia was correct.
    private(set) var slack = 1.0
    /// Moment of the load that the integrals compensated before the oscillation, camera frame, N·m.
    private(set) var calmLoad = Vector3.zero

    private var watch = OscillationWatch()
    /// Inertia that was assumed before the oscillation, on the axes in `oscillating`, kg·m².
    private var suspected = AxisVector(repeating: 1)
    /// Remaining time in which an oscillation is ignored, s.
    private var settling = 0.0

    /// Factor by which one reaction multiplies all corner frequencies; 0.7 reduces the gain by 3
    /// dB.
    private static var slackStep: Double { @_noLocks get { 0.7 } }
    /// Lower limit of the factor on all corner frequencies, after three reductions. If the camera
    /// still shakes at the lower limit, the loop is not the cause.
    private static var leastSlack: Double { @_noLocks get { 0.35 } }
    /// Time in which the lower gains must end an oscillation, s: five times the time constant of
    /// `OscillationWatch`.
    private static var settlingTime: Double { @_noLocks get { 0.2 } }
    /// Time constant of `calmLoad`, s. The time constant exceeds the time in which an oscillation
    /// is detected, so the oscillation has little effect on `calmLoad`.
    private static var calmMemory: Double { @_noLocks get { 0.3 } }
    /// Smallest difference between the natural logarithms of the old and the new inertia that
    /// explains the oscillation.
    private static var difference: Double { @_noLocks get { 0.3 } }

    @_noLocks
    init() {}

    /// Restarts the check for oscillations, because an excitation shakes the camera or the camera's
    /// recent motion is unknown.
    @_noLocks
    mutating func forgetMotion() { watch.reset() }

    /// Sets `calmLoad` to zero, because the integrals start from zero.
    @_noLocks
    mutating func forgetLoad() { calmLoad = .zero }

    /// Checks the signals of one control period for an oscillation, and determines the reaction.
    ///
    /// - Parameters:
    ///   - loop: State of the loop in this period.
    ///   - inertia: The search for the inertia, which reduces the estimate of an oscillating axis.
    ///   - dt: Seconds since the previous call, more than 0.
    /// - Returns: The change of the controller that the oscillation requires.
    @_noLocks
    mutating func step(_ loop: Loop, inertia: inout InertiaSearch, dt: Double) -> Change {
        var seen = watch(loop, &inertia, dt: dt)
        settling = max(0, settling - dt)
        if settling > 0 { seen = .none }
        var change = Change.none
        let axes = inertia.values
        if !seen.isEmpty {
            settling = Self.settlingTime
            let new = seen.subtracting(oscillating)
            if new.contains(.yaw) { suspected.yaw = axes.yaw }
            if new.contains(.roll) { suspected.roll = axes.roll }
            if new.contains(.pitch) { suspected.pitch = axes.pitch }
            oscillating.insert(seen)
            inertia.suspect(seen)
            change = .lowered
        } else if !oscillating.isEmpty, !inertia.isProbing {
            change = judge(axes)
        }
        if watch.isCalm, oscillating.isEmpty {
            calmLoad += (loop.load - calmLoad) * (dt / (Self.calmMemory + dt))
        }
        return change
    }

    private mutating func watch(
        _ loop: Loop, _ inertia: inout InertiaSearch, dt: Double
    ) -> AxisSet {
        let (axes, swing, caution) = (inertia.values, inertia.swings, inertia.caution)
        let shaken = loop.limit * OscillationWatch.shaken
        let corner = OscillationWatch.beyondCrossover / max(loop.delay, 1e-3)
        func sight(
            _ exerted: Double, _ rate: Double, _ axis: GimbalAxis
        ) -> OscillationWatch.Sight {
            OscillationWatch.Sight(
                told: exerted / axes[axis], rate: rate,
                floor: max(shaken[axis], swing[axis]) / axes[axis],
                corner: max(corner * cm_sqrt(caution[axis]), OscillationWatch.hand),
                isKnown: !inertia.isProbing)
        }
        return watch.step(
            yaw: sight(loop.exerted.z, loop.rate.z, .yaw),
            roll: sight(loop.exerted.x, loop.rate.x, .roll),
            pitch: sight(loop.exerted.y, loop.rate.y, .pitch), dt: dt)
    }

    /// Evaluates the result of the probe after an oscillation. If the inertia is the same as before
    /// the oscillation, either another property of the loop differs from its model, or the loop did
    /// not cause the oscillation. With lower corner frequencies the loop tolerates an error of the
    /// model.
    private mutating func judge(_ axes: AxisVector) -> Change {
        let isYaw = abs(cm_log(axes.yaw / suspected.yaw)) > Self.difference
        let isRoll = abs(cm_log(axes.roll / suspected.roll)) > Self.difference
        let isPitch = abs(cm_log(axes.pitch / suspected.pitch)) > Self.difference
        let innocent = oscillating.subtracting(
            AxisSet(yaw: isYaw, roll: isRoll, pitch: isPitch))
        let isSlackened = innocent == oscillating && slack > Self.leastSlack
        oscillating = .none
        if isSlackened {
            slack = max(Self.leastSlack, Self.slackStep * slack)
            return .slackened
        }
        watch.tolerate(innocent)
        return .none
    }
}
