import CMathShim

/// Vibration level of the camera: the RMS of specific force and rate above a corner frequency,
/// averaged over about a second. The corner frequency is above the frequencies of hand motion.
///
/// Two first-order high-passes in series remove the motion of walking, which has frequencies up to
/// 6 Hz and ten times the amplitude of vibration. The level does not include vibration above the
/// cut-off frequency of the sensor's filter or above half the sample rate. Runs on the loop thread,
/// in constant time (about 10 ns per sample).
public struct VibrationLevel: Sendable, BitwiseCopyable {
    /// Time constants of the filters that separate vibration from motion, independent of the sample
    /// rate.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Time constant of each high-pass, s, 0.001...0.1. With the default, 8 ms, each high-pass
        /// has a corner frequency of 20 Hz, and both together have a corner frequency of 31 Hz.
        public var highPassTime = 0.008
        /// Time constant of the mean square, s, 0.1...10.
        public var averagingTime = 1.0

        /// Creates the default values.
        @_noLocks @_noAllocation
        public init() {}
    }

    /// Time constants of the filters that separate vibration from motion.
    public var parameters: Parameters

    private var accel = Channel()
    private var gyro = Channel()

    /// Creates an estimator that has not received a sample yet.
    ///
    /// - Parameter parameters: Time constants of the filters.
    @_noLocks @_noAllocation
    public init(parameters: Parameters = Parameters()) { self.parameters = parameters }

    /// Root mean square of the specific force's vibration over all axes, m/s².
    public var accelRMS: Double { @_noLocks @_noAllocation get { cm_sqrt(accel.meanSquare) } }

    /// Root mean square of the rate's vibration over all axes, rad/s.
    public var gyroRMS: Double { @_noLocks @_noAllocation get { cm_sqrt(gyro.meanSquare) } }

    /// Updates the level with one accepted sample.
    ///
    /// - Parameters:
    ///   - newGyro: Rate, rad/s, finite.
    ///   - newAccel: Specific force, m/s², finite.
    ///   - dt: Seconds since the previous sample. If `dt` is not positive or at least 0.1 s, the
    ///     filters restart at this sample, and the level does not change.
    @_noLocks @_noAllocation
    public mutating func update(gyro newGyro: Vector3, accel newAccel: Vector3, dt: Double) {
        guard dt > 0, dt < TimeLimit.longestPeriod else {
            gyro.restart(at: newGyro)
            accel.restart(at: newAccel)
            return
        }
        // With the bilinear transform, the level does not depend on the sample rate.
        let inverse = 1 / (2 * parameters.highPassTime + dt)
        let keep = (2 * parameters.highPassTime - dt) * inverse
        let pass = 2 * parameters.highPassTime * inverse
        let weight = dt / (parameters.averagingTime + dt)
        gyro.step(newGyro, keep: keep, pass: pass, weight: weight)
        accel.step(newAccel, keep: keep, pass: pass, weight: weight)
    }

    /// Filters and mean square for the three axes of one sensor.
    private struct Channel: Sendable, BitwiseCopyable {
        var value = Vector3.zero
        var first = Vector3.zero
        var second = Vector3.zero
        var meanSquare = 0.0

        @_noLocks @_noAllocation
        init() {}

        @_noLocks @_noAllocation
        mutating func restart(at new: Vector3) {
            value = new
            first = .zero
            second = .zero
        }

        @_noLocks @_noAllocation
        mutating func step(_ new: Vector3, keep: Double, pass: Double, weight: Double) {
            let once = first * keep + (new - value) * pass
            second = second * keep + (once - first) * pass
            first = once
            value = new
            meanSquare += (second.squaredNorm - meanSquare) * weight
        }
    }
}
