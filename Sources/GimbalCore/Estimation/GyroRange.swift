/// Whether a gyroscope axis is at the end of its range, where the true rate may be anything beyond.
///
/// A range that is known is compared with. Where none is, as in a log of somebody's sensor, it is
/// found: an axis that comes up fast and then stands still is cut off. With what it came up by, a
/// natural turning point has gone no further than a tenth while it looks flat, at any frequency;
/// `overshoot` asks for more. From then on whatever reaches that rate is cut off, on all axes,
/// until one goes beyond.
struct GyroRange: Sendable, BitwiseCopyable {
    /// The range found, rad/s; infinite = none.
    private(set) var found = Double.infinity

    private var x = Axis()
    private var y = Axis()
    private var z = Axis()

    /// How much further an axis would have gone, as a share of its rate, had it not stood still.
    private static var overshoot: Double { @_noLocks @_noAllocation get { 0.15 } }
    /// Standing still: within this share of the rate, which cross-axis terms of a calibration add
    /// to it.
    private static var flatness: Double { @_noLocks @_noAllocation get { 0.004 } }
    /// Over which the slope is smoothed, s.
    private static var slopeTime: Double { @_noLocks @_noAllocation get { 0.01 } }
    /// The smallest range that is looked for, rad/s: half of the ±125 °/s of common parts.
    private static var smallest: Double { @_noLocks @_noAllocation get { 1.1 } }

    @_noLocks @_noAllocation
    init() {}

    /// Takes one sample.
    ///
    /// - Parameters:
    ///   - gyro: Rate as measured, body frame, rad/s.
    ///   - dt: Seconds since the sample before.
    ///   - known: The range, rad/s; zero = unknown.
    /// - Returns: One for each axis that is at its end, else zero.
    @inline(__always) @_noLocks @_noAllocation
    mutating func reached(by gyro: Vector3, dt: Double, known: Double) -> Vector3 {
        let largest = gyro.largestMagnitude
        guard known <= 0 else {
            return largest > 0.98 * known ? Self.beyond(gyro, 0.98 * known) : .zero
        }
        search(gyro, dt: dt)
        // Beyond by more than a calibration's cross-axis terms: it was no end.
        if largest > 1.03 * found { found = .infinity }
        return largest > 0.985 * found ? Self.beyond(gyro, 0.985 * found) : .zero
    }

    @inline(never) @_noLocks @_noAllocation
    private mutating func search(_ gyro: Vector3, dt: Double) {
        if x.isCutOff(gyro.x, dt: dt) { found = min(found, abs(gyro.x)) }
        if y.isCutOff(gyro.y, dt: dt) { found = min(found, abs(gyro.y)) }
        if z.isCutOff(gyro.z, dt: dt) { found = min(found, abs(gyro.z)) }
    }

    @_noLocks @_noAllocation
    private static func beyond(_ v: Vector3, _ limit: Double) -> Vector3 {
        Vector3(abs(v.x) > limit ? 1 : 0, abs(v.y) > limit ? 1 : 0, abs(v.z) > limit ? 1 : 0)
    }

    /// One axis.
    private struct Axis: Sendable, BitwiseCopyable {
        private var last = 0.0
        /// By which it came up, rad/s².
        private var slope = 0.0
        /// Where it stands still, rad/s.
        private var level = 0.0
        private var flatTime = 0.0

        @_noLocks @_noAllocation
        init() {}

        @_noLocks @_noAllocation
        mutating func isCutOff(_ rate: Double, dt: Double) -> Bool {
            let size = abs(rate)
            let change = (rate - last) / dt
            last = rate
            guard size > GyroRange.smallest, abs(rate - level) < GyroRange.flatness * size else {
                slope += (change - slope) * dt / (GyroRange.slopeTime + dt)
                level = rate
                flatTime = 0
                return false
            }
            flatTime += dt
            // Up, not down: towards larger rates of the same sign.
            return flatTime > 1.5 * dt
                && slope * rate * flatTime > GyroRange.overshoot * size * size
        }
    }
}
