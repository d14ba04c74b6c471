import Glibc

/// Clocks of the phone server.
enum AerieClock {
    /// Present Unix time, s.
    static func now() -> Double { read(CLOCK_REALTIME) }

    /// Current time on CLOCK_MONOTONIC, s.
    static func monotonic() -> Double { read(CLOCK_MONOTONIC) }

    private static func read(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
