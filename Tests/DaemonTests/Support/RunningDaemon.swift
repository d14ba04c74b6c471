import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

/// Daemon for one test, with the simulated gimbal in a still hand.
final class RunningDaemon {
    let directory: FilePath
    let program: Program
    let socket: String

    /// Arguments of every daemon in these tests; each daemon has its own socket and state
    /// directory.
    static func arguments(in directory: FilePath) -> [String] {
        [
            "--set", "diagnostics.socket=\(directory)/s.sock",
            "--set", "persistence.directory=\(directory)/state",
            "--set", "hardware.simulation.motion=still",
            // A test must not transmit over the Bluetooth adapter of its machine.
            "--set", "bluetooth.enabled=false",
            // Locking memory takes long while other processes of the test machine need memory.
            "--set", "loop.lock_memory=false",
            "--set", "imu.timeout_ms=1000",
        ]
    }

    /// Starts a daemon, and waits until its socket answers.
    ///
    /// - Parameters:
    ///   - directory: For its socket, state and log.
    ///   - extra: Further arguments; `--set` here wins over the usual ones.
    ///   - prefix: A program that starts it, such as setpriv.
    /// - Throws: Reason for which the daemon does not answer, with its log.
    init(in directory: FilePath, _ extra: [String] = [], through prefix: [String] = []) throws {
        self.directory = directory
        socket = "\(directory)/s.sock"
        program = try Program(
            prefix + [try Program.built("airframed")] + Self.arguments(in: directory) + extra,
            in: directory)
        let deadline = Deadline(seconds: 20)
        while true {
            if let client = try? SocketClient(socket),
                try client.ask(#"{"id":0,"method":"ping"}"#)["error"] == nil
            {
                return
            }
            guard !program.hasEnded(within: 0.01) else {
                throw Trouble("airframed ended with \(program.exitStatus ?? -1): \(log)")
            }
            guard !deadline.hasPassed else { throw Trouble("airframed does not answer: \(log)") }
        }
    }

    /// Text that the daemon has written to standard error.
    var log: String { program.errors }

    /// Sends one request and returns its result.
    func ask(_ method: String, _ params: String = "{}") throws -> JSONValue {
        let reply = try SocketClient(socket).ask(
            #"{"id":1,"method":"\#(method)","params":\#(params)}"#)
        guard let result = reply["result"] else { throw Trouble("\(method): \(reply.text)") }
        return result
    }

    /// Requests the status until it meets the condition; throws with the last status after the
    /// deadline.
    @discardableResult
    func status(
        within seconds: Double = 20, _ wanted: String,
        where isMet: (JSONValue) -> Bool = { _ in true }
    ) throws -> JSONValue {
        let deadline = Deadline(seconds: seconds)
        while true {
            let status = try ask("status")
            if isMet(status) { return status }
            guard !deadline.hasPassed else {
                throw Trouble("not within \(seconds) s: \(wanted); \(status.text); \(log)")
            }
            _ = program.hasEnded(within: 0.02)
        }
    }

    /// Runs airframectl with the socket of this daemon.
    func control(_ arguments: String...) throws -> Program.Result { try control(arguments) }

    /// Runs airframectl with the socket of this daemon.
    func control(_ arguments: [String]) throws -> Program.Result {
        try Program.run(
            [try Program.built("airframectl"), "--socket", socket] + arguments, in: directory)
    }

    /// Sends a signal and waits for the end.
    ///
    /// - Returns: Exit status, and time until the end, s.
    func stop(_ signal: Int32 = SIGTERM) throws -> (status: Int32, seconds: Double) {
        let start = Deadline(seconds: 0)
        kill(program.processID, signal)
        let status = try program.wait(seconds: 10)
        return (status, start.secondsAgo)
    }
}

/// Starts a daemon and runs `body` with it.
func withDaemon(
    _ arguments: [String] = [], through prefix: [String] = [],
    _ body: (RunningDaemon) throws -> Void
) throws {
    try withTemporaryDirectory { directory in
        let daemon = try RunningDaemon(in: directory, arguments, through: prefix)
        try body(daemon)
    }
}

/// Latest time on CLOCK_MONOTONIC at which an operation may end.
struct Deadline {
    private let time: Double

    init(seconds: Double) { time = Self.now + seconds }

    var hasPassed: Bool { Self.now > time }
    var secondsAgo: Double { Self.now - time }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}

extension JSONValue {
    /// Number at a path, such as `status.number("attitude", "pitch_deg")`; NaN if the path does not
    /// exist.
    func number(_ path: String...) -> Double {
        path.reduce(self as JSONValue?) { $0?[$1] }?.number ?? .nan
    }

    /// True if the motors follow the set-point and the camera's inertia is known, according to a
    /// status.
    var isFollowing: Bool {
        let notices = self["notices"]?.array?.compactMap { $0["name"]?.string } ?? []
        return self["state"]?.string == "running" && !notices.contains("inertia_unknown")
    }

    /// Names of the reasons for which the motors cannot move.
    var inhibitions: [String] {
        self["inhibitions"]?.array?.compactMap { $0["name"]?.string } ?? []
    }
}
