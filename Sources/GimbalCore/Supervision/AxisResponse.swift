internal import CMathShim

/// When what a camera does counts as the mirror image of what its motor was told.
struct ResponseBar: Sendable, BitwiseCopyable {
    /// Smallest believable ratio of what is seen to what was told.
    var least: Double
    /// Largest believable ratio.
    var most: Double
    /// Smallest correlation of an image with its mirror image.
    var likeness: Double
    /// How far the camera must have been carried, rad: more than what the motors leave of a
    /// walker's steps.
    var evidence: Double
    /// Whether a joint with an encoder must be seen to turn along: where a wide range of ratios
    /// proves little.
    var needsJoint: Bool
    /// Whether the delay is known: a probe of 50 Hz that is answered 10 ms later than believed
    /// looks mirrored, which says nothing about the motor.
    var isDelayKnown = true

    @_noLocks
    init(
        least: Double, most: Double, likeness: Double, evidence: Double = 0.6 * .pi / 180,
        needsJoint: Bool = false
    ) {
        self.least = least
        self.most = most
        self.likeness = likeness
        self.evidence = evidence
        self.needsJoint = needsJoint
    }

    /// For motors that exert torques: closely what the inertia says once it was found, so that no push by hand looks like a wrong
    /// answer; less strictly where somebody has written the inertia down, and before it is known.
    @_noLocks
    init(findsInertia: Bool, isInertiaFound: Bool, isDelayKnown: Bool) {
        defer { self.isDelayKnown = isDelayKnown }
        if !findsInertia {
            self.init(least: 0.2, most: 5, likeness: 0.96)
        } else if isInertiaFound {
            self.init(least: 0.7, most: 1.35, likeness: 0.97)
        } else {
            self.init(least: 0.03, most: 30, likeness: 0.98, needsJoint: true)
        }
    }
}

/// Whether one joint answers as it is told to, or the other way round: a motor or a sensor with the
/// wrong sign.
///
/// What is told and what is seen pass the same band-pass, on two time scales, and their moments are
/// forgotten at the same pace. A wrong sign makes the loop grow along one exponential in which what
/// is seen is the mirror image of what was told; a push by hand is not, as its beginning has no
/// counterpart in what was told. The camera must also have been carried away from where it should
/// be, faster and faster, against what the motor was told: only a push or a wrong sign does that.
/// Before the inertia is known an encoder must also have shown the joint turn with it: a handle
/// drags a camera along by friction, without.
///
/// Loop thread only; constant time, no allocation.
struct AxisResponse: Sendable, BitwiseCopyable {
    private var fast = Correlator()
    private var slow = Correlator()
    /// Angle that the camera went astray lately, rad, beyond what its first rate would have made of
    /// it.
    private var turned = 0.0
    /// How fast the camera went astray at first, fading, rad/s; nil = nothing was seen yet.
    private var firstRate: Double?
    /// The same angle over `jointMemory`, rad, and where the joint was that long ago.
    private var turnedWithJoint = 0.0
    private var pastJoint: Double?

    /// Memory of `turned`, s.
    private static var memory: Double { @_noLocks get { 0.3 } }
    /// Over which camera and joint are compared, s.
    private static var jointMemory: Double { @_noLocks get { 0.04 } }

    /// What time does in one period: the same for every axis.
    struct Pace: Sendable, BitwiseCopyable {
        /// Seconds since the previous period, more than 0.
        let dt: Double
        /// Share of `turned` that is forgotten.
        let fade: Double
        /// Share of the joint's memory that is new.
        let joint: Double
        /// Of the two time scales, about as long as a fast loop and a slow one take to answer.
        fileprivate let fast, slow: Correlator.Pace

        @_noLocks
        init(dt: Double) {
            self.dt = dt
            fade = min(dt / AxisResponse.memory, 1)
            joint = dt / (AxisResponse.jointMemory + dt)
            fast = Correlator.Pace(seconds: 0.006, dt: dt)
            slow = Correlator.Pace(seconds: 0.040, dt: dt)
        }
    }

    @_noLocks
    init() {}

    /// Whether the joint answers the wrong way round, as of the last step.
    private(set) var isReversed = false

