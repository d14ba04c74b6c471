import CMathShim

/// How hard the camera shakes faster than a hand can: the root mean square of specific force and
/// rate above a corner, averaged over about a second.
///
/// Two first-order high-passes in a row, so that walking, of up to 6 Hz and ten times as strong,
/// does not look like vibration. What the sensor's own filter or a slow sample rate hides cannot be
/// seen. Loop thread; constant time, about 10 ns a sample.
public struct VibrationLevel: Sendable, BitwiseCopyable {
    /// What counts as vibration, as time constants: nothing here depends on the sample rate.
    public struct Parameters: Sendable, BitwiseCopyable, Equatable {
        /// Time constant of each high-pass, s, 0.001...0.1; 8 ms is a corner of 20 Hz, of 31 Hz for
        /// both together.
        public var highPassTime = 0.008
        /// Time constant of the mean square, s, 0.1...10.
        public var averagingTime = 1.0

        /// The defaults.
        @_noLocks @_noAllocation
        public init() {}
    }

    /// What counts as vibration.
    public var parameters: Parameters

    private var accel = Channel()
    private var gyro = Channel()

    /// A level that has seen nothing.
    ///
    /// - Parameter parameters: What counts as vibration.
    @_noLocks @_noAllocation
    public init(parameters: Parameters = Parameters()) { self.parameters = parameters }

    /// Root mean square of the specific force's vibration, all axes together, m/s².
    public var accelRMS: Double { @_noLocks @_noAllocation get { cm_sqrt(accel.meanSquare) } }

    /// Root mean square of the rate's vibration, all axes together, rad/s.
    public var gyroRMS: Double { @_noLocks @_noAllocation get { cm_sqrt(gyro.meanSquare) } }

    /// Takes one sample that can be believed.
    ///
    /// - Parameters:
    ///   - newGyro: Rate, rad/s, finite.
    ///   - newAccel: Specific force, m/s², finite.
    ///   - dt: Seconds since the sample before. Not positive, or so long that the samples have
    ///     nothing to do with each other (a tenth of a second): the filters start again at this
    ///     sample, and the level stays.
    @_noLocks @_noAllocation
    public mutating func update(gyro newGyro: Vector3, accel newAccel: Vector3, dt: Double) {
        guard dt > 0, dt < 0.1 else {
            gyro.restart(at: newGyro)
            accel.restart(at: newAccel)
            return
        }
        // Bilinear, so that slow sample rates see the same level.
        let inverse = 1 / (2 * parameters.highPassTime + dt)
        let keep = (2 * parameters.highPassTime - dt) * inverse
        let pass = 2 * parameters.highPassTime * inverse
        let weight = dt / (parameters.averagingTime + dt)
        gyro.step(newGyro, keep: keep, pass: pass, weight: weight)
        accel.step(newAccel, keep: keep, pass: pass, weight: weight)
    }

    /// Three axes of one sensor.
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
