internal import CMathShim

/// Estimator of the handle's attitude and rate. The tracker predicts the attitude at the time when
/// the motors respond.
///
/// If only the attitude is measured, the rate is filtered by a second-order low-pass, and the
/// estimated attitude follows the measured attitude closely. Therefore the look-ahead decreases
/// with frequency. Prediction of fast motion would amplify the motion, because the prediction error
/// would exceed the motion. Above the frequency 1 / (3 · delay), every prediction amplifies the
/// motion. The decrease of the look-ahead also prevents oscillation if the motors' model is wrong,
/// because a model error has the same effect as a fast motion of the handle. Runs on the loop
/// thread only, in constant time.
struct HandleTracker: Sendable, BitwiseCopyable {
    /// Smoothed attitude, handle to earth.
    private(set) var attitude = Quaternion.identity
    /// Smoothed rate, handle frame, rad/s.
    private(set) var rate = Vector3.zero
    /// Angular acceleration of the handle, handle frame, rad/s².
    private(set) var acceleration = Vector3.zero
    private var isKnown = false
    /// Fractions of rate and acceleration in a prediction: 1 if the rate is measured, otherwise the
    /// fractions in `Shape`.
    private var trust = Trust(rate: 1, acceleration: 1)

    /// Poles and look-ahead of the tracker, relative to the bandwidth w, if the handle's rate is
    /// not measured.
    ///
    /// The poles of the tracker were optimised with recorded walks of three people and the tremor
    /// of a hand. Among all poles with margins of 6 dB and 45°, these poles result in the least
    /// motion of the camera above 1 Hz. The optimisation included delay errors of the motors, from
    /// 2 ms shorter to 7 ms longer than assumed.
    enum Shape {
        /// Damping ratio of the low-pass for the handle's rate. The natural frequency of this
        /// low-pass is w.
        static var damping: Double { @_noLocks @_noAllocation @inline(always) get { 0.75 } }
        /// Bandwidth from measured to estimated attitude, as a multiple of w.
        static var follow: Double { @_noLocks @_noAllocation @inline(always) get { 19.0 } }
        /// Fractions of the handle's rate and acceleration that the look-ahead uses.
        static var trust: Trust {
            @_noLocks @_noAllocation @inline(always) get { Trust(rate: 0.44, acceleration: 0) }
        }
    }

    /// Fractions of the handle's rate and acceleration that a look-ahead uses.
    struct Trust: Sendable, BitwiseCopyable {
        /// Fraction of the handle's rate, 0...1.
        var rate: Double
        /// Fraction of the handle's acceleration, 0...1.
        var acceleration: Double

        @_noLocks @_noAllocation
        init(rate: Double, acceleration: Double) {
            self.rate = rate
            self.acceleration = acceleration
        }
    }

    /// Creates a tracker that has not received a measurement yet.
    @_noLocks
    init() {}

    /// Updates the tracker for one control period in which only the handle's attitude is measured.
    ///
    /// - Parameters:
    ///   - measured: Measured attitude, handle to earth.
    ///   - rate: Rate of the handle, computed from camera and joints, handle frame, rad/s.
    ///   - bandwidth: Natural frequency of the tracker about each axis of the handle, rad/s.
    ///   - dt: Seconds since the previous call, more than 0.
    @_noLocks @_noAllocation
    mutating func update(
        attitude measured: Quaternion, rate: Vector3, bandwidth: AxisVector, dt: Double
    ) {
        trust = Shape.trust
        guard predict(measured, rate, dt: dt) else { return }
        smooth(rate, bandwidth: bandwidth, dt: dt)
        let residual = attitude.error(to: measured)
        // With the factor `pull / (1 + pull)`, the filter has the delay of a continuous low-pass at
        // any control period.
        let pull = bandwidth * (Shape.follow * dt)
        correct(
            Vector3(
                residual.x * (pull.roll / (1 + pull.roll)),
                residual.y * (pull.pitch / (1 + pull.pitch)),
                residual.z * (pull.yaw / (1 + pull.yaw))))
    }

