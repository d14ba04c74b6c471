import Glibc

/// Signals that the main thread receives with sigtimedwait(2).
public struct SignalQueue {
    private var set = sigset_t()

    /// Blocks the signals in the calling thread and in all threads that it starts.
    public init(_ signals: [Int32]) {
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Waits for a signal.
    ///
    /// - Parameter seconds: Longest wait, s; a negative time counts as 0.
    /// - Returns: The signal; nil if no signal arrived in the given time.
    public func next(within seconds: Double) -> Int32? {
        var set = set
        let nanoseconds = Int(max(0, seconds) * 1e9)
        var time = timespec(
            tv_sec: nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
        let signal = sigtimedwait(&set, nil, &time)
        return signal > 0 ? signal : nil
    }
}
