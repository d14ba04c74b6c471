import Realtime

/// Driver of the loop's ticks: real-time threads on the computer's clock, or a simulator that
/// supplies the clock.
protocol LoopDriver: Sendable {
    /// Starts the ticks of the loop.
    func start() throws
    /// Switches the motors off, then ends the ticks.
    ///
    /// - Returns: Whether the motors confirmed that they are off.
    func stop() -> Bool
    /// The kernel's answers to the requests of the real-time threads.
    var threads: [ThreadReport] { get }
    /// Durations of each stage since the start.
    func histogram(of stage: Stage) -> HistogramSnapshot
}

extension LoopDriver {
    /// Progress of loop and bus since the start, from the counters of their threads.
    var progress: WatchdogFeeder.Progress {
        WatchdogFeeder.Progress(
            ticks: histogram(of: .control).count, periods: histogram(of: .wake).count)
    }
}

/// Driver with separate threads for loop and bus.
struct RealtimeDriver: LoopDriver {
    let runtime: GimbalRuntime

    func start() throws { try runtime.start() }
    func stop() -> Bool { runtime.stop().motorsOff }
    var threads: [ThreadReport] { runtime.threads }
    func histogram(of stage: Stage) -> HistogramSnapshot { runtime.histogram(of: stage) }
}