    /// Updates the tracker for one control period with a measured rate of the handle.
    ///
    /// - Parameters:
    ///   - measured: Measured attitude, handle to earth; the tracker follows this attitude slowly.
    ///   - rate: Measured rate, handle frame, rad/s; the tracker follows this rate with
    ///     `bandwidth`.
    ///   - bandwidth: Natural frequency of the tracker about each axis of the handle, rad/s.
    ///   - leaning: Gain from attitude residual to attitude correction, 1/s.
    ///   - dt: Seconds since the previous call, more than 0.
    @_noLocks @_noAllocation
    mutating func update(
        attitude measured: Quaternion, measuredRate rate: Vector3, bandwidth: AxisVector,
        leaning: Double, dt: Double
    ) {
        trust = Trust(rate: 1, acceleration: 1)
        guard predict(measured, rate, dt: dt) else { return }
        correct(attitude.error(to: measured) * (leaning * dt / (1 + leaning * dt)))
        self.rate += acceleration * dt
        let residual = rate - self.rate
        let fade = Vector3(
            1 - cm_exp(-bandwidth.roll * dt), 1 - cm_exp(-bandwidth.pitch * dt),
            1 - cm_exp(-bandwidth.yaw * dt))
        // The gains 1 - (1 - fade)² for the rate and fade² for its slope give a double pole.
        let pull = Vector3(residual.x * fade.x, residual.y * fade.y, residual.z * fade.z)
        let slope = Vector3(pull.x * fade.x, pull.y * fade.y, pull.z * fade.z)
        self.rate += pull * 2 - slope
        acceleration += slope / dt
    }

    /// Predicted rotation of the handle.
    ///
    /// - Parameters:
    ///   - horizon: Time from the last control period to the predicted instant, s.
    ///   - share: Fraction of the predicted rotation about each axis of the handle.
    /// - Returns: Rotation from the current attitude to the predicted attitude, handle frame, rad.
    @_noLocks @_noAllocation
    func lead(after horizon: Double, share: AxisVector = AxisVector(repeating: 1)) -> Vector3 {
        let turn =
            rate * (horizon * trust.rate)
            + acceleration * (0.5 * horizon * horizon * trust.acceleration)
        return Vector3(turn.x * share.roll, turn.y * share.pitch, turn.z * share.yaw)
    }

    /// Updates the low-pass of the handle's rate for one control period. The result is exact if the
    /// rate has been constant since the last period.
    private mutating func smooth(_ measured: Vector3, bandwidth: AxisVector, dt: Double) {
        let x = Self.smooth(rate.x - measured.x, acceleration.x, bandwidth.roll, dt: dt)
        let y = Self.smooth(rate.y - measured.y, acceleration.y, bandwidth.pitch, dt: dt)
        let z = Self.smooth(rate.z - measured.z, acceleration.z, bandwidth.yaw, dt: dt)
        rate = measured + Vector3(x.away, y.away, z.away)
        acceleration = Vector3(x.slope, y.slope, z.slope)
    }

    /// Smallest frequency by which the formula divides, rad/s; a bandwidth can be 0.
    private static var leastFrequency: Double { @_noLocks get { 1e-9 } }

    /// State of a damped oscillator after one control period. `away` is the current deviation from
    /// the rest position; `slope` is its derivative.
    private static func smooth(
        _ away: Double, _ slope: Double, _ bandwidth: Double, dt: Double
    ) -> (away: Double, slope: Double) {
        let turning = cm_sqrt(1 - Shape.damping * Shape.damping) * bandwidth
        let damping = Shape.damping * bandwidth
        let decay = cm_exp(-damping * dt)
        let cosine = decay * cm_cos(turning * dt)
        let sine = decay * cm_sin(turning * dt) / max(turning, Self.leastFrequency)
        return (
            away * cosine + (slope + damping * away) * sine,
            slope * cosine - (bandwidth * bandwidth * away + damping * slope) * sine
        )
    }

    private mutating func predict(_ measured: Quaternion, _ rate: Vector3, dt: Double) -> Bool {
        guard isKnown else {
            attitude = measured
            self.rate = rate
            isKnown = true
            return false
        }
        correct(self.rate * dt + acceleration * (0.5 * dt * dt))
        return true
    }

    private mutating func correct(_ turn: Vector3) {
        attitude = (attitude * Quaternion(rotationVector: turn)).normalized
    }
}
