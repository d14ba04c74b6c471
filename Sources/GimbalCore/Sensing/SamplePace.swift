/// How many samples come for each tick of the loop.
///
/// A loop that is faster than its sensor holds each sample for several ticks: it is as late as one
/// of the sensor's rate, and has to be tuned like that. Counted over a quarter of a second, so that
/// neither a lost sample nor a tick that was held up counts.
///
/// Loop thread only; constant time, no allocation.
struct SamplePace: Sendable, BitwiseCopyable {
    /// How much longer than a tick a sample has to last on the average, s; zero where nearly every
    /// tick has its own.
    private(set) var wait = 0.0

    private var samples = 0.0
    private var ticks = 0.0
    private var elapsed = 0.0

    private static var window: Double { @_noLocks get { 0.25 } }
    /// Fewer samples than this per tick are too few. A sensor whose clock is some per cent slow has
    /// more.
    private static var least: Double { @_noLocks get { 0.8 } }

    @_noLocks
    init() {}

    /// A sample has come.
    @_noLocks
    mutating func note() { samples += 1 }

    /// A tick has ended, `dt` seconds after the one before.
    @_noLocks
    mutating func step(dt: Double) {
        ticks += 1
        elapsed += dt
        guard elapsed >= Self.window else { return }
        // Without any samples there is nothing to adapt to.
        let isSlow = samples > 0 && samples < Self.least * ticks
        let new = isSlow ? elapsed / samples - elapsed / ticks : 0
        // A count is off by one.
        if abs(new - wait) > 0.25 * wait { wait = new }
        samples = 0
        ticks = 0
        elapsed = 0
    }
}
