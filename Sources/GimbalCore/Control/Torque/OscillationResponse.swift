internal import CMathShim

/// Response to an oscillation of the control loop of torque motors. First, the inertia is marked as
/// uncertain. As a consequence, the gains are reduced, and a probe identifies the inertia again. If
/// the probe confirms the assumed inertia, all corner frequencies of the loop are reduced.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct OscillationResponse: Sendable, BitwiseCopyable {
    /// State of the loop in one period.
    struct Loop: Sendable, BitwiseCopyable {
        /// Feedback moment, camera frame, N·m.
        var exerted: Vector3
        /// Camera's rate relative to the set-point's rate, camera frame, rad/s.
        var rate: Vector3
        /// Loop delay from the camera's motion to the responding torque, s.
        var delay: Double
        /// The motors' torque limits, N·m.
        var limit: AxisVector
        /// Load moment that the integrals compensate, camera frame, N·m.
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
        /// `bandwidthFactor`, the scale factor for all corner frequencies, has been reduced.
        case narrowed
    }

    /// The camera axes with reduced gains, from an oscillation until the end of the probe.
    private(set) var oscillating = AxisSet.none
    /// Scale factor for all corner frequencies of the loop; below 1 if the loop has oscillated with
    /// a correct inertia.
    private(set) var bandwidthFactor = 1.0
    /// Load moment that the integrals compensated before the oscillation, camera frame, N·m.
    private(set) var calmLoad = Vector3.zero

    private var watch = OscillationWatch()
    /// Assumed inertia before the oscillation, on the axes in `oscillating`, kg·m².
    private var suspected = AxisVector(repeating: 1)
    /// Remaining time in which an oscillation is ignored, s.
    private var settling = 0.0

    /// Factor by which one response reduces all corner frequencies; 0.7 reduces the gain by 3 dB.
    private static var bandwidthStep: Double { @_noLocks get { 0.7 } }
    /// Lower limit of the scale factor for all corner frequencies, after three reductions. If the
    /// camera still shakes at the lower limit, the loop is not the cause.
    private static var leastBandwidthFactor: Double { @_noLocks get { 0.35 } }
    /// Time for an oscillation to decay after a reduction of the gains, s: five times the time
    /// constant of `OscillationWatch`.
    private static var settlingTime: Double { @_noLocks get { 0.2 } }
    /// Time constant of `calmLoad`, s. An oscillation is detected in a shorter time, so it has
    /// little effect on `calmLoad`.
    private static var calmMemory: Double { @_noLocks get { 0.3 } }
    /// Smallest change of the inertia's natural logarithm that explains the oscillation.
    private static var difference: Double { @_noLocks get { 0.3 } }

    @_noLocks
    init() {}

    /// Ends every reduction of the gains, and discards all observations. The method is not inlined,
    /// so the new value does not occupy the stack of callers that seldom call it.
    @inline(never) @_noLocks @_noAllocation
    mutating func reset() { self = OscillationResponse() }

    /// Restarts the check for oscillations. Call this method when an excitation shakes the camera,
    /// or when the camera's recent motion is unknown.
    @_noLocks
    mutating func forgetMotion() { watch.reset() }

    /// Suspends the check for oscillations for the settling time, because the gains have changed.
    @_noLocks
    mutating func expectTransient() {
        watch.reset()
        settling = Self.settlingTime
    }

    /// Sets `calmLoad` to zero, because the integrals start from zero.
    @_noLocks
    mutating func forgetLoad() { calmLoad = .zero }

    /// Checks the signals of one control period for an oscillation, and determines the response.
    ///
    /// - Parameters:
    ///   - loop: State of the loop in this period.
    ///   - inertia: Identification of the inertia; the estimate is marked as uncertain on
    ///     oscillating axes.
    ///   - dt: Seconds since the previous call, more than 0.
    /// - Returns: The required change of the controller.
    @_noLocks
    mutating func step(_ loop: Loop, inertia: inout InertiaSearch, dt: Double) -> Change {
        var observed = watch(loop, &inertia, dt: dt)
        settling = max(0, settling - dt)
        if settling > 0 { observed = .none }
        var change = Change.none
        let axes = inertia.values
        if !observed.isEmpty {
            settling = Self.settlingTime
            let new = observed.subtracting(oscillating)
            if new.contains(.yaw) { suspected.yaw = axes.yaw }
            if new.contains(.roll) { suspected.roll = axes.roll }
            if new.contains(.pitch) { suspected.pitch = axes.pitch }
            oscillating.insert(observed)
            inertia.increaseUncertainty(observed)
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
        let corner = OscillationWatch.beyondCrossover / max(loop.delay, TimeLimit.shortest)
        func sight(
            _ exerted: Double, _ rate: Double, _ axis: GimbalAxis
        ) -> OscillationWatch.Signals {
            OscillationWatch.Signals(
                commanded: exerted / axes[axis], rate: rate,
                floor: max(shaken[axis], swing[axis]) / axes[axis],
                corner: max(corner * cm_sqrt(caution[axis]), OscillationWatch.hand),
                isKnown: !inertia.isProbing)
        }
        return watch.step(
            yaw: sight(loop.exerted.z, loop.rate.z, .yaw),
            roll: sight(loop.exerted.x, loop.rate.x, .roll),
            pitch: sight(loop.exerted.y, loop.rate.y, .pitch), dt: dt)
    }

    /// Evaluates the result of the probe after an oscillation. If the inertia has not changed,
    /// either another property of the loop differs from its model, or the loop did not cause the
    /// oscillation. With lower corner frequencies, the loop tolerates larger model errors.
    private mutating func judge(_ axes: AxisVector) -> Change {
        let isYaw = abs(cm_log(axes.yaw / suspected.yaw)) > Self.difference
        let isRoll = abs(cm_log(axes.roll / suspected.roll)) > Self.difference
        let isPitch = abs(cm_log(axes.pitch / suspected.pitch)) > Self.difference
        let innocent = oscillating.subtracting(
            AxisSet(yaw: isYaw, roll: isRoll, pitch: isPitch))
        let isNarrowed = innocent == oscillating && bandwidthFactor > Self.leastBandwidthFactor
        oscillating = .none
        if isNarrowed {
            bandwidthFactor = max(Self.leastBandwidthFactor, Self.bandwidthStep * bandwidthFactor)
            return .narrowed
        }
        watch.tolerate(innocent)
        return .none
    }
}
