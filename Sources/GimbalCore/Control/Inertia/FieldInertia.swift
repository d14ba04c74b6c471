internal import CMathShim

/// The inertia of a camera on motors without encoders. A small swing of all joints shows it when
/// the motors come on; it is doubted where a rotor slips or the motors make the camera oscillate.
///
/// A belief that is too heavy makes every gain too large, and the observers of the rotors too
/// quick: the camera oscillates, and the belief is halved until it does not. One that is too light
/// makes the observers slow, and a rotor slips: it is doubled. Where a swing shows the same inertia
/// as before the oscillation, the loop is later than believed: the belief returns, and every corner
/// of the loop goes down instead.
///
/// Loop thread only; constant time, no allocation.
struct FieldInertia: Sendable, BitwiseCopyable {
    /// The swing has ended, and no rotor has slipped since for want of its result.
    private(set) var isOver = false
    /// The camera's axes about which a swing has shown the inertia.
    private var found = AxisSet.none
    /// The inertia that the swings have shown, or a guess after a slip, kg·m².
    private var probed: AxisVector?
    /// The belief that made the camera oscillate, kg·m²; nil: none since the start.
    private var suspected: AxisVector?
    /// The axes about which the last swing has shown what was believed before the oscillation.
    private var innocent = AxisSet.none
    private var shaking = OscillationGuard()
    /// Share of every corner that is left to a loop that has oscillated although its inertia was
    /// right, and the axes that have.
    private(set) var slack = 1.0
    private var late = AxisSet.none
    /// Time for which oscillations are still ignored, s.
    private var settling = 0.0
    /// Since a swing has shown the inertia, s.
    private var sinceSwing = 0.0
    /// Since an oscillation was last detected, s.
    private var sinceShaking = Double.infinity
    private var yaw = InertiaProbe()
    private var roll = InertiaProbe()
    private var pitch = InertiaProbe()

    /// By how much every corner goes down at once, how far in all, and how long that is given to
    /// end an oscillation, s.
    private static var slackStep: Double { @_noLocks get { 0.7 } }
    private static var leastSlack: Double { @_noLocks get { 0.35 } }
    private static var settlingTime: Double { @_noLocks get { 0.2 } }
    /// Time after a swing in which the camera cannot have been exchanged, s.
    private static var freshTime: Double { @_noLocks get { 3 } }

    /// Time after a detection in which the camera may still swing, s.
    private static var calmingTime: Double { @_noLocks get { 3 } }

    @_noLocks
    init() {}

    /// Whether the motors have made the camera oscillate within the last seconds.
    var isShaking: Bool { @_noLocks get { sinceShaking < Self.calmingTime } }

    /// The camera's axes whose gains are down because the motors have made it oscillate.
    var oscillating: AxisSet {
        @_noLocks get {
            var all = shaking.oscillating
            all.insert(late)
            return all
        }
    }

    /// The swing goes on.
    var isSwinging: Bool { @_noLocks get { yaw.isRunning } }

    /// Standard deviation of the belief, natural logarithm: a factor of four is possible before it
    /// has been found.
    var sigmas: AxisVector {
        @_noLocks get {
            AxisVector(
                yaw: found.contains(.yaw) ? 0.15 : 0.7, roll: found.contains(.roll) ? 0.15 : 0.7,
                pitch: found.contains(.pitch) ? 0.15 : 0.7)
        }
    }

    /// The inertia to count with, about the camera's axes, kg·m².
    ///
    /// - Parameters:
    ///   - first: As configured, kg·m².
    ///   - isProbed: Whether the swings may say otherwise.
    /// - Returns: kg·m².
    @_noLocks
    func belief(first: AxisVector, isProbed: Bool) -> AxisVector {
        (isProbed ? probed ?? first : first) * shaking.share
    }

    /// The swing is about to begin, or to begin again.
    @_noLocks
    mutating func begin() {
        yaw.begin()
        roll.begin()
        pitch.begin()
    }

    /// The torques of the swing, N·m.
    ///
    /// - Parameters:
    ///   - rates: Of the joints as the gyroscope shows them, rad/s.
    ///   - expected: Accelerations that the motors gave then, for the believed inertia, rad/s².
    ///   - inertia: The belief about the joints' axes, kg·m².
    ///   - largest: Torques that the swing may take, N·m.
    ///   - seconds: Since the swing began.
    ///   - dt: Seconds since the previous period.
    /// - Returns: About the joints' axes, N·m.
    @_noLocks
    mutating func swing(
        rates: AxisVector, expected: AxisVector, inertia: AxisVector, largest: AxisVector,
        seconds: Double, dt: Double
    ) -> AxisVector {
        let sine = cm_sin(InertiaProbe.phase(at: seconds))
        return AxisVector(
            yaw: inertia.yaw
                * yaw.step(
                    measured: rates.yaw, expected: expected.yaw,
                    bound: largest.yaw / inertia.yaw, sine: sine, dt: dt),
            roll: inertia.roll
                * roll.step(
                    measured: rates.roll, expected: expected.roll,
                    bound: largest.roll / inertia.roll, sine: sine, dt: dt),
            pitch: inertia.pitch
                * pitch.step(
                    measured: rates.pitch, expected: expected.pitch,
                    bound: largest.pitch / inertia.pitch, sine: sine, dt: dt))
    }

