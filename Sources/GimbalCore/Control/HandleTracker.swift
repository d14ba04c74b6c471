internal import CMathShim

/// Attitude, rate and acceleration of the handle, smoothed without lag under constant acceleration, so that its motion
/// can be extrapolated over the delay of the motors.
///
/// A third-order tracker (alpha-beta-gamma filter). What it leaves out above its bandwidth keeps the loop calm when the
/// motors' model is wrong: an error of the model looks like a fast motion of the handle.
/// Loop thread only, constant time.
struct HandleTracker: Sendable, BitwiseCopyable {
    /// Smoothed attitude, handle to earth.
    private(set) var attitude = Quaternion.identity
    /// Smoothed rate, handle frame, rad/s.
    private(set) var rate = Vector3.zero
    /// Its slope, rad/s².
    private(set) var acceleration = Vector3.zero
    private var isKnown = false
    /// How much of rate and acceleration a prediction trusts: of a measured rate all, else what `Shape` says.
    private var trust = Trust(rate: 1, acceleration: 1)

    /// Poles and look-ahead for a handle whose attitude alone is known, in terms of the bandwidth w.
    ///
    /// A damped pair of poles at w and a third far beyond see swings of up to 5 Hz; looking ahead by less than half of the
    /// rate that such a tracker sees keeps it from multiplying what is faster, and leaves the loop 6 dB and 45°. Of all
    /// shapes with these margins this one leaves the least of a walker's motion with a sensitivity of at most 3 where motors
    /// are a quarter slower or faster than believed.
    enum Shape {
        /// Damping ratio of the pair.
        static var damping: Double { @_noLocks @_noAllocation @inline(__always) get { 0.35 } }
        /// The third pole over w.
        static var third: Double { @_noLocks @_noAllocation @inline(__always) get { 14.0 } }
        /// Shares of rate and acceleration in the look-ahead.
        static var trust: Trust {
            @_noLocks @_noAllocation @inline(__always) get { Trust(rate: 0.42, acceleration: 0) }
        }
    }

    /// Shares of rate and acceleration in a look-ahead.
    struct Trust: Sendable, BitwiseCopyable {
        /// 1 is all of it.
        var rate: Double
        /// 1 is all of it.
        var acceleration: Double

        @_noLocks @_noAllocation
        init(rate: Double, acceleration: Double) {
            self.rate = rate
            self.acceleration = acceleration
        }
    }

    /// A handle of which nothing is known.
    @_noLocks
    init() {}

    /// Takes one period of a handle whose attitude alone is known.
    ///
    /// - Parameters:
    ///   - measured: Handle to earth.
    ///   - rate: Handle frame, rad/s; used as a start.
    ///   - bandwidth: Natural frequency, rad/s.
    ///   - dt: Seconds since the previous call, more than 0.
    @_noLocks @_noAllocation
    mutating func update(
        attitude measured: Quaternion, rate: Vector3, bandwidth: AxisVector, dt: Double
    ) {
        trust = Shape.trust
        guard predict(measured, rate, dt: dt) else { return }
        let residual = attitude.error(to: measured)
        let x = Self.gains(bandwidth.roll, dt: dt)
        let y = Self.gains(bandwidth.pitch, dt: dt)
        let z = Self.gains(bandwidth.yaw, dt: dt)
        correct(Vector3(residual.x * x.angle, residual.y * y.angle, residual.z * z.angle))
        self.rate += Vector3(residual.x * x.rate, residual.y * y.rate, residual.z * z.rate)
        acceleration += Vector3(
            residual.x * x.acceleration, residual.y * y.acceleration, residual.z * z.acceleration)
    }

    /// Takes one period of a handle whose rate is measured.
    ///
    /// - Parameters:
    ///   - measured: Handle to earth, followed slowly.
    ///   - rate: Handle frame, rad/s, followed with `bandwidth`.
    ///   - bandwidth: Natural frequency, rad/s.
    ///   - leaning: How fast the attitude is followed, 1/s.
    ///   - dt: Seconds since the previous call, more than 0.
    @_noLocks @_noAllocation
    mutating func update(
        attitude measured: Quaternion, measuredRate rate: Vector3, bandwidth: AxisVector,
        leaning: Double, dt: Double
    ) {
        trust = Trust(rate: 1, acceleration: 1)
        guard predict(measured, rate, dt: dt) else { return }
        correct(attitude.error(to: measured) * (leaning * dt / (1 + leaning * dt)))
        let residual = rate - self.rate
        let fade = Vector3(
            1 - cm_exp(-bandwidth.roll * dt), 1 - cm_exp(-bandwidth.pitch * dt),
            1 - cm_exp(-bandwidth.yaw * dt))
        // 1 - (1 - fade)² of the rate, fade² of its slope: two poles at one place.
        let pull = Vector3(residual.x * fade.x, residual.y * fade.y, residual.z * fade.z)
        let slope = Vector3(pull.x * fade.x, pull.y * fade.y, pull.z * fade.z)
        self.rate += pull * 2 - slope
        acceleration += slope / dt
    }

    /// Where the handle will be.
    ///
    /// - Parameters:
    ///   - horizon: Seconds after the last period.
    ///   - share: How much of the turn until then counts, about each of the handle's axes.
    /// - Returns: Handle to earth.
    @_noLocks @_noAllocation
    func predicted(
        after horizon: Double, share: AxisVector = AxisVector(repeating: 1)
    ) -> Quaternion {
        let turn =
            rate * (horizon * trust.rate)
            + acceleration * (0.5 * horizon * horizon * trust.acceleration)
        return attitude
            * Quaternion(
                rotationVector: Vector3(
                    turn.x * share.roll, turn.y * share.pitch, turn.z * share.yaw))
    }

    /// The poles of `Shape`, exact for the sampled triple integrator.
    private static func gains(
        _ bandwidth: Double, dt: Double
    ) -> (angle: Double, rate: Double, acceleration: Double) {
        // With z the poles of one period: what 1 - z of the pair add and multiply up to, and of the third.
        let turn = cm_sqrt(1 - Shape.damping * Shape.damping) * bandwidth * dt
        let decay = cm_exp(-Shape.damping * bandwidth * dt)
        let sum = 2 * (1 - decay * cm_cos(turn))
        let product = sum - 1 + decay * decay
        let third = 1 - cm_exp(-Shape.third * bandwidth * dt)
        let (first, second, last) = (sum + third, product + sum * third, product * third)
        return (first - second + last, (second - 1.5 * last) / dt, last / (dt * dt))
    }

    private mutating func predict(_ measured: Quaternion, _ rate: Vector3, dt: Double) -> Bool {
        guard isKnown else {
            attitude = measured
            self.rate = rate
            isKnown = true
            return false
        }
        correct(self.rate * dt + acceleration * (0.5 * dt * dt))
        self.rate += acceleration * dt
        return true
    }

    private mutating func correct(_ turn: Vector3) {
        attitude = (attitude * Quaternion(rotationVector: turn)).normalized
    }
}
