/// Detector of a frozen chip: it repeats the same sample for longer than its own noise allows.
///
/// Gyroscope and accelerometer are tested separately, because they can be two chips (as in a
/// BMI088), of which one can hang while the other works. A chip's noise decides how often two
/// samples are identical to the bit, so the limit depends on the chip's longest repetition so far:
/// it is four times the longest repetition, at least eight samples, at most `longestSeconds`.
/// During the first 250 samples the limit is `longestSeconds`.
///
/// Loop thread only; constant time.
struct FreezeTest: Sendable, BitwiseCopyable {
    /// Whether the chip is frozen, as of the last sample.
    private(set) var isFrozen = false
    /// Whether the last sample repeated the sample before it.
    var isRepeating: Bool { @_noLocks get { count > 0 } }

    private var count: Int32 = 0
    private var seconds = 0.0
    private var samples: Int32 = 0
    /// Duration of the longest repetition that has ended, s.
    private var usual = 0.0

    /// Smallest number of repetitions that means a frozen chip. Fewer repetitions can occur in
    /// noise after a filter whose corner is far below the sample rate.
    private static var fewest: Int32 { @_noLocks get { 8 } }
    /// Number of samples after which the measured noise of the chip is used.
    private static var learning: Int32 { @_noLocks get { 250 } }

    @_noLocks
    init() {}

    /// Processes the next sample.
    ///
    /// - Parameters:
    ///   - isSame: Whether the sample is identical to the previous one, to the bit.
    ///   - dt: Seconds between the two samples.
    ///   - longestSeconds: Duration from which on a repetition means a frozen chip, s.
    /// - Returns: Whether this sample has just shown that the chip is frozen.
    @_noLocks
    mutating func note(isSame: Bool, dt: Double, longestSeconds: Double) -> Bool {
        if samples < Self.learning { samples += 1 }
        guard isSame else {
            usual = max(usual, min(seconds, longestSeconds))
            count = 0
            seconds = 0
            isFrozen = false
            return false
        }
        count = min(count + 1, 1000)
        seconds += dt
        let bar = samples < Self.learning ? longestSeconds : min(4 * usual, longestSeconds)
        guard !isFrozen, count >= Self.fewest, seconds >= bar * 0.999 else { return false }
        isFrozen = true
        return true
    }
}
