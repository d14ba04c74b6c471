internal import CMathShim

/// Thresholds above which the camera's response counts as opposite to the motor command.
struct ResponseBar: Sendable, BitwiseCopyable {
    /// Smallest credible ratio of response to command.
    var least: Double
    /// Largest credible ratio of response to command.
    var most: Double
    /// Smallest correlation between the response and the inverted command, 0...1.
    var correlation: Double
    /// Smallest angle by which the camera must have turned away from its set-point, rad. The
    /// threshold exceeds the residual motion of a stabilised camera in the hand of a walking
    /// person.
    var evidence: Double
    /// True if an encoder must confirm that the joint turns with the camera. If the range from
    /// `least` to `most` is wide, the ratio alone is weak evidence.
    var needsJoint: Bool
    /// True if the loop's delay is known. The response to a probe of 50 Hz looks inverted if it
    /// arrives 10 ms later than assumed, and is then not evidence of a wrong sign.
    var isDelayKnown = true

    /// Value of `evidence` for motors that exert torques, rad: 0.6°.
    static var usualEvidence: Double { @_noLocks get { 0.6 * .pi / 180 } }
    /// Value of `evidence` for servos, rad: 1.5°. The dead band and the delay of a servo leave more
    /// residual motion.
    static var servoEvidence: Double { @_noLocks get { 1.5 * .pi / 180 } }

    @_noLocks
    init(
        least: Double, most: Double, correlation: Double, evidence: Double = usualEvidence,
        needsJoint: Bool = false
    ) {
        self.least = least
        self.most = most
        self.correlation = correlation
        self.evidence = evidence
        self.needsJoint = needsJoint
    }

    /// Thresholds for motors that exert torques. With an identified inertia, the range of credible
    /// ratios is narrow, so a push by hand is not mistaken for a reversed response. The range of
    /// ratios is wider for a configured inertia, and widest for an unknown inertia.
    @_noLocks
    init(findsInertia: Bool, isInertiaFound: Bool, isDelayKnown: Bool) {
        defer { self.isDelayKnown = isDelayKnown }
        if !findsInertia {
            self.init(least: 0.2, most: 5, correlation: 0.96)
        } else if isInertiaFound {
            self.init(least: 0.7, most: 1.35, correlation: 0.97)
        } else {
            self.init(least: 0.03, most: 30, correlation: 0.98, needsJoint: true)
        }
    }
}

