import Realtime

/// Driver of the loop's ticks: real-time threads on the computer's clock, or a simulator that
/// supplies the clock.
protocol LoopDriver: Sendable {
    /// Starts the ticks of the loop.
    func start() throws
    /// Switches the motors off, then ends the ticks.
    ///
    /// - Returns: True if the motors confirmed that they are off.
    func stop() -> Bool
    /// Reports of the real-time threads: the scheduling that each thread requested from the kernel,
    /// and the kernel's answers.
    var threads: [ThreadReport] { get }
    /// Duration histogram of the given loop stage since the start.
    func histogram(of stage: Stage) -> HistogramSnapshot
    /// Progress that systemd's watchdog needs: without progress, systemd restarts airframed.
    var progress: WatchdogFeeder.Progress { get }
}

extension LoopDriver {
    /// Progress of the loop and of the bus thread since the start, from the counters of both
    /// threads.
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
