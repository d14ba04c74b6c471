import Glibc
import SystemPackage
import TestSupport
import Wire

/// Runs `body` with a daemon that waits for a simulator.
func withLockstep(_ arguments: [String] = [], _ body: (RunningDaemon) throws -> Void) throws {
    try withTemporaryDirectory { directory in
        try body(RunningDaemon(in: directory, Simulator.arguments(in: directory) + arguments))
    }
}

/// Minimal simulator: a camera on a table whose sensors have a little noise. A test can also send
/// its own lines.
final class Simulator {
    /// Arguments with which a daemon waits for a simulator.
    static func arguments(in directory: FilePath) -> [String] {
        [
            "--set", "hardware.backend=lockstep",
            "--set", "hardware.lockstep.socket=\(directory)/sim.sock",
            "--set", "imu.timeout_ms=20",
        ]
    }

    /// The connection.
    let socket: SocketClient
    /// Time of the next line, s.
    var t = 0.0
    /// Members of every line beyond time, gyroscope and accelerometer, such as `"joints":[0,0,0]`.
    var extra = #""joints":[0,0,0]"#
    private var random: UInt64 = 88_172_645_463_325_252

    /// Connects.
    init(_ daemon: RunningDaemon) throws {
        socket = try SocketClient("\(daemon.directory)/sim.sock")
    }

    /// Next line of a camera at rest, 1 ms after the previous line.
    func line() -> String {
        defer { t = ((t + 1e-3) * 1e6).rounded() / 1e6 }
        let gyro = (0..<3).map { _ in noise(1e-3) }
        let accel = [noise(0.02), noise(0.02), -9.81 + noise(0.02)]
        return
            #"{"t":\#(t),"gyro":\#(gyro),"accel":\#(accel)\#(extra.isEmpty ? "" : ",")\#(extra)}"#
    }

    /// Sends one line and returns its reply.
    func ask(_ line: String) throws -> JSONValue { try socket.ask(line) }

    /// Sends lines of a camera at rest, and returns the replies.
    @discardableResult
    func rest(_ count: Int) throws -> [JSONValue] {
        try (0..<count).map { _ in try ask(line()) }
    }

    /// Sends lines of a camera at rest until the outputs are on; fails after 3 simulated seconds.
    @discardableResult
    func restUntilEnabled() throws -> JSONValue {
        for _ in 0..<3000 {
            let reply = try ask(line())
            if reply["enabled"]?.bool == true { return reply }
        }
        throw Trouble("the outputs have not come on within three simulated seconds")
    }

    /// Uniform within ±`size` (xorshift64).
    private func noise(_ size: Double) -> Double {
        random ^= random << 13
        random ^= random >> 7
        random ^= random << 17
        return size * (Double(random >> 11) / 0x1p52 - 1)
    }
}

extension RunningDaemon {
    /// Present value of a numeric setting.
    func setting(_ key: String) throws -> Double {
        let found = try ask("get", #"{"keys":["\#(key)"]}"#)
        guard let value = found.array?.first?["value"]?.number else {
            throw Trouble("get \(key): \(found.text)")
        }
        return value
    }
}

extension JSONValue {
    /// Error code of a reply; nil if the reply is not an error.
    var errorCode: String? { self["error"]?["code"]?.string }

    /// Torques in a reply, one for each joint.
    var torque: [Double] { self["torque"]?.array?.compactMap(\.number) ?? [] }

    /// Names of the notices, which do not prevent motion.
    var notices: [String] { self["notices"]?.array?.compactMap { $0["name"]?.string } ?? [] }
}
