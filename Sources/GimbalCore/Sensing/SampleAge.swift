/// Age of the newest sample at the time when the loop uses the sample, minus the mean age.
///
/// The sensor has its own clock. Whenever the clocks of sensor and loop have drifted apart by one
/// sample period, a tick finds two new samples or none, and the age of the newest sample jumps by
/// that period. A controller that interprets the jump of the age as motion would command a jump of
/// torque. With the known age, the controller compares the sample with the set-point at the time of
/// the sample.
///
/// Runs on the loop thread only, in constant time.
struct SampleAge: Sendable, BitwiseCopyable {
    /// Time constant of the mean age, s, longer than the interval between two jumps of the age.
    private static var memory: Double { @_noLocks get { 1 } }
    /// Largest deviation from the mean age that is returned, s. If the deviation exceeds the limit,
    /// samples are missing, and the supervisor reacts.
    private static var bound: Double { @_noLocks get { 0.005 } }

    private var mean = Double.nan

    @_noLocks
    init() {}

    /// Updates the mean age with the age at one tick, and returns the deviation.
    ///
    /// - Parameters:
    ///   - age: Age of the newest sample at this tick, s.
    ///   - dt: Seconds since the previous tick.
    /// - Returns: Age minus mean age, s, limited to ±5 ms.
    @_noLocks
    mutating func excess(age: Double, dt: Double) -> Double {
        if mean.isNaN { mean = age }
        let excess = min(max(age - mean, -SampleAge.bound), SampleAge.bound)
        mean += excess * min(dt / SampleAge.memory, 1)
        return excess
    }
}
