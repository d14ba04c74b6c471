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
    /// - Parameter seconds: Longest wait, s.
    /// - Returns: The signal; nil if no signal arrived in the given time.
    public func next(within seconds: Double) -> Int32? {
        var set = set
        var time = timespec(
            tv_sec: Int(seconds), tv_nsec: Int((seconds - Double(Int(seconds))) * 1e9))
        let signal = sigtimedwait(&set, nil, &time)
        return signal > 0 ? signal : nil
    }
}
