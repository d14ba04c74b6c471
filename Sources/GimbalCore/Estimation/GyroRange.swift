/// Detector of saturated gyroscope axes, whose true rate can be anything beyond the range.
///
/// A known range is compared with the reading. An unknown range, as in a log of an arbitrary
/// sensor, is found: an axis whose rate rises fast and then stays constant is saturated. A
/// sinusoidal rate also looks flat at its turning point, but with the slope of its rise it would
/// get at most a tenth further in that time, at any frequency; `overshoot` requires more. From then
/// on every axis that reaches that rate counts as saturated, until an axis exceeds it.
struct GyroRange: Sendable, BitwiseCopyable {
    /// The range found, rad/s; infinite if none.
    private(set) var found = Double.infinity

    private var x = Axis()
    private var y = Axis()
    private var z = Axis()

    /// Additional rate that an axis would have reached without saturation, as a fraction of its
    /// rate.
    private static var overshoot: Double { @_noLocks @_noAllocation get { 0.15 } }
    /// Largest variation of a constant rate, as a fraction of the rate; a calibration's cross-axis
    /// terms add to the variation.
    private static var flatness: Double { @_noLocks @_noAllocation get { 0.004 } }
    /// Time constant of the slope's smoothing, s.
    private static var slopeTime: Double { @_noLocks @_noAllocation get { 0.01 } }
    /// The smallest range that is searched for, rad/s: half of the ±125 °/s range of common
    /// gyroscopes.
    private static var smallest: Double { @_noLocks @_noAllocation get { 1.1 } }

    @_noLocks @_noAllocation
    init() {}

    /// Processes one sample.
    ///
    /// - Parameters:
    ///   - gyro: Rate as measured, body frame, rad/s.
    ///   - dt: Seconds since the previous sample.
    ///   - known: The range, rad/s; zero if unknown.
    /// - Returns: 1 for each saturated axis, otherwise 0.
    @inline(__always) @_noLocks @_noAllocation
    mutating func reached(by gyro: Vector3, dt: Double, known: Double) -> Vector3 {
        let largest = gyro.largestMagnitude
        guard known <= 0 else {
            return largest > 0.98 * known ? Self.beyond(gyro, 0.98 * known) : .zero
        }
        search(gyro, dt: dt)
        // The rate is larger than a calibration's cross-axis terms explain, so the rate found was
        // not the end of the range.
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

    /// State of one axis.
    private struct Axis: Sendable, BitwiseCopyable {
        private var last = 0.0
        /// Slope of the rise, rad/s².
        private var slope = 0.0
        /// Constant rate, rad/s.
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
            // Only a rise counts: a change towards larger rates of the same sign.
            return flatTime > 1.5 * dt
                && slope * rate * flatTime > GyroRange.overshoot * size * size
        }
    }
}