    /// Takes over what the swing has shown.
    ///
    /// - Parameters:
    ///   - kinematics: Of the joints now.
    ///   - first: The inertia as configured, kg·m².
    /// - Returns: Whether the swing is over; false: it drowned in an oscillation, and is made once
    ///   more with lower gains.
    @_noLocks
    mutating func conclude(_ kinematics: JointKinematics, first: AxisVector) -> Bool {
        // With the camera straight up or down, the yaw joint turns it about its own roll axis.
        let isUpright = abs(kinematics.yawAxis.z) > 0.7
        let belief = belief(first: first, isProbed: true)
        var values = probed ?? first
        take(isUpright ? yaw : roll, .yaw, belief: belief, into: &values)
        take(isUpright ? roll : yaw, .roll, belief: belief, into: &values)
        take(pitch, .pitch, belief: belief, into: &values)
        probed = values
        if !innocent.isEmpty { blameDelay(innocent) }
        innocent = .none
        let drowned = shaking.oscillating.subtracting(found)
        shaking.lower(drowned)
        isOver = drowned.isEmpty
        return isOver
    }

    private mutating func take(
        _ probe: InertiaProbe, _ axis: GimbalAxis, belief: AxisVector, into values: inout AxisVector
    ) {
        guard probe.isKnown else { return }
        values[axis] = belief[axis] / probe.scale
        found.insert(AxisSet(axis))
        // The same as before: the inertia was not to blame.
        if let suspected, shaking.oscillating.contains(axis),
            abs(cm_log(values[axis] / suspected[axis])) < 0.3
        {
            innocent.insert(AxisSet(axis))
        }
        shaking.trust(axis)
    }

    /// These axes have oscillated with the right inertia, so the loop is later than believed: every
    /// corner goes down. At the lowest one nothing is left but a smaller belief.
    private mutating func blameDelay(_ axes: AxisSet) {
        guard settling > 0 || slack > Self.leastSlack else { return }
        shaking.trust(axes)
        late.insert(axes)
        guard settling == 0 else { return }
        slack = max(Self.leastSlack, Self.slackStep * slack)
        settling = Self.settlingTime
    }

    /// A rotor slipped before its swing has shown the inertia. A camera heavier than believed makes
    /// the observers slow: the next swing begins with twice the belief, and after four times the
    /// configured one with that again.
    @_noLocks
    mutating func doubt(first: AxisVector) {
        guard found != AxisSet(yaw: true, roll: true, pitch: true) else { return }
        isOver = false
        // A camera that oscillates is not heavier than believed.
        guard shaking.oscillating.isEmpty else { return }
        var guess = probed ?? first
        if !found.contains(.yaw) { guess.yaw = Self.next(after: guess.yaw, first: first.yaw) }
        if !found.contains(.roll) { guess.roll = Self.next(after: guess.roll, first: first.roll) }
        if !found.contains(.pitch) {
            guess.pitch = Self.next(after: guess.pitch, first: first.pitch)
        }
        probed = guess
    }

    private static func next(after guess: Double, first: Double) -> Double {
        guess < 3 * first ? 2 * guess : first
    }

    /// Looks for an oscillation.
    ///
    /// - Parameters:
    ///   - moment: That the motors were led for, camera frame, N·m.
    ///   - largest: That they can exert, N·m.
    ///   - rate: Of the camera, camera frame, rad/s.
    ///   - belief: The inertia that was counted with, kg·m².
    ///   - delay: From a command to the sample that shows it, s.
    ///   - dt: Seconds since the previous call, more than 0.
    /// - Returns: Whether the belief has gone down, and a new swing may say what it should be.
    @_noLocks
    mutating func watch(
        moment: Vector3, largest: AxisVector, rate: Vector3, belief: AxisVector, delay: Double,
        dt: Double
    ) -> Bool {
        let lowered = shaking.step(
            told: Vector3(
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
        // A second swing would show the same, and the camera cannot have been exchanged yet.
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

    /// Nothing is watched: what an oscillation has taken from the belief is given back.
    @_noLocks
    mutating func stopWatching() {
        shaking = OscillationGuard()
        (slack, late) = (1, .none)
        sinceShaking = .infinity
    }

    /// Something shakes the camera on purpose.
    @_noLocks
    mutating func forgetMotion() { shaking.forgetMotion() }

    /// The outputs are about to come on.
    @_noLocks
    mutating func forgetSuspicion() {
        shaking.forgetMotion()
        suspected = nil
        (slack, late) = (1, .none)
        settling = 0
        sinceSwing = 0
        sinceShaking = .infinity
    }
}
