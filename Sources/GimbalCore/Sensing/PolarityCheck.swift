internal import CMathShim

/// Polarity check of one axis during operation. If the sign of the gyroscope or of the motor is
/// wrong, the gyroscope measures the motor's effect with the opposite sign.
///
/// The test compares two signals: the recent changes of the gyroscope's rate from sample to sample,
/// and the expected changes due to the motor. In a loop with the correct sign, the two signals are
/// never opposite for long. With a disturbance at a single frequency, the phase difference of the
/// two signals is that of the open loop: 90° to 180° of lag. With a lag in this range, the two
/// signals never have opposite values and opposite slopes at the same time. At the beginning of a
/// push by hand, the correlation of the two signals is -0.5. With a wrong sign, both signals grow
/// exponentially and remain opposite in value and slope.
///
/// Therefore the test requires a correlation below -0.85, computed with and without subtraction of
/// the signals' means. Before the test, the set-point's change is subtracted from the measured
/// change. The difference between measured and expected changes must also exceed the usual scatter.
/// The measured rate, without subtraction of the set-point's rate, must also change in the
/// direction opposite to the motor's torque. Without this condition, the response would look
/// reversed if friction holds the camera while the set-point moves away. The motor's command must
/// keep its direction, because with a wrong sign the error grows in one direction. An oscillation
/// can look reversed if the loop has more delay than assumed.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct PolarityCheck: Sendable, BitwiseCopyable {
    /// Scatter and sample interval, common to all axes.
    struct Rule: Sendable, BitwiseCopyable {
        /// Usual mean square of the unexplained rate changes on one axis, rad²/s².
        var scatter: Double
        /// Seconds since the previous sample, more than 0.
        var dt: Double

        @_noLocks
        init(scatter: Double, dt: Double) {
            self.scatter = scatter
            self.dt = dt
        }
    }

    /// Exponentially weighted sums over about the last `memory` seconds, rad²/s². `commanded` sums
    /// the squares of the expected rate changes, and `observed` the squares of the measured rate
    /// changes minus the set-point's changes. `product` sums the products of the two changes, and
    /// `unexplained` the squares of their differences.
    private var commanded = 0.0
    private var observed = 0.0
    private var product = 0.0
    private var unexplained = 0.0
    /// Exponentially weighted sum of the expected rate changes due to the motor, rad/s.
    private var pushes = 0.0
    /// Exponentially weighted sum of the measured rate changes minus the set-point's rate changes,
    /// rad/s.
    private var changes = 0.0
    /// Exponentially weighted sum of the measured rate changes, without subtraction of the
    /// set-point's changes, rad/s.
    private var shown = 0.0
    /// Time for which the gyroscope has measured the opposite of the motor's effect, s.
    private var lasting = 0.0

    /// Smallest time constant of the weighted sums, s; the time constant is at least six sample
    /// periods.
    private static var memory: Double { @_noLocks get { 0.008 } }

    /// Time, s, for which the gyroscope must measure the opposite of the motor's effect until
    /// `isReversed` becomes true; at least five samples.
    private static var patience: Double { @_noLocks get { 0.008 } }

    /// Smallest ratio of squared mean to mean square of the expected rate changes. Above this
    /// ratio, the motor's command counts as constant in direction.
    private static var steadiness: Double { @_noLocks get { 0.4 } }
    /// Rate below which the camera does not count as turning, rad/s.
    private static var leastRate: Double { @_noLocks get { 0.1 } }

    /// True if the gyroscope measured the opposite of the motor's effect at the last step.
    private(set) var isReversed = false

    /// Smallest divisor of the correlation, (rad/s)²; without commands, the divisor is 0.
    private static var leastScale: Double { @_noLocks get { 1e-9 } }

    /// Correlation of expected and measured rate changes over about the last `memory` seconds,
    /// -1...1; 0 without commands.
    var correlation: Double {
        @_noLocks get {
            let scale = cm_sqrt(commanded * observed)
            return scale > Self.leastScale ? product / scale : 0
        }
    }

    @_noLocks
    init() {}

    /// Smallest number of samples in the memory. A correlation of fewer samples is chance.
    private static var memorySamples: Double { @_noLocks get { 6 } }
    /// Correlation of command and response below which the response is the opposite of the command.
    private static var mirrored: Double { @_noLocks get { -0.85 } }
    /// Ratio of response to command below which the opposite response is large enough. A smaller
    /// response can be noise.
    private static var leastResponse: Double { @_noLocks get { -0.2 } }
    /// Square of the ratio of the unexplained change to the scatter: three standard deviations.
    private static var clearSquare: Double { @_noLocks get { 9 } }
    /// Smallest number of samples for which the response must be the opposite, also in a slow loop.
    private static var patientSamples: Double { @_noLocks get { 4.5 } }

    /// Updates the test with one sample.
    ///
    /// - Parameters:
    ///   - push: Expected change of the camera's rate since the previous sample due to the feedback
    ///     part of the motor command, rad/s.
    ///   - gyro: Change of the gyroscope's rate since the previous sample, rad/s.
    ///   - planned: Change of the set-point's rate since the previous sample, rad/s.
    ///   - rate: The gyroscope's rate minus the set-point's rate, rad/s.
    ///   - rule: Scatter and interval of the present sample.
    @_noLocks
    mutating func step(push: Double, gyro: Double, planned: Double, rate: Double, _ rule: Rule) {
        let dt = rule.dt
        let change = gyro - planned
        let memory = max(Self.memory, Self.memorySamples * dt)
        let keep = 1 - dt / memory
        commanded = commanded * keep + push * push
        observed = observed * keep + change * change
        product = product * keep + push * change
        unexplained = unexplained * keep + (change - push) * (change - push)
        pushes = pushes * keep + push
        changes = changes * keep + change
        shown = shown * keep + gyro
        let share = dt / memory
        let slopes = cm_sqrt(
            max(commanded - pushes * pushes * share, 0)
                * max(observed - changes * changes * share, 0))
        let isImage =
            product < Self.mirrored * cm_sqrt(commanded * observed)
            && product < Self.leastResponse * commanded
            && product - pushes * changes * share < Self.mirrored * slopes
            && abs(rate) > Self.leastRate && changes * rate > 0 && pushes * shown < 0
            && pushes * pushes * share > Self.steadiness * commanded
            && unexplained > Self.clearSquare * rule.scatter * (memory / dt)
        lasting = isImage ? lasting + dt : 0
        isReversed = lasting > max(Self.patience, Self.patientSamples * dt)
    }
}

