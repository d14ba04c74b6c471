import TestSupport
import Testing

/// Runs a script that talks to a daemon in real time. If the computer pauses during a run that
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
    let end = try repeatingAfterPause(until: { $0.status == 0 }) {
        () throws -> (status: Int32?, text: String) in
        var end: (status: Int32?, text: String) = (nil, "")
        try withDaemon(arguments) { daemon in
            let script = try start(daemon)
            _ = script.hasEnded(within: seconds)
            script.output.split(separator: "\n").filter { $0.hasPrefix("SKIPPED") }
                .forEach { print($0) }
            // The last line of the script's errors is the reason; a long log must not hide it.
            let reason = script.errors.split(separator: "\n").last ?? ""
            end = (
                script.exitStatus, "\(reason)\n\(script.output)\(script.errors)\(daemon.log)"
            )
        }
        return end
    }
    #expect(end.status == 0, "\(end.text)")
}
