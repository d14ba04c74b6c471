import Realtime

/// What makes the loop tick: real-time threads on the computer's clock, or a simulator that owns
/// time.
protocol LoopDriver: Sendable {
    /// Begins to tick.
    func start() throws
    /// Ends, motors off first.
    ///
    /// - Returns: Whether the motors confirmed that they are off.
    func stop() -> Bool
    /// What the kernel granted the threads that need something special.
    var threads: [ThreadReport] { get }
    /// Durations of each stage since the start.
    func histogram(of stage: Stage) -> HistogramSnapshot
}

extension LoopDriver {
    /// What loop and bus have done since the start, from the counters that they keep themselves.
    var progress: WatchdogFeeder.Progress {
        WatchdogFeeder.Progress(
            ticks: histogram(of: .control).count, periods: histogram(of: .wake).count)
    }
}

/// Loop and bus on threads of their own.
struct RealtimeDriver: LoopDriver {
    let runtime: GimbalRuntime

    func start() throws { try runtime.start() }
    func stop() -> Bool { runtime.stop().motorsOff }
    var threads: [ThreadReport] { runtime.threads }
    func histogram(of stage: Stage) -> HistogramSnapshot { runtime.histogram(of: stage) }
}
