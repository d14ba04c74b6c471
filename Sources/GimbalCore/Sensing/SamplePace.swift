/// Counter of samples per tick of the loop, and age of the samples.
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
    /// Age of the newest sample at a tick, s: the mean over a quarter of a second, or a larger mean
    /// of the last seconds. The age varies slowly if the sensor's clock is slightly slower or
    /// faster than the loop. NaN until the age has been measured.
    private(set) var age = Double.nan

    private var hasSample = false
    private var samples = 0.0
    private var ticks = 0.0
    private var elapsed = 0.0
    private var ages = 0.0
    private var oldest = 0.0

    /// Mean age in a loop of 1 kHz with a sensor of 1 kHz, s; a part of the usual loop delay.
    static var usualAge: Double { @_noLocks get { 0.0005 } }

    /// Age of a sample that is due to an outage, in control periods.
    private static var outage: Double { @_noLocks get { 3 } }
    /// Time constant with which a larger age of the past decays, s.
    private static var memory: Double { @_noLocks get { 4 } }
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

    /// Updates the age with the mean of a window. The window is discarded if it contains an outage;
    /// the age is unknown if the time stamps are in the future.
    @_noLocks
    private mutating func noteAge(_ mean: Double, period: Double) {
        guard mean > -Self.usualAge else {
            age = .nan
            return
        }
        guard oldest < Self.outage * period else { return }
        age = age > mean ? age + (mean - age) * (Self.window / Self.memory) : mean
    }

    /// Counts a tick. `dt` is the time since the previous tick, and `age` the present age of the
    /// newest sample, s. The ticks before the first sample are not counted, because the sensor was
    /// not ready yet.
    @_noLocks
    mutating func step(dt: Double, age present: Double = 0) {
        guard hasSample else { return }
        ticks += 1
        elapsed += dt
        ages += present
        oldest = max(oldest, present)
        guard elapsed >= Self.window else { return }
        // Without samples the sample rate is unknown, and the samples do not count as slow.
        let isSlow = samples > 0 && samples < Self.least * ticks
        let new = isSlow ? elapsed / samples - elapsed / ticks : 0
        if abs(new - wait) > Self.leastChange * wait { wait = new }
        noteAge(ages / ticks, period: elapsed / ticks)
        (ages, oldest) = (0, 0)
        samples = 0
        ticks = 0
        elapsed = 0
    }
}