/// Polarity check of one joint. A response opposite to the command means that a motor or a sensor
/// has the wrong sign.
///
/// Command and response pass through identical band-pass filters, on a short and on a long time
/// scale. The filters' outputs are correlated with exponential forgetting. With a wrong sign, the
/// camera's deviation grows exponentially, and the response is the inverted command. After a push
/// by hand, the response is not the inverted command, because the push begins before the command.
///
/// In addition, the camera must have turned away from its set-point, opposite to the command and
/// with increasing speed. Only a push or a wrong sign causes an accelerated rotation away from the
/// set-point. The motion of the set-point does not count: while the motors' torque is still limited
/// after their start, friction carries the camera along with the handle, and the set-point can move
/// away from the camera. Until the inertia is known, an encoder must confirm that the joint turned
/// with the camera. If the joint did not turn, friction may have dragged the camera along with the
/// handle.
///
/// A motor at its torque limit has a constant command, which shows no correlation. If the camera
/// nevertheless turns away, and its inertia is not known, the torque is reduced for a moment
/// (`isPaused`). With a wrong sign, the camera's acceleration then falls with the torque. If a hand
/// or a weight turns the camera, the acceleration rises.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct AxisResponse: Sendable, BitwiseCopyable {
    private var fast = Correlator()
    private var slow = Correlator()
    /// Angle by which the camera recently turned away from its set-point, rad. The effect of
    /// `firstRate` is subtracted.
    private var turned = 0.0
    /// Camera's rate relative to its set-point in the first period, rad/s. The value decays with
    /// the time constant `memory`; nil before the first period.
    private var firstRate: Double?
    /// Angle by which the camera itself recently turned in the direction of the deviation, rad. The
    /// effect of `usualRate` is subtracted.
    private var moved = 0.0
    /// Camera's rate, smoothed with the time constant `memory`, rad/s; nil before the first period.
    private var usualRate: Double?
    /// Angle by which the camera turned away from its set-point over about the last `jointMemory`
    /// seconds, rad.
    private var turnedWithJoint = 0.0
    /// Joint angle, smoothed with the time constant `jointMemory`, rad; nil before the first angle.
    private var pastJoint: Double?
    /// The parameter `observed` of the previous call of `step`.
    private var pastObserved = 0.0
    /// Time since the beginning of the last pause of the torque, s.
    private var sincePause = Double.infinity

    /// Time constant with which `turned`, `moved` and `firstRate` decay, s.
    private static var memory: Double { @_noLocks get { 0.3 } }
    /// Time constant for the comparison of camera and joint angle, s.
    private static var jointMemory: Double { @_noLocks get { 0.04 } }
    /// Time scale of the correlation in a fast loop, s.
    private static var fastSeconds: Double { @_noLocks get { 0.006 } }
    /// Time scale of the correlation in a slow loop, s.
    private static var slowSeconds: Double { @_noLocks get { 0.040 } }
    /// Angle by which the camera must have turned away before a pause, as a multiple of `evidence`:
    /// 3° for motors that exert torques.
    private static var pauseEvidence: Double { @_noLocks get { 5 } }
    /// Smallest correlation between the inverted command and the response to a pause.
    private static var pauseCorrelation: Double { @_noLocks get { 0.95 } }
    /// Part of the time after the beginning of a pause in which the correlation is evaluated, as
    /// multiples of the pause. Before, the motor has not responded; afterwards, the response to the
    /// pause has faded.
    private static var pauseResponse: (begin: Double, end: Double) { @_noLocks get { (0.5, 2) } }
    /// Shortest time between the beginnings of two pauses, as a multiple of the pause.
    private static var pauseInterval: Double { @_noLocks get { 10 } }

    /// Filter coefficients of one control period; the same values apply to every axis.
    struct Pace: Sendable, BitwiseCopyable {
        /// Seconds since the previous period, more than 0.
        let dt: Double
        /// Fraction by which `turned` and `moved` decay in this period.
        let fade: Double
        /// Weight of a new value in the low-pass with the time constant `jointMemory`.
        let joint: Double
        /// Duration of a pause of the torque, s: four times the shorter time scale of the
        /// correlation, which is 24 ms, or 24 periods in a loop below 1 kHz.
        let pause: Double
        /// Coefficients for the time scales of a fast loop and a slow loop.
        fileprivate let fast, slow: Correlator.Pace

        @_noLocks
        init(dt: Double) {
            self.dt = dt
            fade = min(dt / AxisResponse.memory, 1)
            joint = dt / (AxisResponse.jointMemory + dt)
            fast = Correlator.Pace(seconds: AxisResponse.fastSeconds, dt: dt)
            pause = dt / (1 - fast.keep)
            slow = Correlator.Pace(seconds: AxisResponse.slowSeconds, dt: dt)
        }
    }

    @_noLocks
    init() {}

    /// True if the response of the joint was reversed in the last period.
    private(set) var isReversed = false
    /// True if the motor's torque must be reduced in the next period, as a test of its sign.
    private(set) var isPaused = false

    /// Updates `isReversed` with command and response of one period.
    ///
    /// - Parameters:
    ///   - commanded: Command to the motor, delayed by the loop delay so that `observed` contains
    ///     its effect, in the unit of `observed`.
    ///   - observed: Response of the camera about the joint's axis: acceleration, rad/s², for
    ///     torque motors, or rate, rad/s, for servos.
    ///   - rate: Camera's rate about the joint's axis, rad/s.
    ///   - deviation: Camera's rate minus the desired rate about the joint's axis, rad/s.
    ///   - error: Angle from the camera to its set-point about the joint's axis, rad.
    ///   - joint: Joint angle from an encoder, rad; nil without an encoder.
    ///   - bar: Thresholds at which a response counts as the inverted command.
    ///   - least: Smallest command that is evaluated, in the unit of `observed`. The joint's
    ///     friction can prevent a response to a smaller command.
    ///   - isSaturated: True if the motor is at its limit.
    ///   - pace: Filter coefficients of this period.
    @_noLocks
    mutating func step(
        commanded: Double, observed: Double, rate: Double, deviation: Double, error: Double,
        joint: Double?, bar: ResponseBar, least: Double, isSaturated: Bool, pace: Pace
    ) {
        let dt = pace.dt
        // A motion that began before the motors were switched on, such as walking, continues.
        // Therefore the rate of this motion is subtracted.
        let first = firstRate ?? deviation
        let fade = pace.fade
        turned += (deviation - first) * dt - turned * fade
        firstRate = first * (1 - fade)
        let usual = usualRate ?? rate
        moved += (rate - usual) * dt - moved * fade
        // A sign can become wrong after a turn in the other direction.
        if moved * deviation < 0 { moved = 0 }
        usualRate = usual + (rate - usual) * fade
        let isTurned = turns(joint, deviation: deviation, pace)
        let isOpposite =
            (fast.step(
                commanded: commanded, observed: observed, deviation: deviation, bar: bar, pace.fast)
                && (bar.isDelayKnown || slow.isOpposed))
            || slow.step(
                commanded: commanded, observed: observed, deviation: deviation, bar: bar, pace.slow)
        let isLeaving =
            turned * deviation > 0 && moved * deviation > 0 && error * deviation < 0
            && min(min(abs(turned), abs(moved)), 2 * abs(error)) > bar.evidence
            && 2 * abs(deviation) * Self.memory > abs(turned)
        // With a wrong sign, the response keeps its direction. In an oscillation at half the loop
        // rate, the response looks inverted in every second period only.
        isReversed =
            isOpposite && isLeaving && (isTurned || !bar.needsJoint) && abs(commanded) > least
            && observed * pastObserved > 0
        pastObserved = observed
        sincePause += dt
        let isFar = min(abs(turned), abs(moved)) > Self.pauseEvidence * bar.evidence
        if isSaturated, isLeaving, isFar, isTurned, bar.needsJoint, commanded * deviation < 0,
            sincePause > Self.pauseInterval * pace.pause
        {
            sincePause = 0
        }
        isPaused = sincePause < pace.pause
        let response = Self.pauseResponse
        // A camera that meets an obstacle while the torque falls also decelerates.
        if sincePause > response.begin * pace.pause, sincePause < response.end * pace.pause,
            isLeaving, observed * deviation > 0, fast.isInverted(Self.pauseCorrelation, bar: bar)
        {
            isReversed = true
        }
    }

    /// True if the joint has turned by at least half the camera's angle.
    private mutating func turns(_ joint: Double?, deviation: Double, _ pace: Pace) -> Bool {
        let share = pace.joint
        turnedWithJoint += deviation * pace.dt - turnedWithJoint * share
        guard let joint else { return true }
        let past = pastJoint ?? joint
        pastJoint = past + (joint - past) * share
        return abs(joint - past) > 0.5 * abs(turnedWithJoint)
    }
}

