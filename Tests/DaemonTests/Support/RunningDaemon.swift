import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

/// A daemon of one test's own, over the simulated gimbal in a still hand.
final class RunningDaemon {
    let directory: FilePath
    let program: Program
    let socket: String

    /// What every daemon of these tests is told, so that they do not meet.
    static func arguments(in directory: FilePath) -> [String] {
        [
            "--set", "diagnostics.socket=\(directory)/s.sock",
            "--set", "persistence.directory=\(directory)/state",
            "--set", "hardware.simulation.motion=still",
            // A test must not put its machine's own radio on the air.
            "--set", "bluetooth.enabled=false",
            // Other processes of a test machine need memory, and hold this one up.
            "--set", "loop.lock_memory=false",
            "--set", "imu.timeout_ms=1000",
        ]
    }

    /// Starts one, and waits until its socket answers.
    ///
    /// - Parameters:
    ///   - directory: For its socket, state and log.
    ///   - extra: Further arguments; `--set` here wins over the usual ones.
    ///   - prefix: A program that starts it, such as setpriv.
    /// - Throws: Why it does not answer, with its log.
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

    /// What it has written to standard error.
    var log: String { program.errors }

    /// The result of one request.
    func ask(_ method: String, _ params: String = "{}") throws -> JSONValue {
        let reply = try SocketClient(socket).ask(
            #"{"id":1,"method":"\#(method)","params":\#(params)}"#)
        guard let result = reply["result"] else { throw Trouble("\(method): \(reply.text)") }
        return result
    }

    /// Asks for the status until it is as wished; fails the test with the last one after the
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

    /// Runs airframectl against it.
    func control(_ arguments: String...) throws -> Program.Result {
        try Program.run(
            [try Program.built("airframectl"), "--socket", socket] + arguments, in: directory)
    }

    /// Sends a signal and waits for the end.
    ///
    /// - Returns: The exit status, and how long it took.
    func stop(_ signal: Int32 = SIGTERM) throws -> (status: Int32, seconds: Double) {
        let start = Deadline(seconds: 0)
        kill(program.processID, signal)
        let status = try program.wait(seconds: 10)
        return (status, start.secondsAgo)
    }
}

/// Runs `body` with a daemon of its own.
func withDaemon(
    _ arguments: [String] = [], through prefix: [String] = [],
    _ body: (RunningDaemon) throws -> Void
) throws {
    try withTemporaryDirectory { directory in
        let daemon = try RunningDaemon(in: directory, arguments, through: prefix)
        try body(daemon)
    }
}

/// A moment on CLOCK_MONOTONIC, up to which something may take.
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
    /// A number further inside: `status.number("attitude", "pitch_deg")`; not a number when it is
    /// not there.
    func number(_ path: String...) -> Double {
        path.reduce(self as JSONValue?) { $0?[$1] }?.number ?? .nan
    }

    /// Whether a status says that the motors follow the set-point, with all they have to know about
    /// the camera.
    var isFollowing: Bool {
        let notices = self["notices"]?.array?.compactMap { $0["name"]?.string } ?? []
        return self["state"]?.string == "running" && !notices.contains("inertia_unknown")
    }

    /// The names of the reasons that keep the machine from moving.
    var inhibitions: [String] {
        self["inhibitions"]?.array?.compactMap { $0["name"]?.string } ?? []
    }
}
