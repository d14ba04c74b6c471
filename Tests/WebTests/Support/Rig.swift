import Client
import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport
import Wire

/// airframed with a simulated gimbal, and airframe-web as its client, as separate processes.
final class Rig {
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    let directory: FilePath
    private(set) var daemon: RunningProgram?
    private(set) var web: RunningProgram?
    private(set) var port = 0
    /// Simulator of a daemon in lockstep; nil if the daemon simulates the gimbal.
    private(set) var held: HeldGimbal?
    private let motion: String
    private let isHeld: Bool
    private let extra: [String]

    var socket: String { directory.appending("d.sock").string }
    var controlPath: String { directory.appending("control.sock").string }
    var address: String {
        let isSecure = extra.contains { $0.hasPrefix("web.certificate=") }
        return "\(isSecure ? "https" : "http")://127.0.0.1:\(port)"
    }

    /// Starts both programs.
    ///
    /// - Parameters:
    ///   - directory: Directory for sockets and state.
    ///   - motion: Motion of the simulated hand.
    ///   - isHeld: True if `HeldGimbal` simulates the gimbal, so that a simulated person can hold
    ///     the camera.
    ///   - extra: Settings `KEY=VALUE` for airframe-web.
    /// - Throws: `Problem` with the program's output if a program does not start.
    init(
        in directory: FilePath, motion: String = "still", isHeld: Bool = false,
        _ extra: [String] = []
    ) throws {
        self.directory = directory
        self.motion = motion
        self.isHeld = isHeld
        self.extra = extra
        for name in ["state", "web"] { try makeDirectory(directory.appending(name)) }
        port = Self.freePort()
        try startDaemon()
        try startWeb()
    }

    /// A free port of this computer.
    static func freePort() -> Int {
        let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                guard bind(descriptor, $0, length) == 0, getsockname(descriptor, $0, &length) == 0
                else { return 0 }
                return Int(
                    UnsafeRawPointer($0).load(as: sockaddr_in.self).sin_port.byteSwapped)
            }
        }
    }

    func startDaemon() throws {
        let settings = [
            "diagnostics.socket=\"\(socket)\"", "persistence.directory=\"\(directory)/state\"",
            "hardware.backend=\"\(isHeld ? "lockstep" : "simulated")\"",
            "hardware.lockstep.socket=\"\(directory)/sim.sock\"",
            "hardware.simulation.motion=\"\(motion)\"",
            "bluetooth.enabled=false", "mode.boot=\"locked\"", "loop.lock_memory=false",
        ]
        let file = directory.appending("airframed.toml")
        try write("", to: file)
        daemon = try RunningProgram(
            "airframed", ["--config", file.string] + settings.flatMap { ["--set", $0] },
            in: directory)
        if isHeld { held = try HeldGimbal("\(directory)/sim.sock") }
        guard eventually(within: 10, { (try? status())?["enabled"] == true }) else {
            throw Problem(description: "airframed does not start: \(daemon?.log ?? "")")
        }
    }

    func stopDaemon() {
        held?.end()
        held = nil
        if let daemon { kill(daemon.process, SIGTERM) }
        daemon?.wait(seconds: 5)
        daemon = nil
    }

    func startWeb() throws {
        let settings =
            [
                "gimbal.socket=\"\(socket)\"", "web.listen=127.0.0.1:\(port)",
                "web.page=\"\(Self.page)\"", "web.state_directory=\"\(directory)/web\"",
                "web.control=\"\(controlPath)\"",
            ] + extra
        let web = try RunningProgram(
            "airframe-web", settings.flatMap { ["--set", $0] }, in: directory)
        self.web = web
        guard web.says("The page is at", within: 5) else {
            throw Problem(description: "airframe-web does not start: \(web.log)")
        }
    }

    func stopWeb() {
        if let web { kill(web.process, SIGTERM) }
        web?.wait(seconds: 5)
        web = nil
    }

    deinit {
        stopWeb()
        stopDaemon()
    }

    /// Directory of the page's source files.
    static let page = CommittedFile("Sources/Web/Page").path

    // MARK: Questions

    func ask(_ method: String, _ params: [String: JSONValue] = [:]) throws -> JSONValue {
        try DaemonClient(path: socket, timeout: 5).json(method, params)
    }

    func status() throws -> JSONValue { try ask("status") }

    /// An angle or another number from the status.
    func number(_ path: String...) throws -> Double {
        path.reduce(try status() as JSONValue?) { $0?[$1] }?.number ?? .nan
    }

    /// Sends a request to the control socket of airframe-web.
    func control(_ method: String, _ params: [String: JSONValue] = [:]) throws -> JSONValue {
        try DaemonClient(path: controlPath, timeout: 5).json(method, params)
    }

    /// A new pairing code.
    func code() throws -> String { try control("pair")["code"]?.string ?? "" }

    /// A value of airframe-web's report to airframed.
    func web(_ name: String) throws -> JSONValue {
        let companions = try status()["companions"]?.array ?? []
        let report = companions.first { $0["report"]?["name"] == "web" }?["report"]
        return report?["values"]?[name] ?? .null
    }

    /// Cookie header with the token of a newly paired browser with the address 127.0.0.`host`.
    func cookie(name: String = "test", host: UInt8 = 1) throws -> String {
        // Waits, because airframe-web refuses pairing attempts in quick succession.
        usleep(600_000)
        let answer = try WebClient(port: port, host: host).request(
            "POST", "/pair", headers: ["Content-Type: application/json"],
            body: JSONValue.object(["code": .string(try code()), "name": .string(name)]).text)
        guard answer.status == 204, let cookie = answer.headers["set-cookie"] else {
            throw Problem(description: "The pairing failed: \(answer.status) \(answer.text)")
        }
        return "Cookie: \(cookie.prefix { $0 != ";" })"
    }

    /// Number of open file descriptors of airframe-web.
    func descriptors() throws -> Int {
        guard let web else { return 0 }
        return try FileManager.default.contentsOfDirectory(atPath: "/proc/\(web.process)/fd").count
    }

    /// Paths of the open files of airframe-web.
    func openFiles() throws -> [String] {
        guard let web else { return [] }
        let folder = "/proc/\(web.process)/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
        }
    }

    /// Resident memory of airframe-web, MB.
    func megabytes() throws -> Double {
        guard let web else { return .nan }
        let text = try String(
            decoding: bytes(of: FilePath("/proc/\(web.process)/status")), as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS") }
        return Double(line?.filter(\.isNumber) ?? "").map { $0 / 1024 } ?? .nan
    }
}
