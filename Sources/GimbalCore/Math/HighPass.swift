/// High-pass of second order with a double pole: a signal, minus two low-passes of first order in
/// sequence. One instance filters either a signal or the integral of a signal.
///
/// Runs on the loop thread only, in constant time.
struct HighPass: Sendable, BitwiseCopyable {
    private var first = 0.0
    private var second = 0.0

    @_noLocks
    init() {}

    /// Output of the low-pass of second order with the same corner frequency.
    var slow: Double { @_noLocks @inline(always) get { first - second } }

    /// Passes a signal; `share` is the weight of a new value in the low-passes, 0...1.
    @_noLocks @inline(always)
    mutating func pass(_ value: Double, share: Double) -> Double {
        first += (value - first) * share
        let high = value - first
        second += (high - second) * share
        return high - second
    }

    /// Passes the integral of a signal, multiplied by the corner frequency in rad/s. The integral
    /// ends in the middle of the period. Therefore the integral lags the signal by 90° up to half
    /// the loop rate.
    @_noLocks @inline(always)
    mutating func passIntegral(_ value: Double, share: Double) -> Double {
        let before = first
        first += (value - first) * share
        let middle = 0.5 * (before + first)
        second += (middle - second) * share
        return middle - second
    }
}
