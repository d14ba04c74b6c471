internal import CMathShim

/// Estimator of the camera's inertia, for gimbals whose motors have no encoders. A small swing of
/// all joints, the test swing, measures the inertia when the motors are switched on. The inertia is
/// considered uncertain when a rotor slips or the motors make the camera oscillate.
///
/// If the estimate is too high, all gains are too high, and the rotor observers are too fast. The
/// camera then oscillates, and the estimate is halved until the oscillation ends. If the estimate
/// is too low, the observers are too slow. A rotor then slips, and the estimate is doubled. If a
/// test swing confirms the inertia from before the oscillation, the loop delay is longer than
/// assumed. The estimate is then restored, and all corner frequencies of the loop are reduced.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct FieldInertia: Sendable, BitwiseCopyable {
    /// True if the test swing has ended. The value becomes false again if a rotor slips before the
    /// inertia has been measured.
    private(set) var isOver = false
    /// The camera axes whose inertia a test swing has measured.
    private var found = AxisSet.none
    /// Inertia from the test swings, or estimated after a rotor has slipped, kg·m².
    private var probed: AxisVector?
    /// Inertia estimate at the beginning of the oscillation, kg·m²; nil if the camera has not
    /// oscillated since the start.
    private var suspected: AxisVector?
    /// Axes on which the last test swing confirmed the assumed inertia from before the oscillation.
    private var innocent = AxisSet.none
    private var shaking = OscillationGuard()
    /// Scale factor of all corner frequencies; below 1 if the loop has oscillated with a correct
    /// inertia.
    private(set) var bandwidthFactor = 1.0
    /// Axes that have oscillated with a correct inertia.
    private var late = AxisSet.none
    /// Remaining time, s, after a reduction of the corner frequencies, until an oscillation can
    /// cause another reduction.
    private var settling = 0.0
    /// Time since a test swing measured the inertia, s.
    private var sinceSwing = 0.0
    /// Time since the last detection of an oscillation, s.
    private var sinceShaking = Double.infinity
    private var yaw = InertiaProbe()
    private var roll = InertiaProbe()
    private var pitch = InertiaProbe()

    /// Factor by which each reduction multiplies all corner frequencies.
    private static var bandwidthStep: Double { @_noLocks get { 0.7 } }
    /// Lower limit of `bandwidthFactor`.
    private static var leastBandwidthFactor: Double { @_noLocks get { 0.35 } }
    /// Time for an oscillation to decay after a reduction of the corner frequencies, s.
    private static var settlingTime: Double { @_noLocks get { 0.2 } }
    /// Minimum time that a replacement of the camera takes after an inertia measurement, s.
    private static var freshTime: Double { @_noLocks get { 3 } }

    /// Longest time for which the camera can still oscillate after the detection of an oscillation,
    /// s.
    private static var calmingTime: Double { @_noLocks get { 3 } }

    @_noLocks
    init() {}

    /// True if the motors have made the camera oscillate within the last seconds.
    var isShaking: Bool { @_noLocks get { sinceShaking < Self.calmingTime } }

    /// The camera axes with reduced gains after an oscillation.
    var oscillating: AxisSet {
        @_noLocks get {
            var all = shaking.oscillating
            all.insert(late)
            return all
        }
    }

    /// True if the test swing is in progress.
    var isSwinging: Bool { @_noLocks get { yaw.isRunning } }

    /// Standard deviation of the natural logarithm of a measured inertia: 15 %.
    private static var foundSigma: Double { @_noLocks get { 0.15 } }
    /// Standard deviation of the natural logarithm of an inertia that has not been measured. Two
    /// standard deviations are a factor of four.
    private static var unknownSigma: Double { @_noLocks get { 0.7 } }

    /// Standard deviation of the natural logarithm of each axis's inertia. An inertia that has not
    /// been measured can be wrong by a factor of four.
    var sigmas: AxisVector {
        @_noLocks get {
            AxisVector(
                yaw: found.contains(.yaw) ? Self.foundSigma : Self.unknownSigma,
                roll: found.contains(.roll) ? Self.foundSigma : Self.unknownSigma,
                pitch: found.contains(.pitch) ? Self.foundSigma : Self.unknownSigma)
        }
    }

    /// Assumed inertia about the camera's axes, kg·m².
    ///
    /// - Parameters:
    ///   - first: Configured inertia, kg·m².
    ///   - isProbed: True if test swings correct the configured inertia.
    /// - Returns: Assumed inertia, kg·m².
    @_noLocks
    func belief(first: AxisVector, isProbed: Bool) -> AxisVector {
        (isProbed ? probed ?? first : first) * shaking.share
    }

    /// Starts or repeats the test swing.
    @_noLocks
    mutating func begin() {
        yaw.begin()
        roll.begin()
        pitch.begin()
    }

    /// Moment of the test swing.
    ///
    /// - Parameters:
    ///   - rate: Rate of the camera, camera frame, rad/s.
    ///   - sliding: Moment of the joints' sliding friction, if each is 1 N·m, camera frame, N·m.
    ///   - exerted: Moment of the motors at the time of the measured rate, camera frame, N·m.
    ///   - inertia: Assumed inertia about the camera's axes, kg·m².
    ///   - largest: Largest moments of the test swing, N·m.
    ///   - seconds: Time since the beginning of the test swing, s.
    ///   - dt: Seconds since the previous period.
    /// - Returns: Moment on the camera, camera frame, N·m.
    @_noLocks
    mutating func swing(
        rate: Vector3, sliding: Vector3, exerted: Vector3, inertia: AxisVector,
        largest: AxisVector, seconds: Double, dt: Double
    ) -> Vector3 {
        let sine = cm_sin(InertiaProbe.phase(at: seconds))
        return Vector3(
            inertia.roll
                * roll.step(
                    measured: rate.x, expected: exerted.x / inertia.roll, slide: sliding.x,
                    bound: largest.roll / inertia.roll, sine: sine, dt: dt),
            inertia.pitch
                * pitch.step(
                    measured: rate.y, expected: exerted.y / inertia.pitch, slide: sliding.y,
                    bound: largest.pitch / inertia.pitch, sine: sine, dt: dt),
            inertia.yaw
                * yaw.step(
                    measured: rate.z, expected: exerted.z / inertia.yaw, slide: sliding.z,
                    bound: largest.yaw / inertia.yaw, sine: sine, dt: dt))
    }

    /// Adopts the inertia that the test swing has measured.
    ///
    /// - Parameter first: Configured inertia, kg·m².
    /// - Returns: True if the test swing is complete; false if an oscillation has disturbed it. A
    ///   disturbed test swing is repeated with lower gains.
    @_noLocks
    mutating func conclude(first: AxisVector) -> Bool {
        let belief = belief(first: first, isProbed: true)
        var values = probed ?? first
        take(yaw, .yaw, belief: belief, into: &values)
        take(roll, .roll, belief: belief, into: &values)
        take(pitch, .pitch, belief: belief, into: &values)
        probed = values
        if !innocent.isEmpty { blameDelay(innocent) }
        innocent = .none
        let drowned = shaking.oscillating.subtracting(found)
        shaking.lower(drowned)
        isOver = drowned.isEmpty
        return isOver
    }

    /// Largest difference of the natural logarithms of two measurements of the same inertia: two
    /// standard deviations of one measurement.
    private static var sameInertia: Double { @_noLocks get { 0.3 } }

    private mutating func take(
        _ probe: InertiaProbe, _ axis: GimbalAxis, belief: AxisVector, into values: inout AxisVector
    ) {
        guard probe.isKnown else { return }
        values[axis] = belief[axis] / probe.scale
        found.insert(AxisSet(axis))
        // The measured inertia is the same as before the oscillation. Therefore the cause of the
        // oscillation was not a wrong inertia.
        if let suspected, shaking.oscillating.contains(axis),
            abs(cm_log(values[axis] / suspected[axis])) < Self.sameInertia
        {
            innocent.insert(AxisSet(axis))
        }
        shaking.restoreGains(axis)
    }

    /// Reduces all corner frequencies of the loop. The given axes have oscillated with a correct
    /// inertia, so the loop delay is longer than assumed. If `bandwidthFactor` is at its lower
    /// limit, only the inertia estimate can be reduced further.
    private mutating func blameDelay(_ axes: AxisSet) {
        guard settling > 0 || bandwidthFactor > Self.leastBandwidthFactor else { return }
        shaking.restoreGains(axes)
        late.insert(axes)
        guard settling == 0 else { return }
        bandwidthFactor = max(Self.leastBandwidthFactor, Self.bandwidthStep * bandwidthFactor)
        settling = Self.settlingTime
    }

    /// Doubles the inertia estimate after a rotor has slipped before the end of the measurement.
    /// The cause can be a heavy camera, for which the rotor observers are too slow. If the estimate
    /// is already three times the configured inertia or more, the next estimate is the configured
    /// inertia.
    @_noLocks
    mutating func doubleEstimate(first: AxisVector) {
        guard found != AxisSet(yaw: true, roll: true, pitch: true) else { return }
        isOver = false
        // If the camera oscillates, its inertia is not above the estimate, so the estimate is not
        // doubled.
        guard shaking.oscillating.isEmpty else { return }
        var guess = probed ?? first
        if !found.contains(.yaw) { guess.yaw = Self.next(after: guess.yaw, first: first.yaw) }
        if !found.contains(.roll) { guess.roll = Self.next(after: guess.roll, first: first.roll) }
        if !found.contains(.pitch) {
            guess.pitch = Self.next(after: guess.pitch, first: first.pitch)
        }
        probed = guess
    }

    /// Ratio of a guess to the configured inertia above which the guesses start again at the
    /// configured inertia. The largest guess is then four times the configured inertia.
    private static var mostGuess: Double { @_noLocks get { 3 } }

    private static func next(after guess: Double, first: Double) -> Double {
        guess < mostGuess * first ? 2 * guess : first
    }

    /// Checks whether the motors make the camera oscillate.
    ///
    /// - Parameters:
    ///   - moment: Commanded moment of the motors, camera frame, N·m.
    ///   - largest: Largest moment of the motors, N·m.
    ///   - rate: Rate of the camera, camera frame, rad/s.
    ///   - belief: Assumed inertia about the camera's axes, kg·m².
    ///   - delay: Time from a command to the sample that contains its effect, s.
    ///   - dt: Seconds since the previous call, more than 0.
    /// - Returns: True if a new test swing is necessary, because the estimate was reduced.
    @_noLocks
    mutating func watch(
        moment: Vector3, largest: AxisVector, rate: Vector3, belief: AxisVector, delay: Double,
        dt: Double
    ) -> Bool {
        let lowered = shaking.step(
            commanded: Vector3(
                moment.x / belief.roll, moment.y / belief.pitch, moment.z / belief.yaw),
            largest: AxisVector(
                yaw: largest.yaw / belief.yaw, roll: largest.roll / belief.roll,
                pitch: largest.pitch / belief.pitch),
            rate: rate, delay: delay, dt: dt)
        settling = max(0, settling - dt)
        sinceSwing = isOver ? sinceSwing + dt : 0
        sinceShaking = lowered.isEmpty ? sinceShaking + dt : 0
        guard !lowered.isEmpty else { return false }
        guard isOver else { return true }
        // A user cannot swap the camera within 3 s after a swing. Therefore a second swing within
        // this time would give the same result.
        let isFresh = sinceSwing < Self.freshTime && lowered.subtracting(found).isEmpty
        guard suspected == nil, !isFresh else {
            blameDelay(lowered)
            return false
        }
        suspected = belief
        isOver = false
        found = found.subtracting(lowered)
        return true
    }

    /// Ends the check for oscillations. The inertia estimate and the corner frequencies return to
    /// their full values.
    @_noLocks
    mutating func stopWatching() {
        shaking = OscillationGuard()
        (bandwidthFactor, late) = (1, .none)
        sinceShaking = .infinity
    }

    /// Restarts the check for oscillations, because an excitation shakes the camera.
    @_noLocks
    mutating func forgetMotion() { shaking.forgetMotion() }

    /// Resets the check for oscillations and the reduction of the corner frequencies, before the
    /// motors' outputs are switched on.
    @_noLocks
    mutating func forgetSuspicion() {
        shaking.forgetMotion()
        suspected = nil
        (bandwidthFactor, late) = (1, .none)
        settling = 0
        sinceSwing = 0
        sinceShaking = .infinity
    }
}
