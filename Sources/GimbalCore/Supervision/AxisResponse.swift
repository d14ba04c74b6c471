internal import CMathShim

/// Thresholds at which a camera's response counts as the mirror image of the motor's command.
struct ResponseBar: Sendable, BitwiseCopyable {
    /// Smallest credible ratio of response to command.
    var least: Double
    /// Largest credible ratio of response to command.
    var most: Double
    /// Smallest correlation between the response and the inverted command.
    var likeness: Double
    /// Smallest angle by which the camera must have turned away from its set-point, rad: larger
    /// than the camera's remaining motion when a person walks and the motors stabilise it.
    var evidence: Double
    /// Whether an encoder must show that the joint turns with the camera, because a wide range of
    /// credible ratios is weak evidence.
    var needsJoint: Bool
    /// Whether the delay is known. The response to a probe of 50 Hz looks mirrored if it comes 10
    /// ms later than assumed; that is not evidence of a wrong sign.
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

    /// Thresholds for motors that exert torques. After the inertia is found, the thresholds are
    /// close to the expected response, so that a push by hand does not look like a reversed
    /// response. They are wider for a configured and for an unknown inertia.
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

/// Test of one joint for a reversed response: a motor or a sensor with the wrong sign.
///
/// Command and response pass the same band-pass, on two time scales, and older values lose weight
/// at the same rate. With a wrong sign the camera's deviation grows exponentially, and the response
/// is the mirror image of the command. The response to a push by hand is not a mirror image,
/// because the beginning of the push has no counterpart in the command. In addition the camera must
/// have turned away from its set-point with increasing speed, opposite to the command; only a push
/// or a wrong sign causes this. Until the inertia is known, an encoder must also have shown that
/// the joint turned with the camera, because friction lets a handle drag the camera along without a
/// turn of the joint.
///
/// Loop thread only; constant time, no allocation.
struct AxisResponse: Sendable, BitwiseCopyable {
    private var fast = Correlator()
    private var slow = Correlator()
    /// Recent angle by which the camera turned away from its set-point, rad, minus the effect of
    /// its initial rate.
    private var turned = 0.0
    /// Initial rate of the camera relative to its set-point, fading, rad/s; nil before the first
    /// period.
    private var firstRate: Double?
    /// Angle by which the camera turned away from its set-point over the last `jointMemory`, rad,
    /// and the joint's angle at the beginning of that time.
    private var turnedWithJoint = 0.0
    private var pastJoint: Double?
    /// The response one period ago, in the unit of `seen`.
    private var pastSeen = 0.0

    /// Memory of `turned`, s.
    private static var memory: Double { @_noLocks get { 0.3 } }
    /// Time constant of the comparison of camera and joint, s.
    private static var jointMemory: Double { @_noLocks get { 0.04 } }

    /// Filter coefficients for one control period, the same for every axis.
    struct Pace: Sendable, BitwiseCopyable {
        /// Seconds since the previous period, more than 0.
        let dt: Double
        /// Fraction by which `turned` decreases in this period.
        let fade: Double
        /// Weight of a new value in the low-pass of `jointMemory`.
        let joint: Double
        /// Coefficients of the two time scales: about the response times of a fast loop and of a
        /// slow one.
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

    /// Whether the joint's response is reversed, as of the last step.
    private(set) var isReversed = false

    /// Advances by one period.
    ///
    /// - Parameters:
    ///   - told: Command to the motor that was in effect at the time of `seen`, in the unit of
    ///     `seen`.
    ///   - seen: Response of the camera about the joint's axis.
    ///   - astray: Camera's rate about the joint's axis minus the desired one, rad/s.
    ///   - error: Angle from the camera to its set-point about the joint's axis, rad.
    ///   - joint: Joint angle from an encoder, rad; nil without an encoder.
    ///   - bar: Thresholds at which a response counts as the mirror image of the command.
    ///   - least: Smallest command that counts, in the unit of `seen`; the joint's friction can
    ///     absorb less.
    ///   - pace: Coefficients of this period, the same for every axis.
    @_noLocks
    mutating func step(
        told: Double, seen: Double, astray: Double, error: Double, joint: Double?,
        bar: ResponseBar, least: Double, pace: Pace
    ) {
        let dt = pace.dt
        // A cause that moved the camera before the motors came on, such as a walker's hand,
        // continues afterwards.
        let first = firstRate ?? astray
        let fade = pace.fade
        turned += (astray - first) * dt - turned * fade
        firstRate = first * (1 - fade)
        let isTurned = turns(joint, astray: astray, pace)
        let isMirrored =
            (fast.step(told: told, seen: seen, astray: astray, bar: bar, pace.fast)
                && (bar.isDelayKnown || slow.isOpposed))
            || slow.step(told: told, seen: seen, astray: astray, bar: bar, pace.slow)
        let isLeaving =
            turned * astray > 0 && error * astray < 0
            && min(abs(turned), 2 * abs(error)) > bar.evidence
            && 2 * abs(astray) * Self.memory > abs(turned)
        // The response to a wrong sign keeps its direction. A camera that oscillates from one
        // period to the next is mirrored in every second one.
        isReversed =
            isMirrored && isLeaving && (isTurned || !bar.needsJoint) && abs(told) > least
            && seen * pastSeen > 0
        pastSeen = seen
    }

    /// Whether the joint has turned by at least half the camera's angle.
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

    /// Coefficients of one period.
    struct Pace: Sendable, BitwiseCopyable {
        /// Factor on the sums in this period, below 1.
        let keep: Double
        /// Weights of a new value in the two low-passes.
        let short, long: Double

        @_noLocks
        init(seconds least: Double, dt: Double) {
            // With fewer samples, a cause and its response cannot be distinguished.
            let seconds = max(least, 6 * dt)
            keep = 1 - min(dt / (4 * seconds), 1)
            short = dt / (seconds + dt)
            long = dt / (3 * seconds + dt)
        }
    }

    @_noLocks
    init() {}

    /// Whether the response opposes the command rather than follows it.
    var isOpposed: Bool {
        @_noLocks get { products < -0.3 * cm_sqrt(toldSquares * seenSquares) }
    }

    /// Advances by one period. Returns whether the response is the mirror image of the command, and
    /// growing.
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

/// Difference of two low-passes that start at the first value.
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
