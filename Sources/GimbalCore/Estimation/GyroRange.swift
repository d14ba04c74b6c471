/// Detector of saturated gyroscope axes. The true rate of a saturated axis can be any value beyond
/// the range.
///
/// If the range is known, the detector compares it with the reading. If the range is unknown, as in
/// a log of an arbitrary sensor, the detector finds the range. If the rate of an axis rises fast
/// and then stays constant, the axis is saturated. A sinusoidal rate is also constant near its
/// peak. A linear extrapolation of a sine's rise exceeds the peak by at most a tenth, at any
/// frequency. `overshoot` is larger than this excess, so a sinusoidal rate does not count as
/// saturated. After the detection, every axis that reaches the detected range counts as saturated.
/// The detected range is discarded if an axis exceeds it.
struct GyroRange: Sendable, BitwiseCopyable {
    /// The detected range, rad/s; infinite if no range was detected.
    private(set) var found = Double.infinity

    private var x = Axis()
    private var y = Axis()
    private var z = Axis()

    /// Threshold for a saturated axis: extrapolated rate minus constant rate, as a fraction of the
    /// constant rate.
    private static var overshoot: Double { @_noLocks @_noAllocation get { 0.15 } }
    /// Largest relative variation of a rate that counts as constant. The reading of a saturated
    /// axis varies because of a calibration's cross-axis terms.
    private static var flatness: Double { @_noLocks @_noAllocation get { 0.004 } }
    /// Time constant of the slope's smoothing, s.
    private static var slopeTime: Double { @_noLocks @_noAllocation get { 0.01 } }
    /// The smallest range that can be detected, rad/s: half of the ±125 °/s range of common
    /// gyroscopes.
    private static var smallest: Double { @_noLocks @_noAllocation get { 1.1 } }

    @_noLocks @_noAllocation
    init() {}

    /// Fraction of a known range from which a reading counts as saturated. The sensor's filter and
    /// the calibration can lower a reading at full scale slightly.
    private static var knownShare: Double { @_noLocks @_noAllocation get { 0.98 } }
    /// The same fraction of a detected range, which was found from limited readings, so the margin
    /// is smaller.
    private static var foundShare: Double { @_noLocks @_noAllocation get { 0.985 } }
    /// Ratio of a reading to the detected range above which the detection was wrong.
    private static var refutingShare: Double { @_noLocks @_noAllocation get { 1.03 } }

    /// Determines the saturated axes of one sample.
    ///
    /// - Parameters:
    ///   - gyro: Rate as measured, body frame, rad/s.
    ///   - dt: Seconds since the previous sample.
    ///   - known: The range, rad/s; zero if unknown.
    /// - Returns: Vector with the value 1 on each saturated axis and 0 on the other axes.
    @inline(always) @_noLocks @_noAllocation
    mutating func reached(by gyro: Vector3, dt: Double, known: Double) -> Vector3 {
        let largest = gyro.largestMagnitude
        guard known <= 0 else {
            return largest > Self.knownShare * known
                ? Self.beyond(gyro, Self.knownShare * known) : .zero
        }
        search(gyro, dt: dt)
        // If a reading exceeds 1.03 times the detected range, the detection was wrong. Cross-axis
        // terms of a calibration cause smaller deviations.
        if largest > Self.refutingShare * found { found = .infinity }
        return largest > Self.foundShare * found
            ? Self.beyond(gyro, Self.foundShare * found) : .zero
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
        /// Smoothed slope of the rate before it became constant, rad/s².
        private var slope = 0.0
        /// Rate at the start of the constant part, rad/s.
        private var level = 0.0
        private var flatTime = 0.0

        @_noLocks @_noAllocation
        init() {}

        /// Number of periods without a change after which a reading counts as constant: two equal
        /// readings can be chance.
        private static var flatPeriods: Double { @_noLocks @_noAllocation get { 1.5 } }

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
            // Only changes towards larger rates of the same sign are evaluated.
            return flatTime > Self.flatPeriods * dt
                && slope * rate * flatTime > GyroRange.overshoot * size * size
        }
    }
}
