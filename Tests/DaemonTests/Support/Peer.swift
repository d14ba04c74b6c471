import Testing

/// Runs a script that talks to a daemon in real time. If the machine pauses during a run that
/// fails, runs the script again with a new daemon, at most twice: a pause lets the dead-man times
/// of the daemon expire, and delays the messages that the script counts.
///
/// - Parameters:
///   - arguments: Arguments of the daemon.
///   - seconds: Longest duration of a run, s.
///   - start: Starts the script.
/// - Throws: Reason why the daemon or the script cannot be started.
func withPeer(
    _ arguments: [String], seconds: Double, start: (RunningDaemon) throws -> Program
) throws {
    for attempt in 1...3 {
        var isOver = false
        try withDaemon(arguments) { daemon in
            let script = try start(daemon)
            let pause = script.longestPause(within: seconds)
            let text = "\(script.output)\(script.errors)\(daemon.log)"
            if script.exitStatus != 0, pause > 0.1, attempt < 3 {
                print("The script runs again, because the machine paused for \(pause) s: \(text)")
                return
            }
            isOver = true
            #expect(script.exitStatus == 0, "\(text)")
            script.output.split(separator: "\n").filter { $0.hasPrefix("SKIPPED") }
                .forEach { print($0) }
        }
        if isOver { return }
    }
}

extension Program {
    /// Waits for the end of the process, and measures the pauses of the machine.
    ///
    /// - Parameter seconds: Longest time to wait, s. Afterwards, `exitStatus` is nil if the process
    ///   has not ended.
    /// - Returns: Longest time by which a wait of 20 ms was exceeded, s.
    func longestPause(within seconds: Double) -> Double {
        let deadline = Deadline(seconds: seconds)
        var (longest, isOver) = (0.0, false)
        while !isOver, !deadline.hasPassed {
            let wake = Deadline(seconds: 0.02)
            isOver = hasEnded(within: 0.02)
            longest = max(longest, wake.secondsAgo)
        }
        return longest
    }
}
