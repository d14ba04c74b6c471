import Glibc

/// Wall clock, for dates in files. The control loop never uses the wall clock.
package enum WallClock {
    /// Present date, seconds since 1970.
    package static var seconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
