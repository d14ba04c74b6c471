/// Age of the newest sample at the time of use, minus the mean age.
///
/// The sensor has its own clock. The clocks of sensor and loop drift apart. After a drift of one
/// sample period, a tick receives two new samples or none, and the age of the newest sample jumps
/// by that period. If the controller interpreted this jump as motion, its torque would jump too.
/// Therefore the controller compares the sample with the set-point at the sampling instant.
///
/// Runs on the loop thread only, in constant time.
struct SampleAge: Sendable, BitwiseCopyable {
    /// Time constant of the mean age, s, longer than the interval between two jumps of the age.
    private static var memory: Double { @_noLocks get { 1 } }
    /// Limit of the returned deviation, s. If the deviation is larger, samples are missing, and the
    /// supervisor reacts.
    private static var bound: Double { @_noLocks get { 0.005 } }

    private var mean = Double.nan

    @_noLocks
    init() {}

    /// Updates the mean age with the age at one tick, and returns the deviation. During an outage
    /// of the sensor, the age grows without limit, so the mean keeps its value.
    ///
    /// - Parameters:
    ///   - age: Age of the newest sample at this tick, s.
    ///   - dt: Seconds since the previous tick.
    /// - Returns: Age minus mean age, s, limited to ±5 ms.
    @_noLocks
    mutating func excess(age: Double, dt: Double) -> Double {
        guard age < TimeLimit.longestPeriod else { return SampleAge.bound }
        if mean.isNaN { mean = age }
        let excess = min(max(age - mean, -SampleAge.bound), SampleAge.bound)
        mean += excess * min(dt / SampleAge.memory, 1)
        return excess
    }
}
