/// How much older than usual the newest sample is when the loop uses it.
///
/// The sensor has its own clock. Where the loop's slips past it, a tick finds two new samples or
/// none, and the age of what it works with jumps by a sensor period. A controller that takes the
/// jump for motion kicks the motors; one that knows of it compares with the set-point of the right
/// moment.
///
/// Loop thread only; constant time.
struct SampleAge: Sendable, BitwiseCopyable {
    /// Time constant of the mean, s; a slip comes round within a fraction of it.
    private static var memory: Double { @_noLocks get { 1 } }
    /// The farthest from the mean that counts, s: beyond it samples are missing, and the supervisor
    /// sees to that.
    private static var bound: Double { @_noLocks get { 0.005 } }

    private var mean = Double.nan

    @_noLocks
    init() {}

    /// One tick.
    ///
    /// - Parameters:
    ///   - age: From the newest sample to this tick, s.
    ///   - dt: Seconds since the previous tick.
    /// - Returns: Age less its mean, s.
    @_noLocks
    mutating func excess(age: Double, dt: Double) -> Double {
        if mean.isNaN { mean = age }
        let excess = min(max(age - mean, -SampleAge.bound), SampleAge.bound)
        mean += excess * min(dt / SampleAge.memory, 1)
        return excess
    }
}
