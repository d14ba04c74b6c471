import CLinuxShim
public import GimbalCore

/// Clock of the links' threads, on CLOCK_MONOTONIC. In lockstep, the loop's clock is another one.
public enum LinkClock {
    /// Present time. A read never waits.
    @Sendable public static func now() -> Instant { Instant(nanoseconds: cl_now_ns()) }
}
