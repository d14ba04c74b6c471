import CMathShim

/// What speaks for and against a rest that the gyroscope alone would believe in: a steady turn is
/// as quiet as a table.
///
/// Three witnesses. Gravity: where its direction turns against what carries the sensor, there is no
/// rest, and what was learned from it is taken back. The rests before: the longer they were, the
/// less a new one at another rate counts. Patience: a rate that stays away from the bias for longer
/// than anybody turns a camera is the bias after all. Only so does a turn at power-on, about the
/// vertical, which nothing tells from a bias, not spoil the estimate for good.
struct RestEvidence: Sendable, BitwiseCopyable {
    /// Seconds of rest that taught the bias that is believed now.
    private(set) var support = 0.0

    private var reference = Vector3.zero
    private var turned = Vector3.zero
    private var window = 0.0
    private var watched = 0.0
    private var proof = 0.0
    private var rivalRate = Vector3.zero
    private var rivalTime = 0.0

    @_noLocks @_noAllocation
    init() {}

    /// Whether gravity has been watched for long enough; at once, unless it has spoken against rest
    /// before.
    var isProven: Bool { @_noLocks @_noAllocation get { watched >= proof } }

    /// The sensor moves: gravity is watched from the next stillness on.
    @_noLocks @_noAllocation
    mutating func restartWatch() {
        watched = 0
        window = 0
    }

    /// Watches gravity for one period.
    ///
    /// - Parameters:
    ///   - force: Specific force, smoothed, body frame, m/s².
    ///   - variance: Of that force, from its unsteadiness, (m/s²)².
    ///   - relativeRate: Of the sensor against what carries it, body frame, rad/s.
    ///   - duration: Length of the period, s.
    ///   - parameters: Thresholds and times.
    /// - Returns: False where the carrier tilts.
    @_noLocks @_noAllocation
    mutating func isLevel(
        force: Vector3, variance: Double, relativeRate: Vector3, duration: Double,
        parameters: AttitudeEstimator.Parameters
    ) -> Bool {
        watched += duration
        // The smoothing has to settle first, but a fast tilt is to show before the first
        // measurement; later the reference is renewed, so that no error adds up.
        if watched < 0.5 * parameters.restTime || window > parameters.restProofTime {
            reference = force
            turned = .zero
            window = 0
            return true
        }
        window += duration
        turned += relativeRate.cross(force) * duration
        let drift = (force - reference + turned).squaredNorm
        // A poor sensor's mean wanders: three sigma of a difference are allowed on top.
        let limit = parameters.restDriftThreshold * parameters.restDriftThreshold + 18 * variance
        guard drift < limit else {
            restartWatch()
            proof = parameters.restProofTime
            return false
        }
        return true
    }

    /// A rest has taught the bias for another `duration` seconds.
    @_noLocks @_noAllocation
    mutating func confirm(_ duration: Double) {
        support += duration
        proof = 0
        rivalTime = 0
    }

    /// Takes support back: the rest was none.
    ///
    /// - Parameter support: What it was before that rest, s.
    @_noLocks @_noAllocation
    mutating func withdraw(to support: Double) { self.support = support }

    /// Still, but at another rate than the bias.
    ///
    /// - Parameters:
    ///   - rate: Mean raw rate of the carrier, rad/s.
    ///   - duration: Length of the period, s.
    ///   - parameters: Thresholds and times.
    /// - Returns: Whether this has lasted so long that the bias must be wrong.
    @_noLocks @_noAllocation
    mutating func overrules(
        rate: Vector3, duration: Double, parameters: AttitudeEstimator.Parameters
    ) -> Bool {
        let difference = rate - rivalRate
        let width = parameters.restGate * parameters.restGateFloor
        rivalTime += duration
        if difference.squaredNorm > width * width {
            rivalRate = rate
            rivalTime = 0
        } else {
            rivalRate += difference * (duration / (duration + rivalTime))
        }
        let share = min(1, support / parameters.restTrustTime)
        let largest = parameters.restGate * parameters.initialBiasSigma
        guard isProven, rivalTime > parameters.restOverruleTime * share * share,
            rate.largestMagnitude < largest
        else { return false }
        support = 0
        rivalTime = 0
        return true
    }
}