/// Correlation of the band-passed command and the band-passed response, with exponential
/// forgetting.
private struct Correlator: Sendable, BitwiseCopyable {
    private var commanded = BandPass()
    private var observed = BandPass()
    private var products = 0.0
    private var commandedSquares = 0.0
    private var observedSquares = 0.0

    /// Coefficients of one period.
    struct Pace: Sendable, BitwiseCopyable {
        /// Factor by which the sums decay in this period, below 1.
        let keep: Double
        /// Weights of a new value in the band-pass filter's two low-pass filters.
        let short, long: Double

        /// Shortest time scale, periods. In a shorter time, a command and its response cannot be
        /// distinguished.
        private static var leastPeriods: Double { @_noLocks get { 6 } }

        @_noLocks
        init(seconds least: Double, dt: Double) {
            let seconds = max(least, Self.leastPeriods * dt)
            keep = 1 - min(dt / (4 * seconds), 1)
            short = dt / (seconds + dt)
            long = dt / (3 * seconds + dt)
        }
    }

    @_noLocks
    init() {}

    /// Correlation of command and response below which the response is opposed to the command.
    private static var opposed: Double { @_noLocks get { -0.3 } }

    /// True if the response is opposed to the command.
    var isOpposed: Bool {
        @_noLocks get { products < Self.opposed * cm_sqrt(commandedSquares * observedSquares) }
    }

    /// Updates the correlation with the signals of one period. Returns true if the response is the
    /// inverted command and accelerates the camera away from its set-point.
    @_noLocks
    mutating func step(
        commanded newCommanded: Double, observed newObserved: Double, deviation: Double,
        bar: ResponseBar, _ pace: Pace
    ) -> Bool {
        let u = commanded.step(newCommanded, pace)
        let v = observed.step(newObserved, pace)
        let keep = pace.keep
        products = products * keep + u * v
        commandedSquares = commandedSquares * keep + u * u
        observedSquares = observedSquares * keep + v * v
        return u * deviation < 0 && v * deviation > 0 && isInverted(bar.correlation, bar: bar)
    }

    /// True if the response is the inverted command, with at least the given correlation, 0...1, and
    /// a credible ratio.
    @_noLocks
    func isInverted(_ correlation: Double, bar: ResponseBar) -> Bool {
        guard commandedSquares > 0 else { return false }
        let ratio = -products / commandedSquares
        return products < -correlation * cm_sqrt(commandedSquares * observedSquares)
            && ratio > bar.least && ratio < bar.most
    }
}

/// Band-pass filter: the difference of two first-order low-pass filters. The first value
/// initialises both filters.
private struct BandPass: Sendable, BitwiseCopyable {
    private var short = Double.nan
    private var long = 0.0

    @_noLocks
    init() {}

    @_noLocks @inline(always)
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
