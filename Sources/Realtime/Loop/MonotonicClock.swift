public import CLinuxShim
public import GimbalCore

/// The one clock of the process: CLOCK_MONOTONIC. Read here and handed down as an argument; the
/// core never reads it.
public enum MonotonicClock {
    /// This moment. Never waits; about 25 ns.
    @inlinable
    public static var now: Instant { Instant(nanoseconds: cl_now_ns()) }
}
