import Glibc

/// Blocked signals. The program polls these signals instead of using signal handlers.
struct Signals {
    private var set = sigset_t()

    /// Blocks the given signals. The signals remain pending until `wait`.
    init(_ signals: Int32...) {
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        sigprocmask(SIG_BLOCK, &set, nil)
    }

    /// Waits for one of the signals; nil if none arrives within the given time.
    func wait(seconds: Double) -> Int32? {
        var set = set
        let nanoseconds = Int64(max(0, seconds) * 1e9)
        var timeout = timespec(
            tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        let signal = sigtimedwait(&set, nil, &timeout)
        return signal > 0 ? signal : nil
    }
}
