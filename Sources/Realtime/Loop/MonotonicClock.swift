public import CLinuxShim
public import GimbalCore

/// CLOCK_MONOTONIC, the clock for all timing of the process. Threads read the clock here, and pass
/// the time to GimbalCore as an argument.
public enum MonotonicClock {
    /// The present time. A read never waits, and takes about 25 ns.
    @inlinable
    public static var now: Instant { Instant(nanoseconds: cl_now_ns()) }
}
