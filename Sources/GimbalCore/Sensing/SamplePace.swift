/// Counter of samples per tick of the loop.
///
/// If the loop is faster than its sensor, the loop holds each sample for several ticks. The loop
/// then has the same delay as a loop at the sensor's rate, so the controller needs the tuning for
/// the sensor's rate. The samples are counted over a quarter of a second, so that a lost sample or
/// a late tick has no effect.
///
/// Runs on the loop thread only, in constant time and without allocation.
struct SamplePace: Sendable, BitwiseCopyable {
    /// Additional loop delay if the loop is faster than the sensor, s: the mean sample interval
    /// minus one tick period. The delay is zero if nearly every tick has a new sample.
    private(set) var wait = 0.0

    private var hasSample = false
    private var samples = 0.0
    private var ticks = 0.0
    private var elapsed = 0.0

    private static var window: Double { @_noLocks get { 0.25 } }
    /// Threshold of the number of samples per tick; below this threshold, the samples count as
    /// slow. The value is below 1, because the sensor's clock can be a few per cent slow.
    private static var least: Double { @_noLocks get { 0.8 } }

    @_noLocks
    init() {}

    /// Counts a sample of the sensor.
    @_noLocks
    mutating func note() {
        hasSample = true
        samples += 1
    }

    /// Smallest change of the wait that is applied, as a fraction of the wait. The count can be
    /// wrong by one sample, so smaller changes are ignored.
    private static var leastChange: Double { @_noLocks get { 0.25 } }

    /// Counts a tick. `dt` is the time since the previous tick, s. The ticks before the first
    /// sample are not counted, because the sensor was not ready yet.
    @_noLocks
    mutating func step(dt: Double) {
        guard hasSample else { return }
        ticks += 1
        elapsed += dt
        guard elapsed >= Self.window else { return }
        // Without samples the sample rate is unknown, and the samples do not count as slow.
        let isSlow = samples > 0 && samples < Self.least * ticks
        let new = isSlow ? elapsed / samples - elapsed / ticks : 0
        if abs(new - wait) > Self.leastChange * wait { wait = new }
        samples = 0
        ticks = 0
        elapsed = 0
    }
}