    /// One period.
    ///
    /// - Parameters:
    ///   - told: What the motor was told, as it acted when `seen` was measured, in the unit of
    ///     `seen`.
    ///   - seen: What the camera did about the joint's axis.
    ///   - astray: Camera's rate about the joint's axis, less what it should be, rad/s.
    ///   - error: Angle from the camera to where it should be, about the joint's axis, rad.
    ///   - joint: Angle of the joint as an encoder measures it, rad; nil = none fitted.
    ///   - bar: What counts as a mirror image.
    ///   - least: What the motor must have been told, in the unit of `seen`: less than that a
    ///     joint's friction takes.
    ///   - pace: Of this period, the same for every axis.
    @_noLocks
    mutating func step(
        told: Double, seen: Double, astray: Double, error: Double, joint: Double?,
        bar: ResponseBar, least: Double, pace: Pace
    ) {
        let dt = pace.dt
        // What moved the camera before its motors came on, a walker's hand, does so afterwards.
        let first = firstRate ?? astray
        let fade = pace.fade
        turned += (astray - first) * dt - turned * fade
        firstRate = first * (1 - fade)
        let isTurned = turns(joint, astray: astray, pace)
        let isFastMirrored = fast.step(
            told: told, seen: seen, astray: astray, bar: bar, pace.fast)
        let isSlowMirrored = slow.step(
            told: told, seen: seen, astray: astray, bar: bar, pace.slow)
        let isMirrored =
            isSlowMirrored || (isFastMirrored && (bar.isDelayKnown || slow.isOpposed))
        let isLeaving =
            turned * astray > 0 && error * astray < 0
            && min(abs(turned), 2 * abs(error)) > bar.evidence
            && 2 * abs(astray) * Self.memory > abs(turned)
        isReversed =
            isMirrored && isLeaving && (isTurned || !bar.needsJoint) && abs(told) > least
    }

    /// Whether the joint has turned at least half as far as the camera.
    private mutating func turns(_ joint: Double?, astray: Double, _ pace: Pace) -> Bool {
        let share = pace.joint
        turnedWithJoint += astray * pace.dt - turnedWithJoint * share
        guard let joint else { return true }
        let past = pastJoint ?? joint
        pastJoint = past + (joint - past) * share
        return abs(joint - past) > 0.5 * abs(turnedWithJoint)
    }
}

/// Correlation of two band-passed signals over the last moments.
private struct Correlator: Sendable, BitwiseCopyable {
    private var told = BandPass()
    private var seen = BandPass()
    private var products = 0.0
    private var toldSquares = 0.0
    private var seenSquares = 0.0

    /// What time does to it in one period.
    struct Pace: Sendable, BitwiseCopyable {
        /// Share of the moments that is kept.
        let keep: Double
        /// Shares of a new value in the low-passes.
        let short, long: Double

        @_noLocks
        init(seconds least: Double, dt: Double) {
            // Fewer samples do not tell a cause from what answers to it.
            let seconds = max(least, 6 * dt)
            keep = 1 - min(dt / (4 * seconds), 1)
            short = dt / (seconds + dt)
            long = dt / (3 * seconds + dt)
        }
    }

    @_noLocks
    init() {}

    /// Whether what is seen goes rather against what was told.
    var isOpposed: Bool {
        @_noLocks get { products < -0.5 * cm_sqrt(toldSquares * seenSquares) }
    }

    /// One period; whether what is seen is the mirror image of what was told, and growing.
    @_noLocks
    mutating func step(
        told newTold: Double, seen newSeen: Double, astray: Double,
        bar: ResponseBar, _ pace: Pace
    ) -> Bool {
        let u = told.step(newTold, pace)
        let v = seen.step(newSeen, pace)
        let keep = pace.keep
        products = products * keep + u * v
        toldSquares = toldSquares * keep + u * u
        seenSquares = seenSquares * keep + v * v
        guard toldSquares > 0, u * astray < 0, v * astray > 0 else { return false }
        let ratio = -products / toldSquares
        return products < -bar.likeness * cm_sqrt(toldSquares * seenSquares)
            && ratio > bar.least && ratio < bar.most
    }
}

/// The difference of two low-passes, which begin with the first value.
private struct BandPass: Sendable, BitwiseCopyable {
    private var short = Double.nan
    private var long = 0.0

    @_noLocks
    init() {}

    @_noLocks @inline(__always)
    mutating func step(_ value: Double, _ pace: Correlator.Pace) -> Double {
        if short.isNaN {
            short = value
            long = value
        }
        short += (value - short) * pace.short
        long += (value - long) * pace.long
        return short - long
    }
}
