/// Whether one chip repeats its sample for longer than its own noise ever let it.
///
/// Gyroscope and accelerometer are tested apart, because they may be two chips (a BMI088 is): one
/// can hang while the other lives. The noise of a chip decides how often two samples are alike to
/// the bit, so the chip's own longest repetition sets the bar: four times as long, but no less than
/// eight samples and no more than `longestSeconds`. Before 250 samples have been seen,
/// `longestSeconds` is the bar.
///
/// Loop thread only; constant time.
struct FreezeTest: Sendable, BitwiseCopyable {
    /// Whether the chip is frozen, as of the last sample.
    private(set) var isFrozen = false
    /// Whether the last sample repeated the one before.
    var isRepeating: Bool { @_noLocks get { count > 0 } }

    private var count: Int32 = 0
    private var seconds = 0.0
    private var samples: Int32 = 0
    /// The longest repetition that ended, s.
    private var usual = 0.0

    /// Repetitions below this are noise of a filter far below the sample rate.
    private static var fewest: Int32 { @_noLocks get { 8 } }
    /// Samples until the chip's noise is known.
    private static var learning: Int32 { @_noLocks get { 250 } }

    @_noLocks
    init() {}

    /// Takes the next sample.
    ///
    /// - Parameters:
    ///   - isSame: Whether it equals the one before, to the bit.
    ///   - dt: Seconds between the two.
    ///   - longestSeconds: From here on a repetition is a frozen chip, s.
    /// - Returns: Whether the chip has just been found frozen.
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
