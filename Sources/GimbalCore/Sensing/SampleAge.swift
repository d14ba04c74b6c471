/// Age of the newest sample at its use in the loop, compared with its mean age.
///
/// The sensor has its own clock. When the sensor's and the loop's clock have drifted apart by one
/// period of the sensor, a tick finds two new samples or none, and the age of the newest sample
/// jumps by that period. A controller that interprets the jump as motion would kick the motors.
/// With a known age, the controller compares the sample with the set-point of the same moment.
///
/// Loop thread only; constant time.
struct SampleAge: Sendable, BitwiseCopyable {
    /// Time constant of the mean, s, longer than the interval between two such jumps.
    private static var memory: Double { @_noLocks get { 1 } }
    /// Largest deviation from the mean that is returned, s. If the deviation is larger, samples are
    /// missing, and the supervisor reacts.
    private static var bound: Double { @_noLocks get { 0.005 } }

    private var mean = Double.nan

    @_noLocks
    init() {}

    /// Advances by one tick.
    ///
    /// - Parameters:
    ///   - age: Age of the newest sample at this tick, s.
    ///   - dt: Seconds since the previous tick.
    /// - Returns: Age minus the mean age, s.
    @_noLocks
    mutating func excess(age: Double, dt: Double) -> Double {
        if mean.isNaN { mean = age }
        let excess = min(max(age - mean, -SampleAge.bound), SampleAge.bound)
        mean += excess * min(dt / SampleAge.memory, 1)
        return excess
    }
}