/// Polarity checks about the camera's three axes.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct PolarityChecks: Sendable, BitwiseCopyable {
    private var roll = PolarityCheck()
    private var pitch = PolarityCheck()
    private var yaw = PolarityCheck()

    @_noLocks
    init() {}

    /// The axes on which the gyroscope measured the opposite of the motor's effect at the last
    /// step.
    var reversed: AxisSet {
        @_noLocks get {
            AxisSet(yaw: yaw.isReversed, roll: roll.isReversed, pitch: pitch.isReversed)
        }
    }

    /// Updates the tests of all axes with one sample. The parameters have the same names as in
    /// `PolarityCheck.step`, but are vectors in the camera frame.
    @_noLocks
    mutating func step(
        push: Vector3, gyro: Vector3, planned: Vector3, rate: Vector3, _ rule: PolarityCheck.Rule
    ) {
        roll.step(push: push.x, gyro: gyro.x, planned: planned.x, rate: rate.x, rule)
        pitch.step(push: push.y, gyro: gyro.y, planned: planned.y, rate: rate.y, rule)
        yaw.step(push: push.z, gyro: gyro.z, planned: planned.z, rate: rate.z, rule)
    }

    /// Sign of the gyroscope's reading about each axis, relative to the motors.
    ///
    /// - Parameter reversed: The axes whose response is known to be reversed.
    /// - Returns: Sign on each axis, camera frame: 1, -1, or 0 if the responses to the motors do
    ///   not determine the sign.
    @_noLocks
    func signs(reversed: AxisSet) -> Vector3 {
        Vector3(
            Self.sign(roll, isReversed: reversed.contains(.roll)),
            Self.sign(pitch, isReversed: reversed.contains(.pitch)),
            Self.sign(yaw, isReversed: reversed.contains(.yaw)))
    }

    /// Smallest correlation of expected and measured rate that determines a sign.
    private static var leastCorrelation: Double { @_noLocks get { 0.5 } }

    private static func sign(_ image: PolarityCheck, isReversed: Bool) -> Double {
        let correlation = image.correlation
        if abs(correlation) > leastCorrelation { return correlation > 0 ? 1 : -1 }
        return isReversed ? -1 : 0
    }
}
