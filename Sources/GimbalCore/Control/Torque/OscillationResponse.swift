internal import CMathShim

/// Answers an oscillation of a loop whose inertia is looked for: the inertia is doubted, which lowers the gains and starts the
/// probe; where the probe finds the same inertia, every corner of the loop goes down.
///
/// Loop thread only; constant time, no allocation.
struct OscillationResponse: Sendable, BitwiseCopyable {
    /// The loop as of one period.
    struct Loop: Sendable, BitwiseCopyable {
        /// Moment that answers the errors, camera frame, N·m.
        var exerted: Vector3
        /// Camera's rate beside the set-point's, camera frame, rad/s.
        var rate: Vector3
        /// From motion to torque, s.
        var delay: Double
        /// The motors' limits, N·m.
        var limit: AxisVector
        /// The load that the integrals hold, camera frame, N·m.
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

    /// A change of the loop.
    enum Change: Sendable, BitwiseCopyable {
        /// The loop stays as it is.
        case none
        /// The inertia is doubted; the integrals are to hold `calmLoad`.
        case lowered
        /// `slack` is smaller.
        case slackened
    }

    /// The camera's axes whose gains are down because they have oscillated.
    private(set) var oscillating = AxisSet.none
    /// Share of every corner that is left to a loop that has swung although its inertia was right.
    private(set) var slack = 1.0
    /// The load that the integrals held while nothing swung, camera frame, N·m.
    private(set) var calmLoad = Vector3.zero

    private var watch = OscillationWatch()
    /// Belief before the oscillation of the axes in `oscillating`, kg·m².
    private var suspected = AxisVector(repeating: 1)
    /// Time for which a swing does not count yet, s.
    private var settling = 0.0

    /// Factor of every corner where a loop has swung with the right inertia: 3 dB of gain.
    private static var slackStep: Double { @_noLocks get { 0.7 } }
    /// Three such steps; a camera that still shakes is shaken by something else.
    private static var leastSlack: Double { @_noLocks get { 0.35 } }
    /// Time that the lower gains have to end a swing, s: the watch's memory five times.
    private static var settlingTime: Double { @_noLocks get { 0.2 } }
    /// Over which the load of a calm camera is remembered, s: longer than a swing takes to be seen.
    private static var calmMemory: Double { @_noLocks get { 0.3 } }
    /// Smallest difference from the inertia that oscillated that explains the swing, natural logarithm.
    private static var difference: Double { @_noLocks get { 0.3 } }

    @_noLocks
    init() {}

    /// Something shakes the camera on purpose, or its motion of late is not known.
    @_noLocks
    mutating func forgetMotion() { watch.reset() }

    /// The integrals begin from zero.
    @_noLocks
    mutating func forgetLoad() { calmLoad = .zero }

    /// One period.
    ///
    /// - Parameters:
    ///   - loop: As of this period.
    ///   - inertia: Doubted where an axis oscillates.
    ///   - dt: Seconds since the previous call, more than 0.
    /// - Returns: What has changed.
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

    /// The search has ended. With the same inertia as before, another property of the loop is not as believed, which lower
    /// corners allow, or it was not the loop that shook the camera.
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
