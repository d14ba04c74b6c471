import Glibc

/// Signals that the program polls, without handlers and interruptions.
struct Signals {
    private var set = sigset_t()

    /// Blocks these signals from now on, so that they stay pending.
    init(_ signals: Int32...) {
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        sigprocmask(SIG_BLOCK, &set, nil)
    }

    /// The first of the signals to arrive within the time; nil if none arrives.
    func wait(seconds: Double) -> Int32? {
        var set = set
        let nanoseconds = Int64(max(0, seconds) * 1e9)
        var timeout = timespec(
            tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        let signal = sigtimedwait(&set, nil, &timeout)
        return signal > 0 ? signal : nil
    }
}
