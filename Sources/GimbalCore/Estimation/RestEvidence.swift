import CMathShim

/// Evidence for and against rest from sources other than the gyroscope. The gyroscope alone cannot
/// distinguish a steady turn from rest on a table.
///
/// The evidence comes from gravity, from earlier rests and from elapsed time. If the direction of
/// gravity turns relative to the handle, the sensor is not at rest, and a bias from this time is
/// discarded. The longer the earlier rests were, the longer a new rest at another rate must last to
/// replace the bias. If the rate differs from the bias for longer than any person turns a camera,
/// this rate becomes the new bias. At power-on, a turn about the vertical cannot be distinguished
/// from a bias, so the resulting wrong bias is replaced only after `restOverruleTime`.
struct RestEvidence: Sendable, BitwiseCopyable {
    /// Duration of the rest in which the present bias was measured, s.
    private(set) var support = 0.0

    private var reference = Vector3.zero
    private var window = 0.0
    private var watched = 0.0
    private var proof = 0.0
    private var rivalRate = Vector3.zero
    private var rivalTime = 0.0

    @_noLocks @_noAllocation
    init() {}

    /// True if gravity has been observed for long enough to accept rest. The value is true
    /// immediately if no earlier evidence contradicted rest.
    var isProven: Bool { @_noLocks @_noAllocation get { watched >= proof } }

    /// Discards the observation of gravity, because the sensor has moved. The observation of
    /// gravity starts again when the sensor is still.
    @_noLocks @_noAllocation
    mutating func restartWatch() {
        watched = 0
        window = 0
    }

    /// Factor of the noise's variance in the limit of the drift. The difference of two means has
    /// twice the variance of one mean; three standard deviations of the difference are added to the
    /// limit, in quadrature.
    private static var noiseSquare: Double { @_noLocks @_noAllocation get { 18 } }

    /// Checks in each period whether the direction of gravity has changed relative to the handle.
    ///
    /// - Parameters:
    ///   - force: Specific force, smoothed, handle frame, m/s².
    ///   - variance: Noise variance of the smoothed force, (m/s²)².
    ///   - duration: Length of the period, s.
    ///   - parameters: Thresholds and times.
    /// - Returns: True if the tilt of the handle is constant; false if the tilt changes.
    @_noLocks @_noAllocation
    mutating func isLevel(
        force: Vector3, variance: Double, duration: Double,
        parameters: AttitudeEstimator.Parameters
    ) -> Bool {
        watched += duration
        // The first reference direction of gravity is stored after half of `restTime`, when the
        // smoothed force has settled. From then on, a fast tilt is detected before the first bias
        // measurement ends. Later, the reference direction is renewed regularly, so errors do not
        // accumulate.
        if watched < 0.5 * parameters.restTime || window > parameters.restProofTime {
            reference = force
            window = 0
            return true
        }
        window += duration
        let drift = (force - reference).squaredNorm
        let threshold = parameters.restDriftThreshold * parameters.restDriftThreshold
        let limit = threshold + Self.noiseSquare * variance
        guard drift < limit else {
            restartWatch()
            proof = parameters.restProofTime
            return false
        }
        return true
    }

    /// Adds `duration` seconds of rest to `support`.
    @_noLocks @_noAllocation
    mutating func confirm(_ duration: Double) {
        support += duration
        proof = 0
        rivalTime = 0
    }

    /// Reverts `support` to an earlier value, because the sensor was not at rest.
    ///
    /// - Parameter support: Value of `support` before the apparent rest began, s.
    @_noLocks @_noAllocation
    mutating func withdraw(to support: Double) { self.support = support }

    /// Updates the time for which the rate has been steady at a value that differs from the bias.
    ///
    /// - Parameters:
    ///   - rate: Mean raw rate of the handle, rad/s.
    ///   - duration: Length of the period, s.
    ///   - parameters: Thresholds and times.
    /// - Returns: Standard deviation of the known bias from now on, rad/s, if the rate has deviated
    ///   for long enough to replace the bias; otherwise nil.
    @_noLocks @_noAllocation
    mutating func overrules(
        rate: Vector3, duration: Double, parameters: AttitudeEstimator.Parameters
    ) -> Double? {
        let difference = rate - rivalRate
        let width = parameters.restGate * parameters.restGateFloor
        rivalTime += duration
        if difference.squaredNorm > width * width {
            rivalRate = rate
            rivalTime = 0
        } else {
            rivalRate += difference * (duration / (duration + rivalTime))
        }
        let calibrated = parameters.initialBiasSigma
        let change = (rate - parameters.initialBias).largestMagnitude / parameters.restGate
        // A calibration is evidence only against rates that contradict it. Against other rates, a
        // bias from a short rest must not count as long-known, because it can be the rate of a turn.
        let contradicts = change >= calibrated + parameters.restGateFloor
        let share = contradicts ? 1 : min(1, support / parameters.restTrustTime)
        guard isProven, min(rivalTime, watched) > parameters.restTime,
            rivalTime > parameters.restOverruleTime * share * share,
            change < max(calibrated, parameters.uncalibratedBiasSigma)
        else { return nil }
        support = 0
        rivalTime = 0
        return contradicts ? parameters.uncalibratedBiasSigma : calibrated
    }
}
