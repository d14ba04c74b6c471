/// Detector of a frozen sensor chip. A frozen chip repeats one sample for longer than noise permits
/// in a working chip.
///
/// Gyroscope and accelerometer are tested separately. The two sensors can be two chips (as in a
/// BMI088), and one chip can hang while the other works. The lower a chip's noise, the more often
/// consecutive samples are bit-identical. Therefore the limit is four times the chip's longest
/// repetition so far, but at least eight samples and at most `longestSeconds`. During the first 250
/// samples the limit is `longestSeconds`.
///
/// Runs on the loop thread only, in constant time.
struct FreezeTest: Sendable, BitwiseCopyable {
    /// True if the chip was frozen at the last sample.
    private(set) var isFrozen = false

    private var count: Int32 = 0
    private var seconds = 0.0
    private var samples: Int32 = 0
    /// Duration of the longest repetition that has ended, s.
    private var usual = 0.0

    /// Smallest number of repetitions at which a chip counts as frozen. A working chip can repeat a
    /// sample a few times if its noise is low-passed far below the sample rate.
    private static var fewest: Int32 { @_noLocks get { 8 } }
    /// Number of samples after which the limit is derived from the chip's longest repetition.
    private static var learning: Int32 { @_noLocks get { 250 } }

    @_noLocks
    init() {}

    /// Upper bound of the count, so that the count cannot overflow.
    private static var mostCounted: Int32 { @_noLocks get { 1000 } }

    /// Updates the detector with the next sample.
    ///
    /// - Parameters:
    ///   - isSame: True if the sample and the previous sample are bit-identical.
    ///   - dt: Seconds between the two samples.
    ///   - longestSeconds: Upper bound of the limit for the duration of a repetition, s.
    /// - Returns: True only at the first sample at which the chip counts as frozen; false for the
    ///   later samples of the same repetition.
    @_noLocks
    mutating func note(isSame: Bool, dt: Double, longestSeconds: Double) -> Bool {
        if samples < Self.learning { samples += 1 }
        guard isSame else {
            if !isFrozen { usual = max(usual, min(seconds, longestSeconds)) }
            count = 0
            seconds = 0
            isFrozen = false
            return false
        }
        count = min(count + 1, Self.mostCounted)
        seconds += dt
        let bar = samples < Self.learning ? longestSeconds : min(4 * usual, longestSeconds)
        guard !isFrozen, count >= Self.fewest, seconds >= bar * AttitudeEstimator.wholePeriod else {
            return false
        }
        isFrozen = true
        return true
    }
}
